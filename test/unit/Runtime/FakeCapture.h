/* The fake driver's captures: every stream that is captured is in the same one, and their graph is one. */
#ifndef TF_TEST_FAKECAPTURE_H
#define TF_TEST_FAKECAPTURE_H

#include <stdbool.h>

#include "Runtime/Driver.h"

bool fake_is_captured(CUstream stream);
/* The result of a call that waits, or that is not safe during a capture; counts those that are forbidden. */
CUresult fake_forbid(bool forbidden);
CUresult fake_check_safe(void);
/* The calling thread's mode is the usual one again. */
void fake_reset_mode(void);
/* Sets the table's functions for captures, user objects and host nodes. */
void fake_implement_captures(tf_driver *table);

#endif
