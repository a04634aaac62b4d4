/* The manifest as a whole: kernels, entries, the default entry, and the DimVars that all of them mention.
 *
 * Which entry is meant when none is named: the one that --entry or the module asks for, else the only CPU function,
 * else the entry that is derived from the module's only kernel. */
#include "LowerToLLVM/Manifest.h"

#include <string.h>

#include "LowerToLLVM/ManifestImpl.h"

/* The class's name, or the stem of the file that the functions stand in. */
static const char *module_name(tf_context *context, const tf_module *module) {
  if (module->name) return module->name;
  if (!module->function_count || !module->functions[0]->loc.line) return "module";
  const char *path = tf_context_source_name(context, module->functions[0]->loc.file);
  const char *slash = strrchr(path, '/');
  const char *stem = slash ? slash + 1 : path;
  const char *dot = strrchr(stem, '.');
  size_t length = dot && dot != stem ? (size_t)(dot - stem) : strlen(stem);
  return length ? tf_context_intern(context, stem, length) : "module";
}

static unsigned host_count(const tf_module *module, const tf_stmt **first) {
  unsigned count = 0;
  for (unsigned i = 0; i < module->function_count; i++)
    if (tf_function_is_host(module->functions[i]) && count++ == 0) *first = module->functions[i];
  return count;
}

/* The only kernel of a module without CPU functions. */
static const tf_kernel_facts *derived_from(const tf_module_facts *facts) {
  const tf_stmt *first = NULL;
  return !host_count(facts->module, &first) && facts->kernel_count == 1 ? facts->kernels : NULL;
}

static bool is_entry(const tf_module_facts *facts, const char *name) {
  const tf_kernel_facts *derived = derived_from(facts);
  if (derived) return strcmp(derived->function->function.name, name) == 0;
  const tf_stmt *function = tf_module_find(facts->module, name);
  return function && tf_function_is_host(function);
}

static tf_loc module_loc(const tf_module *module) {
  return module->function_count ? module->functions[0]->loc : TF_NO_LOC;
}

tf_status tf_manifest_default_entry(const tf_module_facts *facts, const char **name) {
  const tf_module *module = facts->module;
  const char *asked = facts->chosen_entry ? facts->chosen_entry : module->entry;
  const tf_stmt *first = NULL;
  unsigned hosts = host_count(module, &first);
  const tf_kernel_facts *derived = derived_from(facts);
  *name = asked ? asked : hosts ? first->function.name : derived ? derived->function->function.name : NULL;
  if (asked && !is_entry(facts, asked)) {
    tf_report(module->context, module_loc(module), ENTRY_UNKNOWN, asked);
    return TF_VERIFY;
  }
  if (!asked && hosts > 1) {
    tf_report(module->context, first->loc, ENTRY_OPEN, hosts);
    return TF_VERIFY;
  }
  return TF_OK;
}

static json_t *write_kernels(tf_manifest_writer *writer) {
  json_t *node = json_array();
  for (unsigned i = 0; i < writer->facts->kernel_count; i++)
    tf_manifest_push(writer, node, tf_manifest_kernel(writer, &writer->facts->kernels[i]));
  return node;
}

static json_t *write_entries(tf_manifest_writer *writer) {
  const tf_module *module = writer->facts->module;
  const tf_kernel_facts *derived = derived_from(writer->facts);
  json_t *node = json_array();
  if (derived) tf_manifest_push(writer, node, tf_manifest_derived_entry(writer, derived));
  for (unsigned i = 0; i < module->function_count; i++)
    if (tf_function_is_host(module->functions[i]))
      tf_manifest_push(writer, node, tf_manifest_entry(writer, module->functions[i]));
  return node;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static json_t *sorted_dims(tf_manifest_writer *writer) {
  size_t count = json_object_size(writer->dims), i = 0;
  const char **names = TF_ARENA_ARRAY(&writer->context->arena, const char *, count + 1);
  const char *name;
  json_t *value, *node = json_array();
  json_object_foreach(writer->dims, name, value) names[i++] = name;
  qsort(names, count, sizeof *names, compare_names);
  for (i = 0; i < count; i++)
    tf_manifest_push(writer, node, json_incref(json_object_get(writer->dims, names[i])));
  return node;
}

static json_t *write_module(tf_manifest_writer *writer, const char *entry) {
  const tf_module_facts *facts = writer->facts;
  const char *version =
      tf_arena_printf(&writer->context->arena, "%u.%u", facts->ptx_version / 10, facts->ptx_version % 10);
  json_t *kernels = write_kernels(writer), *entries = write_entries(writer);
  json_t *node = json_object();
  tf_manifest_put(writer, node, "version", json_integer(1));
  tf_manifest_put(writer, node, "module", json_string(module_name(writer->context, facts->module)));
  tf_manifest_put(writer, node, "target", json_string(tf_target_name(facts->target)));
  tf_manifest_put(writer, node, "ptx_version", json_string(version));
  tf_manifest_put(writer, node, "dims", sorted_dims(writer)); /* complete only now */
  tf_manifest_put(writer, node, "kernels", kernels);
  tf_manifest_put(writer, node, "entries", entries);
  tf_manifest_put(writer, node, "default_entry", entry ? json_string(entry) : json_null());
  return node;
}

/* A null part is a name that is not UTF-8 or memory that ran out; jansson does not say which. */
static tf_status failure_of(const tf_module *module) {
  for (unsigned i = 0; i < module->function_count; i++) {
    json_t *name = json_string(module->functions[i]->function.name);
    if (!name) return TF_INVALID_ARGUMENT;
    json_decref(name);
  }
  return TF_OUT_OF_MEMORY;
}

tf_status tf_manifest_write(const tf_module_facts *facts, const char **out) {
  const char *entry = NULL;
  tf_status status = tf_manifest_default_entry(facts, &entry);
  if (status != TF_OK) return status;
  tf_manifest_writer writer = {.context = facts->module->context, .facts = facts, .dims = json_object()};
  json_t *node = write_module(&writer, entry);
  char *text = writer.failed ? NULL : json_dumps(node, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
  if (text) *out = tf_arena_printf(&writer.context->arena, "%s\n", text);
  free(text);
  json_decref(node);
  json_decref(writer.dims);
  return text ? TF_OK : failure_of(facts->module);
}
