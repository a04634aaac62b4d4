/* Calling an entry: bind and check the arguments, then walk the statement tree of the manifest. Nothing is launched
 * before every argument of the entry has been checked; a statement's own checks come before its launch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/RuntimeImpl.h"

/* The state of one entry in progress. All arrays lie in one block: inline for usual sizes, else on the heap. */
typedef struct call_frame {
  tf_program *program;
  const tf_mentry *entry;
  CUstream stream;
  tf_value *values;       /* per parameter */
  const int64_t **shapes; /* per parameter */
  int64_t *dims;          /* per dim of the manifest */
  int64_t *scalars;       /* per parameter: integer scalars as numbers */
  void *heap;
  uint64_t inline_words[256];
} call_frame;

_Static_assert(sizeof(tf_value) == 2 * sizeof(uint64_t), "words of a value");

static tf_status run(call_frame *f, const tf_mstmt *stmt);

static tf_status out_of_memory(tf_program *p) {
  return tf_runtime_fail(p->runtime, TF_OUT_OF_MEMORY, "out of memory");
}

static bool open_frame(call_frame *f, tf_program *program, const tf_mentry *entry, CUstream stream) {
  size_t params = entry->signature.param_count, dims = program->manifest->dim_count, words = 4 * params + dims;
  uint64_t *block = f->inline_words;
  f->heap = NULL;
  if (words > sizeof f->inline_words / sizeof *block) f->heap = block = malloc(words * sizeof *block);
  if (!block) return false;
  f->program = program;
  f->entry = entry;
  f->stream = stream;
  f->values = (tf_value *)block;
  f->shapes = (const int64_t **)(block + 2 * params);
  f->scalars = (int64_t *)(block + 3 * params);
  f->dims = (int64_t *)(block + 4 * params);
  return true;
}

static tf_menv environment(const call_frame *f) {
  return (tf_menv){.dims = f->dims, .shapes = f->shapes, .scalars = f->scalars};
}

/* The number that a scalar's bits stand for; floats are never asked for. */
static int64_t integer_value(tf_element element, uint64_t bits) {
  unsigned width = tf_element_bits(element);
  if (tf_element_get_class(element) != TF_ELEMENT_CLASS_SINT || width == 64) return (int64_t)bits;
  uint64_t sign = UINT64_C(1) << (width - 1);
  return (int64_t)((bits ^ sign) - sign);
}

static void fill_scalars(call_frame *f) {
  const tf_msignature *s = &f->entry->signature;
  for (unsigned i = 0; i < s->declared_count; i++)
    f->scalars[i] = s->params[i].kind == TF_MPARAM_SCALAR ? integer_value(s->params[i].element, f->values[i].bits) : 0;
}

static tf_status fail_at(const call_frame *f, tf_status status, const tf_mloc *loc, const char *what, const char *why) {
  const char *name = f->entry->signature.name;
  if (!loc->file) return tf_runtime_fail(f->program->runtime, status, "%s: %s: %s", name, what, why);
  return tf_runtime_fail(f->program->runtime, status, "%s:%" PRId64 ":%" PRId64 ": %s: %s: %s", loc->file, loc->line,
                         loc->column, name, what, why);
}

/* ---- Arguments of launches and calls ----------------------------------------------------------------------------- */

static const char *view_value(const call_frame *f, const tf_marg *arg, int64_t *shape, tf_value *out) {
  const tf_mparam *p = &f->entry->signature.params[arg->param];
  const tf_tensor *whole = &f->values[arg->param].tensor;
  const tf_menv env = environment(f);
  int64_t offset, have = 1, want = 1, end;
  const char *error = tf_mexpr_eval(&arg->value, &env, &offset);
  for (unsigned axis = 0; axis < p->rank; axis++)
    have *= whole->shape[axis]; /* fits: the tensor exists */
  for (unsigned axis = 0; axis < arg->rank && !error; axis++) {
    error = tf_mexpr_eval(&arg->shape[axis], &env, &shape[axis]);
    if (!error && (shape[axis] < 0 || __builtin_mul_overflow(want, shape[axis], &want))) error = "extents out of range";
  }
  if (error) return error;
  if (offset < 0 || __builtin_add_overflow(offset, want, &end) || end > have) return "the window leaves its tensor";
  if (tf_element_bits(p->element) < 8 && offset % 2 != 0) return "the window starts inside a byte";
  out->tensor = (tf_tensor){whole->data + tf_element_bytes(p->element, (uint64_t)offset), shape};
  return NULL;
}

static const char *int_value(const call_frame *f, const tf_marg *arg, tf_element element, tf_value *out) {
  const tf_menv env = environment(f);
  int64_t value;
  const char *error = tf_mexpr_eval(&arg->value, &env, &value);
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  return error ? error : tf_element_from_int(element, value < 0, magnitude, &out->bits);
}

static const char *argument_value(const call_frame *f, const tf_marg *arg, const tf_mparam *want, int64_t *shape,
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
static tf_status with_arguments(call_frame *f, const tf_mstmt *stmt, const tf_msignature *callee,
                                tf_status (*then)(call_frame *, const tf_mstmt *, tf_value *)) {
  size_t words = 0;
  for (unsigned i = 0; i < stmt->arg_count; i++)
    words += 2 + stmt->args[i].rank;
  uint64_t inline_words[128], *block = inline_words;
  if (words > 128) block = malloc(words * sizeof *block);
  if (!block) return out_of_memory(f->program);
  tf_value *values = (tf_value *)block;
  int64_t *shapes = (int64_t *)(block + 2 * (size_t)stmt->arg_count);
  const char *error = NULL;
  unsigned i = 0;
  for (; i < stmt->arg_count && !error; i++) {
    error = argument_value(f, &stmt->args[i], &callee->params[i], shapes, &values[i]);
    shapes += stmt->args[i].rank;
  }
  tf_status status =
      error ? fail_at(f, TF_LAUNCH, &stmt->loc, callee->params[i - 1].name, error) : then(f, stmt, values);
  if (block != inline_words) free(block);
  return status;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static const char *eval3(const call_frame *f, const tf_mexpr *exprs, int64_t out[3]) {
  const tf_menv env = environment(f);
  const char *error = NULL;
  for (int i = 0; i < 3 && !error; i++) {
    error = tf_mexpr_eval(&exprs[i], &env, &out[i]);
    if (!error && out[i] < 0) error = "an extent is negative";
  }
  return error;
}

static tf_status launch_now(call_frame *f, const tf_mstmt *stmt, tf_value *values) {
  tf_geometry g = {.cooperative = stmt->cooperative,
                   .programmatic_stream_serialization = stmt->programmatic_stream_serialization};
  const tf_menv env = environment(f);
  const char *error = eval3(f, stmt->grid, g.grid);
  if (!error) error = eval3(f, stmt->block, g.block);
  if (!error && stmt->cluster) error = eval3(f, stmt->cluster, g.cluster);
  if (!error) error = tf_mexpr_eval(&stmt->dynamic_smem, &env, &g.dynamic_smem);
  tf_kernel *kernel = &f->program->kernels[stmt->callee];
  if (error) return fail_at(f, TF_LAUNCH, &stmt->loc, kernel->name, error);
  const tf_solved solved = {.dims = f->dims, .shapes = f->shapes};
  return tf_launch_kernel(kernel, &g, f->stream, values, stmt->same_signature ? &solved : NULL);
}

/* A call inside of an entry: the values are of the right kinds already. */
static tf_status call_now(call_frame *f, const tf_mstmt *stmt, tf_value *values) {
  const tf_mentry *callee = &f->program->manifest->entries[stmt->callee];
  const tf_msignature *s = &callee->signature;
  call_frame inner;
  if (!callee->body)
    return fail_at(f, TF_UNSUPPORTED, &stmt->loc, s->name, "the function exists as compiled code only");
  if (!open_frame(&inner, f->program, callee, f->stream)) return out_of_memory(f->program);
  memcpy(inner.values, values, s->declared_count * sizeof *values);
  fill_scalars(&inner);
  char text[512];
  tf_why why = {text, sizeof text};
  tf_status status = tf_values_bind(f->program->manifest, s, values, inner.shapes, inner.dims, &why);
  if (status != TF_OK)
    status = fail_at(f, status, &stmt->loc, s->name, text);
  else
    status = run(&inner, callee->body);
  free(inner.heap);
  return status;
}

static tf_status run_dispatch(call_frame *f, const tf_mstmt *stmt) {
  const tf_menv env = environment(f);
  int64_t value;
  const char *error = tf_mexpr_eval(&stmt->subject, &env, &value);
  if (error) return fail_at(f, TF_LAUNCH, &stmt->loc, stmt->text, error);
  for (unsigned i = 0; i < stmt->count; i++)
    if (value >= stmt->cases[i].lo && value < stmt->cases[i].hi) return run(f, &stmt->cases[i].body);
  return run(f, stmt->body);
}

static tf_status run_sequence(call_frame *f, const tf_mstmt *stmt) {
  tf_status status = TF_OK;
  for (unsigned i = 0; i < stmt->count && status == TF_OK; i++)
    status = run(f, &stmt->body[i]);
  return status;
}

static tf_status run(call_frame *f, const tf_mstmt *stmt) {
  const tf_manifest *m = f->program->manifest;
  switch (stmt->kind) {
  case TF_MSTMT_LAUNCH:
    return with_arguments(f, stmt, &m->kernels[stmt->callee].signature, launch_now);
  case TF_MSTMT_CALL:
    return with_arguments(f, stmt, &m->entries[stmt->callee].signature, call_now);
  case TF_MSTMT_DISPATCH:
    return run_dispatch(f, stmt);
  case TF_MSTMT_SEQUENCE:
    return run_sequence(f, stmt);
  case TF_MSTMT_ABORT:
    return fail_at(f, TF_TRAP, &stmt->loc, "abort", *stmt->text ? stmt->text : "(no message)");
  }
  return TF_OK;
}

/* ---- From outside ------------------------------------------------------------------------------------------------ */

static tf_status call_entry(call_frame *f, const tf_argument *arguments, unsigned count) {
  tf_status status = tf_arguments_bind(f->program->runtime, f->program->manifest, &f->entry->signature, arguments,
                                       count, f->values, f->shapes, f->dims);
  if (status != TF_OK) return status;
  fill_scalars(f);
  return run(f, f->entry->body);
}

tf_status tf_entry_call(const tf_entry *entry, tf_stream stream, const tf_argument *arguments, unsigned count) {
  if (!entry || (count && !arguments)) return TF_INVALID_ARGUMENT;
  tf_program *p = entry->program;
  const tf_msignature *s = &entry->manifest->signature;
  if (!entry->manifest->body)
    return tf_runtime_fail(p->runtime, TF_UNSUPPORTED, "%s: the function exists as compiled code only", s->name);
  call_frame f;
  if (!open_frame(&f, p, entry->manifest, (CUstream)stream)) return out_of_memory(p);
  bool pushed;
  tf_status status = tf_context_enter(p->runtime, &pushed);
  if (status == TF_OK) status = call_entry(&f, arguments, count);
  status = tf_context_leave(p->runtime, pushed, status);
  free(f.heap);
  return status;
}
