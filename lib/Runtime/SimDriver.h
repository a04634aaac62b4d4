/* What the runtime asks of the simulator beyond the driver table; implemented in lib/Sim (Driver.c). */
#ifndef TF_RUNTIME_SIMDRIVER_H
#define TF_RUNTIME_SIMDRIVER_H

#include <stdbool.h>

#include "Runtime/Driver.h"
#include "Sim/Sim.h"

/* Fills *out with the Driver API over a new simulated device of the named profile ("sm_80"), ordinal 0: every member is
 * set, `state`, `close`, `is_sim` and `take_fault` too. options may be null. TF_UNSUPPORTED: no such profile;
 * TF_OUT_OF_MEMORY. *out is untouched on failure. Several tables may be open at once, each with its own device. */
TF_NODISCARD tf_status tf_sim_driver_open(const char *profile, const tf_sim_options *options, tf_driver *out);

/* The counters of all launches since the table was opened, summed, with a breakdown per kernel: JSON, or a table for
 * people. malloc'ed. TF_UNSUPPORTED if the options did not ask for counters. */
TF_NODISCARD tf_status tf_sim_driver_counters(const tf_driver *driver, bool json, TF_GIVE char **out);

/* Fills device memory with noise and marks it as never written, for the init checker. The range must be alive. */
TF_NODISCARD tf_status tf_sim_driver_poison(const tf_driver *driver, CUdeviceptr address, size_t bytes);

/* Makes calls fail: rules as lib/Sim/Driver/Inject.c describes them, separated by commas; null or empty: none. Counting begins anew.
 * INVALID_ARGUMENT, with the rule and what is wrong with it in `message` (may be null), if the text is at fault; nothing
 * changes then. Not while other threads make calls. */
TF_NODISCARD tf_status tf_sim_driver_fail_calls(const tf_driver *driver, const char *rules, char *message,
                                                size_t message_size);
/* Calls of a function since rules were last set or the table was opened; of all functions if `name` is null. */
unsigned long long tf_sim_driver_calls(const tf_driver *driver, const char *name);

#endif
