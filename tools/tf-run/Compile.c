/* TIR to PTX, manifest and machine code of the host functions through the public API of the compiler; its diagnostics go to stderr as they come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/TileFoundry.h>

#include "Source.h"

typedef struct compilation {
  tf_context *context;
  const tf_run_options *options;
  tf_run_source *source;
  const char *text;
  size_t size;
} compilation;

static void show(void *user, const tf_diagnostic *diagnostic) {
  fputs(tf_diagnostic_render(user, diagnostic), stderr);
}

/* Manifest and host code, whose emission verifies once more: what the PTX's has said already is not said again. */
static tf_status emit_rest(compilation *c, const tf_module *module, const tf_lower_options *options,
                           const char **manifest) {
  tf_run_source *source = c->source;
  size_t said = tf_context_diagnostic_count(c->context);
  tf_context_set_diag_handler(c->context, NULL, NULL);
  tf_status status = tf_emit_manifest(module, options, manifest);
  if (status == TF_OK && !c->options->kernel) status = tf_host_code_create(module, options, &source->code);
  if (source->code) source->entries = tf_host_code_entries(source->code, &source->entry_count);
  for (size_t i = said; status != TF_OK && i < tf_context_diagnostic_count(c->context); i++)
    show(c->context, tf_context_diagnostic(c->context, i));
  return status;
}

static tf_status emit(compilation *c, const tf_module *module) {
  tf_lower_options options = TF_LOWER_OPTIONS_INIT;
  const char *ptx = NULL, *manifest = NULL;
  options.entry = c->options->entry;
  options.debug_lines = true;
  if (c->options->target) {
    options.target = tf_target_get(c->context, c->options->target);
    if (!options.target) {
      fprintf(stderr, "%s: error: unknown target '%s'\n", c->source->name, c->options->target);
      return TF_INVALID_ARGUMENT;
    }
  }
  tf_status status = tf_emit_ptx(module, &options, &ptx);
  if (status == TF_OK) status = emit_rest(c, module, &options, &manifest);
  if (status != TF_OK) return status;
  c->source->ptx = strdup(ptx);
  c->source->manifest = strdup(manifest);
  c->source->ptx_size = strlen(ptx);
  return c->source->ptx && c->source->manifest ? TF_OK : TF_OUT_OF_MEMORY;
}

static tf_status compile(void *user) {
  compilation *c = user;
  tf_define defines[TF_RUN_MAX_LIST];
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  options.defines = defines;
  options.define_count = c->options->defines.count;
  for (unsigned i = 0; i < c->options->defines.count; i++)
    defines[i] = (tf_define){c->options->defines.items[i].name, c->options->defines.items[i].value};
  const tf_module *module = NULL;
  tf_status status = tf_parse(c->context, c->source->name, c->text, c->size, &options, &module);
  return status == TF_OK ? emit(c, module) : status;
}

bool tf_run_compile(const tf_run_options *options, const char *text, size_t size, tf_run_source *source) {
  compilation c = {.options = options, .source = source, .text = text, .size = size};
  tf_status status = tf_context_create(&c.context);
  if (status == TF_OK) {
    tf_context_set_diag_handler(c.context, show, c.context);
    status = tf_context_try(c.context, compile, &c);
    if (status != TF_OK && tf_context_error_count(c.context) == 0 && status != TF_INVALID_ARGUMENT)
      fprintf(stderr, "%s: error: %s\n", source->name, tf_status_name(status));
  }
  tf_context_destroy(c.context);
  return status == TF_OK;
}

void tf_run_free_code(tf_run_source *source) {
  tf_host_code_destroy(source->code);
}
