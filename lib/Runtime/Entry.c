/* Calling an entry from outside: its arguments are bound and checked, all of them, before anything is launched; then it
 * runs in a frame (Frame.h). */
#include "Runtime/Frame.h"
#include "Runtime/Outputs.h"

/* Ends the frame as well. */
static tf_status call_entry(tf_frame *f, const tf_argument *arguments, unsigned count) {
  tf_status status = tf_arguments_bind(f->program->runtime, f->program->manifest, &f->entry->manifest->signature,
                                       arguments, count, f->values, f->shapes, f->dims);
  return tf_frame_close(f, status == TF_OK ? tf_frame_run(f) : status);
}

/* With the tensors that the caller leaves to us made first, and given to him if all went well. */
static tf_status call_with_outputs(tf_frame *f, const tf_argument *arguments, unsigned count) {
  tf_outputs outputs;
  tf_runtime *rt = f->program->runtime;
  tf_status status = tf_outputs_make(f->program, &f->entry->manifest->signature, arguments, count, &outputs);
  if (status != TF_OK) return tf_frame_close(f, status);
  return tf_outputs_finish(rt, &outputs, arguments, count, call_entry(f, outputs.arguments, count));
}

tf_status tf_entry_call(const tf_entry *entry, tf_stream stream, const tf_argument *arguments, unsigned count) {
  if (!entry || (count && !arguments)) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = entry->program->runtime;
  if (!entry->function && !entry->manifest->body)
    return tf_runtime_fail(rt, TF_UNSUPPORTED, "%s: the function exists as compiled code only",
                           entry->manifest->signature.name);
  tf_frame f;
  bool pushed;
  if (!tf_frame_open(&f, entry, NULL, (CUstream)stream)) return TF_OUT_OF_MEMORY;
  tf_status status = tf_context_enter(rt, &pushed);
  if (status != TF_OK)
    status = tf_frame_close(&f, status);
  else if (tf_outputs_are_wanted(arguments, count))
    status = call_with_outputs(&f, arguments, count);
  else
    status = call_entry(&f, arguments, count);
  return tf_context_leave(rt, pushed, status);
}
