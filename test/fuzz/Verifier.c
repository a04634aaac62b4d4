/* Fuzzed: the verifier. Whatever the parser accepts, verifying ends with TF_OK or with errors, each with a place in the text;
 * again it says the same, and of the printed module it says the same too. */
#include "Fuzz.h"

#include <string.h>
#include <tilefoundry/Text.h>
#include <tilefoundry/Verify.h>

/* Verifies from a clean slate; the diagnostics stay in the context. */
static tf_status verify(tf_context *context, const tf_module *module) {
  tf_context_clear_diagnostics(context);
  tf_status status = tf_verify(module, NULL);
  fuzz_demand(status == TF_OK || status == TF_VERIFY, "an unknown status");
  fuzz_demand((status == TF_OK) == (tf_context_error_count(context) == 0), "status and diagnostics disagree");
  return status;
}

/* What was said, as a number: the rows' ids in order. */
static uint64_t said(const tf_context *context) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++)
    hash = (hash ^ (uint64_t)tf_context_diagnostic(context, i)->id) * 1099511628211u;
  return hash;
}

static void verify_printed(tf_context *context, const tf_module *module, uint64_t expected) {
  const char *text;
  const tf_module *again;
  fuzz_demand(tf_print(module, &text) == TF_OK, "a module does not print");
  fuzz_demand(tf_parse(context, "printed", text, strlen(text), NULL, &again) == TF_OK, "printed text does not parse");
  (void)verify(context, again);
  fuzz_demand(said(context) == expected, "the printed module is verified differently");
}

static fuzz_reach run(const char *bytes, size_t size) {
  tf_context *context;
  const tf_module *module = NULL;
  fuzz_reach reach = FUZZ_REFUSED;
  if (tf_context_create(&context) != TF_OK) return FUZZ_REFUSED;
  if (tf_parse(context, "input", bytes, size, NULL, &module) == TF_OK) {
    reach = verify(context, module) == TF_OK ? FUZZ_ACCEPTED : FUZZ_READ;
    fuzz_diagnostics(context);
    uint64_t first = said(context);
    (void)verify(context, module);
    fuzz_demand(said(context) == first, "verified again, the module is judged differently");
    verify_printed(context, module, first);
  }
  tf_context_destroy(context);
  return reach;
}

const fuzz_target fuzz_this = {"verifier", run, fuzz_tir_words, {"not read", "refused", "accepted"}};
