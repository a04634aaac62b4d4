/* tf-llc: reads a .tir file and writes its canonical text, LLVM IR, PTX, a cubin, the manifest, an object or
 * its header. */
#include "Llc.h"

#include <stdlib.h>
#include <string.h>

static void print_diagnostic(void *user, const tf_diagnostic *diagnostic) {
  fputs(tf_diagnostic_render(user, diagnostic), stderr);
}

static void print_parsed(const llc_options *options, const tf_module *module) {
  const char *after = options->lower.print_after, *text;
  if (after && (strcmp(after, "parse") == 0 || strcmp(after, "all") == 0) && tf_print(module, &text) == TF_OK)
    fprintf(stderr, "# ---- after parse ----\n%s", text);
}

static int verify(const tf_module *module, llc_options *options) {
  tf_verify_options verify_options = TF_VERIFY_OPTIONS_INIT;
  verify_options.target = options->lower.target;
  double start = llc_now();
  tf_status status = tf_verify(module, &verify_options);
  llc_times_pass(&options->times, "verify", llc_now() - start);
  llc_times_end(&options->times);
  return status == TF_OK ? 0 : 1;
}

/* Everything for one part in one context; `output` receives the result. */
static int compile(llc_options *options, tf_context *context, const char *name, const llc_text *text,
                   llc_text *output) {
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  const tf_module *module = NULL;
  parse.define_count = options->define_count;
  parse.defines = options->defines;
  llc_times_begin(&options->times);
  if (tf_parse(context, name, text->bytes, text->length, &parse, &module) != TF_OK) return 1;
  llc_times_pass(&options->times, "parse", llc_now() - options->times.begin);
  print_parsed(options, module);
  if (options->verify_only) return verify(module, options);
  return llc_emit_module(options, module, !options->verify_diagnostics, output);
}

static int run_part(llc_options *options, const char *name, const llc_text *text, llc_text *output) {
  tf_context *context = NULL;
  if (tf_context_create(&context) != TF_OK) return 1;
  if (!options->verify_diagnostics) tf_context_set_diag_handler(context, print_diagnostic, context);
  if (options->cpu) options->lower.target = tf_target_get(context, options->cpu);
  int status = compile(options, context, name, text, output);
  if (options->verify_diagnostics) status = llc_diagnostics_match(context, name, text->bytes) ? 0 : 1;
  tf_context_destroy(context);
  return status;
}

/* Results of several parts are separated as the parts were. */
static bool append(llc_text *all, const llc_text *part, bool separate) {
  static const char separator[] = "# -----\n";
  size_t extra = separate ? sizeof separator - 1 : 0;
  char *bytes = realloc(all->bytes, all->length + extra + part->length + 1);
  if (!bytes) return false;
  memcpy(bytes + all->length, separator, extra);
  if (part->length) memcpy(bytes + all->length + extra, part->bytes, part->length);
  all->bytes = bytes;
  all->length += extra + part->length;
  return true;
}

static int run_parts(llc_options *options, const llc_parts *parts, llc_text *all) {
  const char *name = strcmp(options->input, "-") == 0 ? "<stdin>" : options->input;
  int status = 0;
  for (size_t i = 0; i < parts->count; i++) {
    llc_text output = {NULL, 0};
    if (run_part(options, name, &parts->items[i], &output) != 0) status = 1;
    if (!append(all, &output, i > 0)) status = 1;
    free(output.bytes);
  }
  return status;
}

static int run(llc_options *options) {
  llc_text text, all = {NULL, 0};
  if (!llc_read(options->input, &text)) {
    free(text.bytes);
    return 1;
  }
  llc_parts parts = llc_split(&text, options->split_input);
  int status = run_parts(options, &parts, &all);
  bool silent = options->verify_only || options->verify_diagnostics;
  if (status == 0 && !silent && !llc_write(options->output, all.bytes, all.length)) status = 1;
  llc_parts_free(&parts);
  free(text.bytes);
  free(all.bytes);
  return status;
}

int main(int argc, char **argv) {
  llc_options options;
  llc_options_parse(argc, argv, &options);
  int status = 0;
  if (options.print_ops)
    llc_print_ops(stdout, strcmp(options.print_ops, "markdown") == 0);
  else
    status = run(&options);
  llc_options_release(&options);
  return status;
}
