/* The steps of the entry points, for those that take several of them: a module is verified once and lowered once. */
#ifndef TF_LOWER_PROGRAM_H
#define TF_LOWER_PROGRAM_H

#include <tilefoundry/Lower.h>

/* The caller's options, as tf_options_read takes them. False also for a pass or a version that does not exist. */
bool tf_lower_options_read(tf_lower_options *known, const tf_lower_options *options);

/* tf_verify for the options' target, reported to their time callback. */
TF_NODISCARD tf_status tf_lower_verify(const tf_module *module, const tf_lower_options *options);

/* PTX and manifest of a verified module; strings of the context. */
TF_NODISCARD tf_status tf_lower_program(const tf_module *module, const tf_lower_options *options, const char **ptx,
                                        const char **manifest);

#endif
