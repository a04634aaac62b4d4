/* The C header of an object: one documented prototype per entry. */
#include <ctype.h>
#include <string.h>

#include "IR/DimImpl.h"
#include "IR/Target.h"
#include "LowerToLLVM/Host/Object.h"
#include "LowerToLLVM/Manifest.h"
#include "LowerToLLVM/Program.h"
#include "Support/Options.h"

typedef struct writer {
  tf_context *context;
  const tf_module *module;
  const tf_lower_options *options;
  const tf_object_options *object;
  tf_string text;
  const char *result;
} writer;

/* ---- Names ---- */
static const char *stem_of(const tf_module *module) {
  if (module->name) return module->name;
  if (!module->function_count || !module->functions[0]->loc.line) return "module";
  const char *path = tf_context_source_name(module->context, module->functions[0]->loc.file);
  const char *slash = strrchr(path, '/');
  const char *stem = slash ? slash + 1 : path, *dot = strrchr(stem, '.');
  size_t length = dot && dot != stem ? (size_t)(dot - stem) : strlen(stem);
  return length ? tf_arena_strndup(&module->context->arena, stem, length) : "module";
}

/* Prefix and stem in capitals, for the macro that names the target. */
static const char *macro_name(writer *w) {
  tf_string text;
  tf_string_init(&text, &w->context->arena);
  const char *parts[] = {w->object->prefix ? w->object->prefix : "", stem_of(w->module)};
  for (int part = 0; part < 2; part++)
    for (const char *at = parts[part]; *at; at++) {
      unsigned char c = (unsigned char)*at;
      tf_string_printf(&text, "%c", c < 128 && isalnum(c) ? toupper(c) : '_');
    }
  return isdigit((unsigned char)text.text[0]) ? tf_arena_printf(&w->context->arena, "TIR_%s", text.text) : text.text;
}

/* ---- One function ---- */
static void write_shape(writer *w, const tf_type *type) {
  unsigned rank = tf_type_rank(type);
  tf_string_puts(&w->text, " (");
  for (unsigned axis = 0; axis < rank; axis++)
    tf_string_printf(&w->text, "%s%s", axis ? ", " : "", tf_dim_print(w->context, tf_type_extent(type, axis)));
  tf_string_puts(&w->text, rank == 1 ? ",)" : ")");
  const tf_layout *layout = tf_type_layout(type);
  if (layout && tf_layout_get_kind(layout) == TF_LAYOUT_PLAIN)
    tf_string_printf(&w->text, ", %s", tf_layout_print(w->context, layout));
}

static void write_param(writer *w, const tf_stmt *function, const char *name, unsigned index) {
  const tf_expr *param = function->function.params[index];
  const tf_type *type = param->type;
  bool scalar = tf_type_is_scalar(type), host = tf_type_storage(type) == TF_STORAGE_HOST;
  bool output = index + function->function.output_count >= function->function.param_count;
  tf_string_printf(&w->text, " *   %s: %s", name, tf_dtype_name(tf_type_dtype(type)));
  if (scalar && strncmp(tf_host_c_type(tf_type_dtype(type)), "uint", 4) == 0 &&
      tf_dtype_get_class(tf_type_dtype(type)) == TF_CLASS_FLOAT)
    tf_string_puts(&w->text, ", its bits");
  if (!scalar) write_shape(w, type);
  if (!scalar) tf_string_puts(&w->text, host ? ", host memory" : ", device memory");
  if (param->var.is_const) tf_string_puts(&w->text, ", only read");
  if (!scalar && output) tf_string_puts(&w->text, ", output (made if all zero)");
  tf_string_puts(&w->text, "\n");
}

typedef struct ranges {
  writer *w;
  struct {
    TF_VEC(const char *);
  } seen;
} ranges;

static void write_range(void *user, const char *name, int64_t lo, int64_t hi) {
  ranges *r = user;
  for (size_t i = 0; i < r->seen.count; i++)
    if (strcmp(r->seen.items[i], name) == 0) return;
  TF_VEC_PUSH(&r->w->context->arena, &r->seen, name);
  tf_string_printf(&r->w->text, " *   %lld <= %s < %lld\n", (long long)lo, name, (long long)hi);
}

static void write_comment(writer *w, const tf_stmt *function, const char *const *params) {
  ranges r = {.w = w};
  tf_string_printf(&w->text, "/* %s\n", function->function.name);
  for (unsigned i = 0; i < function->function.param_count; i++)
    write_param(w, function, params[i], i);
  for (unsigned i = 0; i < function->function.param_count; i++)
    for (unsigned axis = 0; axis < tf_type_rank(function->function.params[i]->type); axis++)
      tf_dim_visit_vars(tf_type_extent(function->function.params[i]->type, axis), write_range, &r);
  tf_string_puts(&w->text, " */\n");
}

static void write_prototype(writer *w, const tf_stmt *function, const char *name, const char *const *params) {
  tf_string_printf(&w->text, "tf_status %s(tf_runtime *runtime, tf_stream stream", name);
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_expr *param = function->function.params[i];
    if (tf_is_scalar(param))
      tf_string_printf(&w->text, ", %s %s", tf_host_c_type(tf_type_dtype(param->type)), params[i]);
    else
      tf_string_printf(&w->text, ", DLTensor *%s", params[i]);
  }
  tf_string_puts(&w->text, ");\n\n");
}

/* ---- The file ---- */
static void write_file(writer *w, const char *target) {
  const char *const *names = tf_host_c_names(w->module, w->object->prefix);
  const char *macro = macro_name(w),
             *guard = names[0]; /* a program has one function of a name, so one header of a guard */
  tf_string_printf(
      &w->text,
      "/* Entries of %s, compiled by tf-llc; link the object and -ltilefoundry-runtime.\n"
      " *\n"
      " * Each function checks its arguments, all of them before anything is launched, and returns what\n"
      " * tf_entry_call of tilefoundry/Runtime.h does; tf_runtime_message(runtime) is the text of a failure.\n"
      " * stream is a CUstream of the runtime's context, NULL the default one. A DLTensor is read during the call\n"
      " * only. The kernels are loaded at the first call in a runtime. */\n"
      "#ifndef TIR_H_%s\n#define TIR_H_%s\n\n"
      "#include <stdbool.h>\n#include <stdint.h>\n\n#include <tilefoundry/Runtime.h>\n\n"
      "/* What the kernels were compiled for: tf_device_options.target. */\n"
      "#define %s_TARGET \"%s\"\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
      stem_of(w->module), guard, guard, macro, target);
  const tf_stmt *function;
  for (unsigned i = 0; (function = tf_host_entry(w->module, i)); i++) {
    const char *const *params = tf_host_c_params(w->context, function);
    write_comment(w, function, params);
    write_prototype(w, function, names[i], params);
  }
  tf_string_puts(&w->text, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* The one target of all kernels; which it is has been checked when the PTX was made. */
static const tf_target *target_of(const writer *w) {
  if (w->options->target) return w->options->target;
  for (unsigned i = 0; i < w->module->function_count; i++) {
    const tf_target *target = tf_function_target(w->module->functions[i]);
    if (target && !tf_target_is_cpu(target)) return target;
  }
  return tf_target_default();
}

/* The same refusal that the object gets. */
static tf_status check_entry(const writer *w) {
  const tf_kernel_facts only = {.function = tf_host_derived(w->module)};
  const tf_module_facts facts = {
      .module = w->module, .chosen_entry = w->options->entry, .kernel_count = only.function != NULL, .kernels = &only};
  const char *name;
  tf_status status = tf_manifest_default_entry(&facts, &name);
  return status == TF_OK ? tf_host_require_entry((void *)(uintptr_t)w->module) : status;
}

static tf_status write(void *user) {
  writer *w = user;
  tf_status status = tf_lower_verify(w->module, w->options);
  if (status == TF_OK) status = check_entry(w);
  if (status != TF_OK) return status;
  tf_string_init(&w->text, &w->context->arena);
  write_file(w, tf_target_name(target_of(w)));
  w->result = w->text.text;
  return TF_OK;
}

tf_status tf_emit_header(const tf_module *module, const tf_lower_options *options, const tf_object_options *object,
                         const char **out) {
  tf_lower_options lower;
  tf_object_options known = TF_OBJECT_OPTIONS_INIT;
  if (!module || !out || !tf_lower_options_read(&lower, options) || !tf_options_read(&known, sizeof known, object))
    return TF_INVALID_ARGUMENT;
  writer w = {.context = tf_module_context(module), .module = module, .options = &lower, .object = &known};
  tf_status status = tf_context_try(w.context, write, &w);
  if (status == TF_OK) *out = w.result;
  return status;
}
