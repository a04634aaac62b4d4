/* All that a module's outputs can depend on, as bytes: equal bytes, equal outputs.
 *
 *   canonical text | files, lines and columns of the statements, in the order of the text | names as the author wrote them
 *
 * The canonical text leaves out where things stand (messages, .loc lines and the manifest tell it) and numbers names that occur
 * twice. Expressions have places, too, but only diagnostics of the verifier name them. What callbacks of C do is not in it. */
#ifndef TF_IR_FINGERPRINT_H
#define TF_IR_FINGERPRINT_H

#include <stdbool.h>

#include <tilefoundry/IR.h>

#include "Support/Arena.h"

/* Appends the bytes. False if the module has no canonical text, or has an intrinsic that a callback lowers. Exhaustion unwinds
 * as everywhere in a context. */
bool tf_module_fingerprint(const tf_module *module, tf_string *out);

#endif
