/* Line information, when asked for; every function does nothing otherwise. */
#ifndef TF_LOWER_DEBUG_H
#define TF_LOWER_DEBUG_H

#include "LowerToLLVM/Lowering.h"

void tf_debug_begin_module(tf_module_lowering *module, const char *file);
void tf_debug_begin_function(tf_lowering *lowering, const char *name, tf_loc loc);
void tf_debug_end_module(tf_module_lowering *module);

#endif
