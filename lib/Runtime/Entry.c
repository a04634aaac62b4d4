/* Calling an entry from outside: its arguments are bound and checked, all of them, before anything is launched; then it
 * runs in a frame (Frame.h). */
#include "Runtime/Entry.h"

#include <stdlib.h>

#include "Runtime/Frame.h"

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static tf_status make_room(const tf_entry *entry, tf_binding *b) {
  size_t params = entry->manifest->signature.declared_count;
  size_t words = 3 * params + entry->program->manifest->dim_count;
  uint64_t *block = b->inline_words;
  b->heap = NULL;
  if (words > sizeof b->inline_words / sizeof *block) b->heap = block = malloc(words * sizeof *block);
  if (!block) return tf_runtime_fail(entry->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
  b->values = (tf_value *)block;
  b->strides = (const int64_t **)(block + 2 * params);
  b->dims = (int64_t *)(block + 3 * params);
  return TF_OK;
}

/* With the tensors that the caller leaves to us in the places of outputs. */
static tf_status make_outputs(const tf_entry *entry, tf_binding *b) {
  b->outputs = (tf_outputs){0};
  if (!tf_outputs_are_wanted(b->arguments, b->count)) return TF_OK;
  return tf_outputs_make(entry->program, &entry->manifest->signature, b->arguments, b->count, &b->outputs);
}

static tf_status bind(const tf_entry *entry, tf_binding *b) {
  const tf_argument *arguments = b->outputs.arguments ? b->outputs.arguments : b->arguments;
  return tf_arguments_bind(entry->program->runtime, entry->program->manifest, &entry->manifest->signature, arguments,
                           b->count, b->values, b->strides, b->dims);
}

tf_status tf_entry_bind(const tf_entry *entry, const tf_argument *arguments, unsigned count, tf_binding *out) {
  if (!entry->function && !entry->manifest->body)
    return tf_runtime_fail(entry->program->runtime, TF_UNSUPPORTED, "%s: the function exists as compiled code only",
                           entry->manifest->signature.name);
  out->arguments = arguments;
  out->count = count;
  tf_status status = make_room(entry, out);
  if (status != TF_OK) return status;
  status = make_outputs(entry, out);
  if (status == TF_OK) status = bind(entry, out);
  return status == TF_OK ? TF_OK : tf_entry_unbind(entry, out, status);
}

tf_status tf_entry_unbind(const tf_entry *entry, tf_binding *binding, tf_status status) {
  if (binding->outputs.made)
    status = tf_outputs_finish(entry->program->runtime, &binding->outputs, binding->arguments, binding->count, status);
  free(binding->heap);
  return status;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static tf_status call(const tf_entry *entry, CUstream stream, const tf_argument *arguments, unsigned count) {
  tf_binding b;
  tf_status status = tf_entry_bind(entry, arguments, count, &b);
  if (status != TF_OK) return status;
  return tf_entry_unbind(entry, &b, tf_frame_run(entry, NULL, stream, b.values, b.dims));
}

tf_status tf_entry_call(const tf_entry *entry, tf_stream stream, const tf_argument *arguments, unsigned count) {
  if (!entry || (count && !arguments)) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = entry->program->runtime;
  bool pushed;
  tf_status status = tf_context_enter(rt, &pushed);
  if (status == TF_OK) status = call(entry, (CUstream)stream, arguments, count);
  return tf_context_leave(rt, pushed, status);
}
