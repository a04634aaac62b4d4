/* Which forms of the instruction table the unit tests have executed.
 *
 * A form is a row of an Insn table with one alternative of one of its modifier slots: `add.rn?.ftz?.f32|f64` has five
 * (rn, ftz, f32, f64 and the row itself). Each test program notes the modules that it has run and, when the environment
 * names a folder in TF_SIM_COVERAGE, leaves a file of one byte per form there; CoverageTest unites them. */
#ifndef TF_TEST_SIM_COVERAGE_H
#define TF_TEST_SIM_COVERAGE_H

#include "Sim/Sim.h"

/* Notes all forms of the module's functions: call it after a launch that ended well. */
void coverage_note(const tf_sim_module *module);
/* Adds the file's forms to those noted. */
bool coverage_read(const char *path);
/* Calls `each` with a description of every form that was not noted; returns their number; *all is that of all forms. */
size_t coverage_missing(void (*each)(const char *form), size_t *all);

#endif
