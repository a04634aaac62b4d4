/* The plan of a manifest: a host function as data, walked statement by statement. For programs that come as PTX and
 * manifest only; machine code (Compiled.c) does the same and more. Both end in the same checks and launches. */
#include <stdlib.h>

#include "Runtime/Frame.h"

static tf_status run(tf_frame *f, const tf_mstmt *stmt);

static tf_status out_of_memory(const tf_frame *f) {
  return tf_runtime_fail(f->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
}

static tf_menv environment(const tf_frame *f) {
  return (tf_menv){.dims = f->dims, .values = f->values};
}

/* ---- Arguments of launches and calls ----------------------------------------------------------------------------- */

static const char *view_value(const tf_frame *f, const tf_marg *arg, int64_t *shape, tf_value *out) {
  const tf_mparam *p = &f->entry->manifest->signature.params[arg->param];
  const tf_tensor *whole = &f->values[arg->param].tensor;
  const tf_menv env = environment(f);
  int64_t offset, end;
  const char *error = tf_mexpr_eval(&arg->value, &env, &offset);
  for (unsigned axis = 0; axis < arg->rank && !error; axis++)
    error = tf_mexpr_eval(&arg->shape[axis], &env, &shape[axis]);
  if (error) return error;
  int64_t have = tf_extents_count(p->rank, whole->shape), want = tf_extents_count(arg->rank, shape);
  if (want < 0) return "extents out of range";
  if (offset < 0 || __builtin_add_overflow(offset, want, &end) || end > have) return "the window leaves its tensor";
  if (tf_element_bits(p->element) < 8 && offset % 2 != 0) return "the window starts inside a byte";
  out->tensor = (tf_tensor){whole->data + tf_element_bytes(p->element, (uint64_t)offset), shape};
  return NULL;
}

static const char *int_value(const tf_frame *f, const tf_marg *arg, tf_element element, tf_value *out) {
  const tf_menv env = environment(f);
  int64_t value;
  const char *error = tf_mexpr_eval(&arg->value, &env, &value);
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  return error ? error : tf_element_from_int(element, value < 0, magnitude, &out->bits);
}

static const char *argument_value(const tf_frame *f, const tf_marg *arg, const tf_mparam *want, int64_t *shape,
                                  tf_value *out) {
  switch (arg->kind) {
  case TF_MARG_PARAM:
    *out = f->values[arg->param];
    return NULL;
  case TF_MARG_VIEW:
    return view_value(f, arg, shape, out);
  case TF_MARG_INT:
    return int_value(f, arg, want->element, out);
  case TF_MARG_FLOAT:
    return tf_element_from_float(want->element, arg->number, &out->bits);
  }
  return "unknown kind of argument";
}

/* Values of all arguments, then `then(values)`. Views' shapes live behind the values. */
static tf_status with_arguments(tf_frame *f, const tf_mstmt *stmt, const tf_msignature *callee,
                                tf_status (*then)(tf_frame *, const tf_mstmt *, const tf_value *)) {
  size_t words = 0;
  for (unsigned i = 0; i < stmt->arg_count; i++)
    words += 2 + stmt->args[i].rank;
  uint64_t inline_words[128], *block = inline_words;
  if (words > 128) block = malloc(words * sizeof *block);
  if (!block) return out_of_memory(f);
  tf_value *values = (tf_value *)block;
  int64_t *shapes = (int64_t *)(block + 2 * (size_t)stmt->arg_count);
  const char *error = NULL;
  unsigned i = 0;
  for (; i < stmt->arg_count && !error; i++) {
    error = argument_value(f, &stmt->args[i], &callee->params[i], shapes, &values[i]);
    shapes += stmt->args[i].rank;
  }
  tf_status status =
      error ? tf_frame_fail(f, TF_LAUNCH, &stmt->loc, callee->params[i - 1].name, error) : then(f, stmt, values);
  if (block != inline_words) free(block);
  return status;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static const char *eval3(const tf_frame *f, const tf_mexpr *exprs, int64_t out[3]) {
  const tf_menv env = environment(f);
  const char *error = NULL;
  for (int i = 0; i < 3 && !error; i++) {
    error = tf_mexpr_eval(&exprs[i], &env, &out[i]);
    if (!error && out[i] < 0) error = "an extent is negative";
  }
  return error;
}

static tf_status launch_now(tf_frame *f, const tf_mstmt *stmt, const tf_value *values) {
  tf_geometry g = {.place = &stmt->loc,
                   .cooperative = stmt->cooperative,
                   .programmatic_stream_serialization = stmt->programmatic_stream_serialization};
  const tf_menv env = environment(f);
  const char *error = eval3(f, stmt->grid, g.grid);
  if (!error) error = eval3(f, stmt->block, g.block);
  if (!error && stmt->cluster) error = eval3(f, stmt->cluster, g.cluster);
  if (!error) error = tf_mexpr_eval(&stmt->dynamic_smem, &env, &g.dynamic_smem);
  tf_kernel *kernel = &f->program->kernels[stmt->callee];
  if (error) return tf_frame_fail(f, TF_LAUNCH, &stmt->loc, kernel->name, error);
  return tf_launch_kernel(kernel, &g, f->stream, values, NULL, stmt->same_signature ? f->dims : NULL);
}

static tf_status call_now(tf_frame *f, const tf_mstmt *stmt, const tf_value *values) {
  return tf_frame_call(f, stmt->callee, &stmt->loc, values, NULL);
}

static tf_status run_dispatch(tf_frame *f, const tf_mstmt *stmt) {
  const tf_menv env = environment(f);
  int64_t value;
  const char *error = tf_mexpr_eval(&stmt->subject, &env, &value);
  if (error) return tf_frame_fail(f, TF_LAUNCH, &stmt->loc, stmt->text, error);
  for (unsigned i = 0; i < stmt->count; i++)
    if (value >= stmt->cases[i].lo && value < stmt->cases[i].hi) return run(f, &stmt->cases[i].body);
  return run(f, stmt->body);
}

static tf_status run_sequence(tf_frame *f, const tf_mstmt *stmt) {
  tf_status status = TF_OK;
  for (unsigned i = 0; i < stmt->count && status == TF_OK; i++)
    status = run(f, &stmt->body[i]);
  return status;
}

static tf_status run(tf_frame *f, const tf_mstmt *stmt) {
  const tf_manifest *m = f->program->manifest;
  switch (stmt->kind) {
  case TF_MSTMT_LAUNCH:
    if (stmt->same_signature) return launch_now(f, stmt, f->values);
    return with_arguments(f, stmt, &m->kernels[stmt->callee].signature, launch_now);
  case TF_MSTMT_CALL:
    return with_arguments(f, stmt, &m->entries[stmt->callee].signature, call_now);
  case TF_MSTMT_DISPATCH:
    return run_dispatch(f, stmt);
  case TF_MSTMT_SEQUENCE:
    return run_sequence(f, stmt);
  case TF_MSTMT_ABORT:
    return tf_frame_fail(f, TF_TRAP, &stmt->loc, "abort", *stmt->text ? stmt->text : "(no message)");
  }
  return TF_OK;
}

tf_status tf_plan_run(tf_frame *frame) {
  return run(frame, frame->entry->manifest->body);
}
