/* Declarations of intrinsics made through C. */
#include <tilefoundry/Intrinsic.h>

#include <ctype.h>
#include <string.h>

#include "IR/Text/Lexer.h"
#include "IR/Nodes.h"
#include "IR/Text/StaticCall.h"
#include "Support/Options.h"

static bool is_snake_case(const char *name) {
  if (!name || !islower((unsigned char)name[0])) return false;
  for (const char *c = name; *c; c++)
    if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_') return false;
  return true;
}

/* warm_up → WarmUp. */
static const char *camel_case(tf_context *context, const char *name) {
  tf_string out;
  bool upper = true;
  tf_string_init(&out, &context->arena);
  for (const char *c = name; *c; c++) {
    char letter = upper ? (char)toupper((unsigned char)*c) : *c;
    upper = *c == '_';
    if (*c != '_') tf_string_append(&out, &letter, 1);
  }
  return tf_context_intern_cstr(context, out.text);
}

/* ---- Templates ---- */
static int param_named(unsigned count, const tf_intrinsic_param *params, const char *name, size_t length) {
  for (unsigned i = 0; i < count; i++)
    if (strlen(params[i].name) == length && memcmp(params[i].name, name, length) == 0) return (int)i;
  return -1;
}

/* The length of the name in "{name}", or 0. */
static size_t placeholder(const char *open) {
  size_t length = strspn(open + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return open[1 + length] == '}' && !isdigit((unsigned char)open[1]) ? length : 0;
}

int tf_template_param(const tf_intrinsic *decl, const char *open, size_t *length) {
  size_t name = placeholder(open);
  *length = name + 2;
  return name ? param_named(decl->param_count, decl->params, open + 1, name) : -1;
}

const char *tf_template_stranger(const char *ptx, unsigned count, const tf_intrinsic_param *params, size_t *length) {
  for (const char *at = strchr(ptx, '{'); at; at = strchr(at + 1, '{')) {
    *length = placeholder(at);
    if (*length && param_named(count, params, at + 1, *length) < 0) return at + 1;
  }
  return NULL;
}

/* ---- Declarations ---- */
static bool refuse(tf_context *context, const char *name, const char *why) {
  tf_report(context, TF_NO_LOC, INTRINSIC_DECLARATION, name ? name : "", why);
  return false;
}

static bool check_params(tf_context *context, const tf_intrinsic_options *options) {
  if (options->param_count && !options->params) return refuse(context, options->name, "there are no parameter names");
  for (unsigned i = 0; i < options->param_count; i++) {
    if (!tf_is_identifier(options->params[i]))
      return refuse(context, options->name, "a parameter's name is no identifier");
    for (unsigned k = 0; k < i; k++)
      if (strcmp(options->params[i], options->params[k]) == 0)
        return refuse(context, options->name, "two parameters have one name");
  }
  return true;
}

static bool check_options(tf_context *context, const tf_intrinsic_options *options) {
  if (!is_snake_case(options->name)) return refuse(context, options->name, "the name is not in snake_case");
  if (tf_name_resolve(context, options->name).kind != TF_NAME_UNKNOWN)
    return refuse(context, options->name, "an op, a function or a value of the language has this name");
  if (options->ptx && options->lower) return refuse(context, options->name, "it has both a template and a callback");
  return check_params(context, options);
}

typedef struct creation {
  tf_context *context;
  const tf_intrinsic_options *options;
  const tf_intrinsic *result;
} creation;

static bool check_template(tf_context *context, const tf_intrinsic_options *options, const tf_intrinsic_param *params) {
  size_t length;
  const char *name = options->ptx ? tf_template_stranger(options->ptx, options->param_count, params, &length) : NULL;
  if (!name) return true;
  return refuse(
      context, options->name,
      tf_arena_printf(&context->arena, "the template names {%.*s}, which is no parameter", (int)length, name));
}

static tf_status create(void *argument) {
  creation *c = argument;
  const tf_intrinsic_options *options = c->options;
  if (!check_options(c->context, options)) return TF_INVALID_ARGUMENT;
  tf_intrinsic *made = TF_ARENA_NEW(&c->context->arena, tf_intrinsic);
  tf_intrinsic_param *params = TF_ARENA_ARRAY(&c->context->arena, tf_intrinsic_param, options->param_count);
  for (unsigned i = 0; i < options->param_count; i++)
    params[i].name = tf_context_intern_cstr(c->context, options->params[i]);
  if (!check_template(c->context, options, params)) return TF_INVALID_ARGUMENT;
  made->name = tf_context_intern_cstr(c->context, options->name);
  made->class_name = camel_case(c->context, options->name);
  made->param_count = options->param_count;
  made->params = params;
  made->ptx = options->ptx ? tf_context_intern_cstr(c->context, options->ptx) : NULL;
  made->verify = options->verify;
  made->lower = options->lower;
  made->user = options->user;
  c->result = made;
  return TF_OK;
}

tf_status tf_intrinsic_create(tf_context *context, const tf_intrinsic_options *options, const tf_intrinsic **out) {
  tf_intrinsic_options known = TF_INTRINSIC_OPTIONS_INIT;
  if (!context || !out || !tf_options_read(&known, sizeof known, options)) return TF_INVALID_ARGUMENT;
  creation c = {context, &known, NULL};
  tf_status status = tf_context_try(context, create, &c);
  if (status == TF_OK) *out = c.result;
  return status;
}

const char *tf_intrinsic_name(const tf_intrinsic *intrinsic) {
  return intrinsic ? intrinsic->name : NULL;
}

const char *tf_intrinsic_class_name(const tf_intrinsic *intrinsic) {
  return intrinsic ? intrinsic->class_name : NULL;
}

unsigned tf_intrinsic_param_count(const tf_intrinsic *intrinsic) {
  return intrinsic ? intrinsic->param_count : 0;
}

const char *tf_intrinsic_param_name(const tf_intrinsic *intrinsic, unsigned index) {
  return index < tf_intrinsic_param_count(intrinsic) ? intrinsic->params[index].name : NULL;
}

const char *tf_intrinsic_ptx(const tf_intrinsic *intrinsic) {
  return intrinsic ? intrinsic->ptx : NULL;
}
