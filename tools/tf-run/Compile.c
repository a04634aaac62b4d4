/* TIR to what is run of it, compiled or from the disk cache, through the public API of the compiler; its diagnostics go to stderr
 * as they come. */
#include <stdio.h>

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

static tf_status make(compilation *c, const tf_module *module) {
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  tf_executable_options options = TF_EXECUTABLE_OPTIONS_INIT;
  tf_run_source *source = c->source;
  lower.entry = c->options->entry;
  lower.debug_lines = true;
  if (c->options->target) {
    lower.target = tf_target_get(c->context, c->options->target);
    if (!lower.target) {
      fprintf(stderr, "%s: error: unknown target '%s'\n", source->name, c->options->target);
      return TF_INVALID_ARGUMENT;
    }
  }
  options.host_code = !c->options->kernel;
  tf_status status = tf_executable_create(module, &lower, &options, &source->executable);
  if (status != TF_OK) return status;
  source->ptx = tf_executable_ptx(source->executable, &source->ptx_size);
  source->manifest = tf_executable_manifest(source->executable, NULL);
  source->entries = tf_executable_entries(source->executable, &source->entry_count);
  return TF_OK;
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
  return status == TF_OK ? make(c, module) : status;
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

void tf_run_free_executable(tf_run_source *source) {
  tf_executable_destroy(source->executable);
}
