/* Launches belong to CPU functions, which become entries of the manifest; device code has none. */
#include "LowerToLLVM/Lowering.h"

void tf_lower_LAUNCH(tf_lowering *lowering, const tf_invocation *invocation) {
  (void)lowering, (void)invocation;
}
