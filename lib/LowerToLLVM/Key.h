/* What an executable is kept under in the disk cache: everything that its bytes depend on.
 *
 *   versions and builds   of the layout, this project, LLVM, and the linker's ids of both libraries' code: a compiler that was
 *                         built anew does not read what the one before it wrote
 *   machine               the host's triple
 *   options               every field of tf_lower_options that changes an output, and of tf_executable_options
 *   module                Fingerprint.h
 *
 * Not in it are command-line options of LLVM that the process has set. */
#ifndef TF_LOWER_KEY_H
#define TF_LOWER_KEY_H

#include <tilefoundry/Executable.h>

#include "Support/Arena.h"

/* Appends the key of a verified module. False if it has none and must not be cached: options that print, code of callbacks, a
 * module without canonical text, an object that was linked without a build id. Exhaustion unwinds. */
bool tf_executable_key(const tf_module *module, const tf_lower_options *lower, const tf_executable_options *options,
                       tf_string *out);

#endif
