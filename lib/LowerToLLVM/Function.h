/* Kernels: what becomes a PTX .entry, its parameters and its name. */
#ifndef TF_LOWER_FUNCTION_H
#define TF_LOWER_FUNCTION_H

#include "LowerToLLVM/Lowering.h"

/* Lowers one verified kernel into the module and appends its facts to module->kernels. */
void tf_lower_kernel(tf_module_lowering *module, const tf_stmt *function);

/* The .entry's parameters: the declared ones in order, then the hidden shapes (of each DimVar at the first tensor axis that
 * names it, and of each axis that the kernel's own T.shape_of asks for) in (parameter, axis) order, then the grid barrier's
 * counters if used. In the context's arena. */
unsigned tf_kernel_params(tf_context *context, const tf_kernel *kernel, const tf_kernel_param **out);

/* A name that PTX can spell, and no other source name has: letters, digits and '_' stand for themselves, any other byte is
 * $xx in hexadecimal, and so is the first one of a name that PTX reserves. '$' is no character of source names, so the way
 * back is unique. */
const char *tf_escape_name(tf_context *context, const char *name);

#endif
