/* Fuzzed: the text stage as a whole. Whatever the bytes are, parsing ends with a module or with diagnostics that have a place
 * in the text; a module prints, the print reads back equal and prints the same. */
#include "Fuzz.h"

#include <string.h>
#include <tilefoundry/Text.h>

static void read_back(tf_context *context, const tf_module *module) {
  const char *once, *twice;
  const tf_module *again;
  fuzz_demand(tf_print(module, &once) == TF_OK, "a module does not print");
  fuzz_demand(tf_parse(context, "printed", once, strlen(once), NULL, &again) == TF_OK, "printed text does not parse");
  fuzz_demand(tf_print(again, &twice) == TF_OK && strcmp(once, twice) == 0, "printed text prints differently");
  fuzz_demand(tf_module_equal(module, again), "printed text is another module");
}

static fuzz_reach run(const char *bytes, size_t size) {
  tf_context *context;
  const tf_module *module = NULL;
  if (tf_context_create(&context) != TF_OK) return FUZZ_REFUSED;
  tf_status status = tf_parse(context, "input", bytes, size, NULL, &module);
  size_t errors = tf_context_error_count(context);
  fuzz_demand(status == TF_OK || status == TF_PARSE, "an unknown status");
  fuzz_demand((status == TF_OK) == (errors == 0) && (status == TF_OK) == (module != NULL),
              "status and diagnostics disagree");
  fuzz_diagnostics(context);
  if (module) read_back(context, module);
  tf_context_destroy(context);
  return module ? FUZZ_READ : FUZZ_REFUSED;
}

const fuzz_target fuzz_this = {"parser", run, fuzz_tir_words, {"refused", "read"}};
