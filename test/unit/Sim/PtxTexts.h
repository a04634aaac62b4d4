/* Collects the PTX texts of the unit tests, so that ptxas can judge them too (test ptx.assembles).
 *
 * When the environment names a folder in TF_SIM_PTX, every text that the simulated device loads (or refuses as a real
 * instruction that it does not run) leaves a file <hash>.ptx there: ptxas must accept it. Texts that are malformed on
 * purpose leave nothing, unless ptx_refused says that ptxas must refuse them as well: those are <hash>.bad.
 * Test programs are linked with --wrap=tf_sim_module_load, so no test has to do anything for it. */
#ifndef TF_TEST_SIM_PTX_TEXTS_H
#define TF_TEST_SIM_PTX_TEXTS_H

void ptx_refused(const char *text);

#endif
