/* Prepared calls: what an entry call checks and solves, kept, so that running it again is the launches and little else.
 *
 *   one block:  | call | values | trial values | dims | extents of the tensors … |
 *                          └─ shapes point to the extents here, none to the caller's tensors
 *
 * Runs only read the block, so several may be in progress. Setters try the new values beside the old ones and take them over
 * when all of them are right. */
#include <stdlib.h>
#include <string.h>

#include "Runtime/Entry.h"
#include "Runtime/Frame.h"

struct tf_prepared_call {
  const tf_entry *entry;
  tf_value *values; /* per declared parameter */
  tf_value *trial;  /* room for as many */
  int64_t *dims;    /* per dim of the manifest */
  uint64_t words[];
};

static size_t size_of_values(const tf_entry *entry) {
  return entry->manifest->signature.declared_count * sizeof(tf_value);
}

/* ---- Preparing --------------------------------------------------------------------------------------------------- */

static size_t count_words(const tf_entry *entry) {
  const tf_msignature *s = &entry->manifest->signature;
  size_t words = 4 * (size_t)s->declared_count + entry->program->manifest->dim_count;
  for (unsigned i = 0; i < s->declared_count; i++)
    words += s->params[i].rank;
  return words;
}

static void copy_shapes(tf_prepared_call *call, int64_t *extents) {
  const tf_msignature *s = &call->entry->manifest->signature;
  for (unsigned i = 0; i < s->declared_count; i++) {
    const tf_mparam *p = &s->params[i];
    if (!tf_mparam_is_tensor(p)) continue;
    tf_tensor *t = &call->values[i].tensor;
    memcpy(extents, t->shape, p->rank * sizeof *extents);
    t->shape = extents;
    extents += p->rank;
  }
}

static tf_prepared_call *keep(const tf_entry *entry, const tf_binding *b) {
  size_t params = entry->manifest->signature.declared_count, dims = entry->program->manifest->dim_count;
  tf_prepared_call *call = malloc(sizeof *call + count_words(entry) * sizeof *call->words);
  if (!call) return NULL;
  call->entry = entry;
  call->values = (tf_value *)call->words;
  call->trial = call->values + params;
  call->dims = (int64_t *)(call->trial + params);
  memcpy(call->values, b->values, size_of_values(entry));
  memcpy(call->dims, b->dims, dims * sizeof *call->dims);
  copy_shapes(call, call->dims + dims);
  return call;
}

static tf_status prepare(const tf_entry *entry, const tf_argument *arguments, unsigned count, tf_prepared_call **out) {
  tf_binding b;
  tf_status status = tf_entry_bind(entry, arguments, count, &b);
  if (status != TF_OK) return status;
  *out = keep(entry, &b);
  if (!*out) status = tf_runtime_fail(entry->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
  return tf_entry_unbind(entry, &b, status);
}

tf_status tf_entry_prepare(const tf_entry *entry, const tf_argument *arguments, unsigned count,
                           tf_prepared_call **out) {
  if (!entry || !out || (count && !arguments)) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = entry->program->runtime;
  tf_prepared_call *call = NULL;
  bool pushed;
  tf_status status = tf_context_enter(rt, &pushed);
  if (status == TF_OK) status = prepare(entry, arguments, count, &call);
  status = tf_context_leave(rt, pushed, status);
  if (status == TF_OK)
    *out = call;
  else
    free(call);
  return status;
}

void tf_prepared_call_destroy(tf_prepared_call *call) {
  free(call);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

tf_status tf_prepared_call_run(const tf_prepared_call *call, tf_stream stream) {
  if (!call) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = call->entry->program->runtime;
  bool pushed;
  tf_status status = tf_context_enter(rt, &pushed);
  if (status == TF_OK) status = tf_frame_run(call->entry, NULL, (CUstream)stream, call->values, call->dims);
  return tf_context_leave(rt, pushed, status);
}

/* ---- Other addresses and scalars --------------------------------------------------------------------------------- */

static tf_status refuse(const tf_prepared_call *call, tf_status status, const char *text) {
  return tf_runtime_fail(call->entry->program->runtime, status, "%s: %s", call->entry->manifest->signature.name, text);
}

/* A declared parameter by its number; null with a reason if there is none, or not of that kind. */
static const tf_mparam *find(const tf_prepared_call *call, unsigned parameter, bool tensor, const tf_why *why) {
  const tf_msignature *s = &call->entry->manifest->signature;
  const tf_mparam *p = parameter < s->declared_count ? &s->params[parameter] : NULL;
  if (!p)
    (void)tf_why_set(why, TF_LAUNCH, "there is no parameter %u, only %u of them", parameter, s->declared_count);
  else if (tf_mparam_is_tensor(p) == tensor)
    return p;
  else
    (void)tf_why_set(why, TF_LAUNCH, "argument '%s' is a %s", p->name,
                     tensor ? "scalar, it has no address" : "tensor, it can get another address only");
  return NULL;
}

static tf_status try_pointers(tf_prepared_call *call, unsigned count, const unsigned *parameters, void *const *pointers,
                              const tf_why *why) {
  tf_status status = TF_OK;
  memcpy(call->trial, call->values, size_of_values(call->entry));
  for (unsigned i = 0; i < count && status == TF_OK; i++) {
    const tf_mparam *p = find(call, parameters[i], true, why);
    if (!p) return TF_LAUNCH;
    tf_tensor *t = &call->trial[parameters[i]].tensor;
    t->data = (uint64_t)(uintptr_t)pointers[i];
    status = tf_tensor_check_address(p, t, why);
  }
  const tf_menv env = {.dims = call->dims, .values = call->trial};
  return status == TF_OK ? tf_values_check_overlap(&call->entry->manifest->signature, &env, why) : status;
}

tf_status tf_prepared_call_set_pointers(tf_prepared_call *call, unsigned count, const unsigned *parameters,
                                        void *const *pointers) {
  if (!call || (count && (!parameters || !pointers))) return TF_INVALID_ARGUMENT;
  char text[512];
  tf_status status = try_pointers(call, count, parameters, pointers, &(tf_why){text, sizeof text});
  if (status != TF_OK) return refuse(call, status, text);
  memcpy(call->values, call->trial, size_of_values(call->entry));
  return TF_OK;
}

tf_status tf_prepared_call_set_scalar(tf_prepared_call *call, unsigned parameter, const tf_argument *value) {
  if (!call || !value) return TF_INVALID_ARGUMENT;
  char text[512];
  tf_why why = {text, sizeof text};
  uint64_t bits = 0;
  const tf_mparam *p = find(call, parameter, false, &why);
  tf_status status = p ? tf_argument_read_scalar(p, value, &bits, &why) : TF_LAUNCH;
  if (status != TF_OK) return refuse(call, status, text);
  call->values[parameter].bits = bits;
  return TF_OK;
}
