/* Fuzzed: the text stage as a whole. Whatever the bytes are, parsing ends with a module or with diagnostics; a module prints,
 * the print reads back equal and prints the same. Built with -fsanitize=fuzzer this is a libFuzzer target; otherwise
 * parser_replay.c calls it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilefoundry/Text.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken promise stops the fuzzer with the input that broke it. */
static void demand(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "parser: %s\n", what);
  abort();
}

static void read_back(tf_context *context, const tf_module *module) {
  const char *once, *twice;
  const tf_module *again;
  tf_status status = tf_print(module, &once);
  if (status == TF_INVALID_ARGUMENT) return; /* a name that text cannot hold, reported */
  demand(status == TF_OK, "a module does not print");
  demand(tf_parse(context, "printed", once, strlen(once), NULL, &again) == TF_OK, "printed text does not parse");
  demand(tf_print(again, &twice) == TF_OK && strcmp(once, twice) == 0, "printed text prints differently");
  demand(tf_module_equal(module, again), "printed text is another module");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tf_context *context;
  const tf_module *module = NULL;
  if (tf_context_create(&context) != TF_OK) return 0;
  tf_status status = tf_parse(context, "input", (const char *)data, size, NULL, &module);
  size_t errors = tf_context_error_count(context);
  demand(status == TF_OK || status == TF_PARSE, "an unknown status");
  demand((status == TF_OK) == (errors == 0) && (status == TF_OK) == (module != NULL),
         "status and diagnostics disagree");
  for (size_t i = 0; i < tf_context_diagnostic_count(context) && i < 8; i++)
    demand(tf_diagnostic_render(context, tf_context_diagnostic(context, i)) != NULL, "a diagnostic does not render");
  if (module) read_back(context, module);
  tf_context_destroy(context);
  return 0;
}
