/* Collects the PTX texts of the unit tests, so that ptxas can judge them too (test verify.ptx).
 *
 * When the environment names a folder in TF_SIM_PTX, every text that the simulated device loads leaves a file <hash>.ptx
 * there: ptxas must accept it. Texts that it refuses leave nothing unless a test says what ptxas must do.
 * Test programs are linked with --wrap=tf_sim_module_load, so no test has to do anything for it. */
#ifndef TF_TEST_SIM_PTX_TEXTS_H
#define TF_TEST_SIM_PTX_TEXTS_H

/* What ptxas must refuse, or accept although the simulated device does not run it. */
void ptx_refused(const char *text);
void ptx_accepted(const char *text);

#endif
