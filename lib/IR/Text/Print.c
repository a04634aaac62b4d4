/* Modules and functions as text: a header that makes the text a Python module, DimVars, intrinsics, functions. */
#include <tilefoundry/Text.h>

#include "IR/Text/ElaborateIntrinsic.h"
#include "IR/LayoutImpl.h"
#include "IR/Text/Lexer.h"
#include "IR/Text/PrintInternal.h"
#include "IR/Text/Static.h"

void tf_printer_init(tf_printer *p, tf_context *context) {
  *p = (tf_printer){.context = context};
  tf_string_init(&p->out, &context->arena);
}

void tf_printer_fail(tf_printer *p, const char *name, const char *why) {
  if (!p->quiet) tf_report(p->context, TF_NO_LOC, PRINT_NAME, name, why);
  p->failed = true;
}

/* ---- Functions ---- */
/* Tensor[shape, dtype, layout, storage]: what is usual is left out. */
static void print_param(tf_printer *p, const tf_expr *param) {
  const tf_type *type = param->type;
  tf_storage storage = tf_type_storage(type);
  tf_string_printf(&p->out, "%s: %s[(", tf_print_bind_param(p, param), param->var.is_const ? "ConstTensor" : "Tensor");
  for (unsigned i = 0; i < tf_type_rank(type); i++) {
    if (i) tf_string_puts(&p->out, ", ");
    tf_string_puts(&p->out, tf_dim_print(p->context, tf_type_extent(type, i)));
  }
  tf_string_printf(&p->out, "%s), \"%s\"", tf_type_rank(type) == 1 ? "," : "", tf_dtype_name(tf_type_dtype(type)));
  if (tf_type_layout(type)) {
    tf_string_puts(&p->out, ", ");
    tf_print_layout(p, tf_type_layout(type));
  }
  if (storage != TF_STORAGE_GMEM && storage != TF_STORAGE_NONE) {
    tf_value value = {.kind = TF_VALUE_STORAGE, .storage = storage};
    tf_string_puts(&p->out, ", ");
    tf_value_append(p->context, &p->out, &value);
  }
  tf_string_puts(&p->out, "]");
}

static void print_decorator(tf_printer *p, const tf_stmt *function) {
  const tf_target *target = function->function.target;
  tf_string_puts(&p->out, "@prim_func");
  if (target) {
    tf_value value = {.kind = TF_VALUE_TARGET, .target = target};
    tf_string_puts(&p->out, "(target=");
    tf_value_append(p->context, &p->out, &value);
  }
  if (function->function.output_count != 1)
    tf_string_printf(&p->out, "%soutput_count=%u", target ? ", " : "(", function->function.output_count);
  tf_string_puts(&p->out, target || function->function.output_count != 1 ? ")\n" : "\n");
}

void tf_print_function(tf_printer *p, const tf_stmt *function, unsigned indent) {
  size_t mark = p->taken.count;
  p->function = function;
  if (!tf_is_identifier(function->function.name)) tf_printer_fail(p, function->function.name, "it is no identifier");
  print_decorator(p, function);
  tf_print_indent(p, indent);
  tf_string_printf(&p->out, "def %s(", function->function.name);
  for (unsigned i = 0; i < function->function.param_count; i++) {
    if (i) tf_string_puts(&p->out, ", ");
    print_param(p, function->function.params[i]);
  }
  tf_string_puts(&p->out, "):\n");
  tf_print_body(p, function->function.body, indent + 1);
  tf_print_release(p, mark);
  p->function = NULL;
}

/* ---- Modules ---- */
static void print_dim_vars(tf_printer *p, const tf_dim_vars *vars) {
  const char *before = "\n";
  for (size_t i = 0; i < vars->count; i++) {
    if (tf_print_writes_out(p->context, vars->items[i].name)) continue;
    tf_string_printf(&p->out, "%s%s = DimVar(\"%s\", %lld, %lld)\n", before, vars->items[i].name, vars->items[i].name,
                     (long long)vars->items[i].lo, (long long)vars->items[i].hi);
    before = "";
  }
}

/* A module that is a class in the text; a class without a name of its own is called '_'. */
static bool is_class(const tf_module *module) {
  return module->name || module->entry;
}

static void print_class_head(tf_printer *p, const tf_module *module) {
  if (module->name && !tf_is_identifier(module->name)) tf_printer_fail(p, module->name, "it is no identifier");
  tf_string_puts(&p->out, "\n\n@module");
  if (module->entry) {
    tf_string_puts(&p->out, "(entry=");
    tf_string_quote(&p->out, module->entry);
    tf_string_puts(&p->out, ")");
  }
  tf_string_printf(&p->out, "\nclass %s:\n", module->name ? module->name : "_");
  if (!module->function_count) tf_string_puts(&p->out, "    pass\n");
}

/* Functions and intrinsics share one space of names with DimVars and the language's own. */
static void reserve_names(tf_printer *p, const tf_module *module, const tf_dim_vars *vars) {
  tf_print_reserve_language(p);
  for (size_t i = 0; i < vars->count; i++)
    if (!tf_print_writes_out(p->context, vars->items[i].name)) tf_print_reserve(p, vars->items[i].name);
  for (unsigned i = 0; i < module->intrinsic_count; i++)
    tf_print_reserve(p, module->intrinsics[i]->name);
  for (unsigned i = 0; i < module->function_count; i++) {
    const char *name = module->functions[i]->function.name;
    if (tf_print_hides(name, false)) tf_printer_fail(p, name, "a function has it, and the language uses it");
    tf_print_reserve(p, name);
  }
}

static void print_module(tf_printer *p, const tf_module *module) {
  tf_dim_vars vars = {0};
  unsigned indent = is_class(module) ? 1 : 0;
  tf_print_collect_dims(p, module, &vars);
  tf_print_hide_dims(p, module);
  p->context->printing = p;
  reserve_names(p, module, &vars);
  tf_string_puts(&p->out, "from tilefoundry import *\n");
  print_dim_vars(p, &vars);
  for (unsigned i = 0; i < module->intrinsic_count; i++) {
    tf_string_puts(&p->out, "\n\n");
    tf_intrinsic_append(p->context, &p->out, module->intrinsics[i]);
  }
  if (indent) print_class_head(p, module);
  for (unsigned i = 0; i < module->function_count; i++) {
    tf_string_puts(&p->out, !indent ? "\n\n" : i ? "\n" : "");
    tf_print_indent(p, indent);
    tf_print_function(p, module->functions[i], indent);
  }
}

typedef struct print_job {
  tf_context *context;
  const tf_module *module; /* or */
  const tf_stmt *stmt;
  unsigned indent;
  const char **out;
  bool quiet;
} print_job;

static tf_status run(void *argument) {
  print_job *job = argument;
  tf_printer *p = TF_ARENA_NEW(&job->context->arena, tf_printer);
  tf_printer_init(p, job->context);
  p->quiet = job->quiet;
  if (job->module) {
    print_module(p, job->module);
  } else if (job->stmt->kind == TF_STMT_SEQUENTIAL) {
    tf_print_body(p, job->stmt, job->indent);
  } else {
    tf_print_indent(p, job->indent);
    tf_print_statement(p, job->stmt, job->indent);
  }
  if (p->failed) return TF_INVALID_ARGUMENT;
  *job->out = p->out.text;
  return TF_OK;
}

static tf_status print_whole(const tf_module *module, bool quiet, const char **out) {
  print_job job = {.context = module->context, .module = module, .out = out, .quiet = quiet};
  tf_status status = tf_context_try(module->context, run, &job);
  module->context->printing = NULL;
  return status;
}

tf_status tf_print(const tf_module *module, const char **out) {
  return module && out ? print_whole(module, false, out) : TF_INVALID_ARGUMENT;
}

tf_status tf_print_quietly(const tf_module *module, const char **out) {
  return print_whole(module, true, out);
}

tf_status tf_print_stmt(tf_context *context, const tf_stmt *stmt, unsigned indent, const char **out) {
  if (!context || !stmt || !out) return TF_INVALID_ARGUMENT;
  print_job job = {.context = context, .stmt = stmt, .indent = indent, .out = out};
  return tf_context_try(context, run, &job);
}
