/* The manifest writer: module and facts in, JSON text by docs/manifest.schema.json out. */
#ifndef TF_LOWER_MANIFEST_H
#define TF_LOWER_MANIFEST_H

#include "LowerToLLVM/KernelFacts.h"

/* Writes the manifest of a verified module. The text ends with a newline, is equal for equal input, and belongs to the
 * context. TF_VERIFY after a diagnostic when the entry that was asked for does not exist, or when several CPU functions
 * leave it open. TF_OUT_OF_MEMORY; TF_INVALID_ARGUMENT when a name is not UTF-8. */
TF_NODISCARD tf_status tf_manifest_write(const tf_module_facts *facts, const char **out);

/* The entry that is meant when a caller names none; *name is null if nothing can be run without being named. TF_VERIFY as
 * above. */
TF_NODISCARD tf_status tf_manifest_default_entry(const tf_module_facts *facts, const char **name);

#endif
