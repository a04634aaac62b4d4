/* Fuzzed: the compile-time evaluator. Every line of the input is an expression; it gives a value or diagnostics, and a value
 * that has a spelling reads back as an equal one. */
#include "Fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "IR/Text/Elaborate.h"
#include "Support/Context.h"

typedef struct job {
  tf_context *context;
  const char *text;
  size_t length;
  fuzz_reach reach; /* read: a line has a value */
} job;

static tf_value evaluate(tf_elab *e, const char *text, size_t length) {
  uint32_t file = tf_context_add_source(e->context, "line", text, length);
  const tf_node *node = tf_parse_expression(e->context, file, e->scratch);
  return node ? tf_eval(e, node) : TF_VALUE_OF_ERROR;
}

/* Kinds whose spelling is an expression of its own. */
static bool is_spelled(const tf_value *value) {
  bool number = value->kind == TF_VALUE_BOOL || value->kind == TF_VALUE_INT || value->kind == TF_VALUE_STRING;
  return number || value->kind == TF_VALUE_FLOAT || value->kind == TF_VALUE_DIM || value->kind == TF_VALUE_LAYOUT ||
         value->kind == TF_VALUE_MESH || value->kind == TF_VALUE_DTYPE || value->kind == TF_VALUE_STORAGE;
}

static void check_line(job *j, const char *text, size_t length) {
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  tf_elab e = {.context = j->context, .scratch = &j->context->arena, .options = &options};
  tf_scope_init(&e);
  size_t errors = j->context->error_count;
  const tf_dim *dim;
  if (tf_dim_var(j->context, "S", 1, 1000, &dim) == TF_OK)
    tf_bind(&e, tf_context_intern_cstr(j->context, "S"), tf_value_of_dim(dim), TF_NO_LOC);
  tf_value value = evaluate(&e, text, length);
  bool failed = j->context->error_count > errors;
  const char *spelled = tf_value_print(j->context, &value);
  if ((value.kind == TF_VALUE_ERROR) != failed) {
    fprintf(stderr, "static: value and diagnostics disagree: %.*s\n", (int)length, text);
    abort();
  }
  if (!failed) j->reach = FUZZ_READ;
  if (!is_spelled(&value) || (value.kind == TF_VALUE_FLOAT && value.f != value.f)) return;
  if (memmem(text, length, "DimVar", 6)) return; /* its name is not bound */
  tf_value again = evaluate(&e, spelled, strlen(spelled));
  if (tf_value_equal(&value, &again)) return;
  fprintf(stderr, "static: %s does not read back as itself\n", spelled);
  abort();
}

static tf_status check_lines(void *argument) {
  job *j = argument;
  for (const char *at = j->text, *end = at + j->length; at < end;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((newline ? newline : end) - at);
    check_line(j, at, length);
    at += length + 1;
  }
  return TF_OK;
}

static fuzz_reach run(const char *bytes, size_t size) {
  job j = {NULL, bytes, size, FUZZ_REFUSED};
  if (tf_context_create(&j.context) != TF_OK) return FUZZ_REFUSED;
  (void)tf_context_try(j.context, check_lines, &j);
  tf_context_destroy(j.context);
  return j.reach;
}

const fuzz_target fuzz_this = {"static", run, fuzz_tir_words, {"refused", "of them with a value"}};
