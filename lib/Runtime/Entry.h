/* The arguments of a call from outside, bound to an entry's parameters:
 *
 *   tf_entry_bind    tensors for outputs are made; everything is checked; arguments ─▶ values, dims
 *     run it (Frame.h), or keep what was bound (Prepared.c)
 *   tf_entry_unbind  the outputs go to the caller, or back if something failed
 *
 * Both in the runtime's context. */
#ifndef TF_RUNTIME_ENTRY_H
#define TF_RUNTIME_ENTRY_H

#include "Runtime/Outputs.h"
#include "Runtime/RuntimeImpl.h"

typedef struct tf_binding {
  const tf_argument *arguments; /* the caller's */
  unsigned count;
  tf_outputs outputs;
  tf_value *values;        /* per declared parameter; shapes are those of the caller's tensors and of the outputs */
  int64_t *dims;           /* per dim of the manifest */
  const int64_t **strides; /* room for binding */
  void *heap;              /* null: the arrays are inline */
  uint64_t inline_words[256];
} tf_binding;

/* Refuses an entry that cannot run, too. On failure there is nothing to unbind. */
TF_NODISCARD tf_status tf_entry_bind(const tf_entry *entry, const tf_argument *arguments, unsigned count,
                                     tf_binding *out);
/* Returns `status`, of what was done with the values. */
tf_status tf_entry_unbind(const tf_entry *entry, tf_binding *binding, tf_status status);

#endif
