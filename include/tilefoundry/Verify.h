/* The verifier: every rule of the language that a parsed or built module can break. */
#ifndef TILEFOUNDRY_VERIFY_H
#define TILEFOUNDRY_VERIFY_H

#include <tilefoundry/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tf_verify_options {
  size_t size;
  const tf_target *target; /* overrides the functions' CUDA targets; null keeps them */
} tf_verify_options;
#define TF_VERIFY_OPTIONS_INIT {sizeof(tf_verify_options), 0}

/* Checks the whole module and reports every fault as a diagnostic with its rule, place and notes. TF_OK if there is no
 * error (warnings and remarks may have been reported), else TF_VERIFY. The module is not changed. */
TF_API TF_NODISCARD tf_status tf_verify(const tf_module *module, const tf_verify_options *options);

#ifdef __cplusplus
}
#endif
#endif
