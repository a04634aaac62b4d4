/* Tensors that a caller leaves to the runtime: TF_ARGUMENT_OUTPUT for output parameters.
 *
 *   arguments   x  y=OUTPUT      the extents of y follow from x; the tensor is made, and the call is checked and run with
 *   outputs     x  y=made        it like with any other; it goes to the caller only if everything went well */
#ifndef TF_RUNTIME_OUTPUTS_H
#define TF_RUNTIME_OUTPUTS_H

#include "Runtime/RuntimeImpl.h"

typedef struct tf_outputs {
  tf_argument *arguments; /* the caller's, with tensors in the places of outputs */
  DLTensor *made;         /* one per argument; data and shape null where nothing was made */
} tf_outputs;

bool tf_outputs_are_wanted(const tf_argument *arguments, unsigned count);

/* Makes the tensors, in the runtime's current context. TF_LAUNCH if a parameter is no output, or an extent follows from
 * no other argument. On success tf_outputs_finish ends it. */
TF_NODISCARD tf_status tf_outputs_make(tf_program *program, const tf_msignature *signature,
                                       const tf_argument *arguments, unsigned count, tf_outputs *out);
/* After the call: gives the tensors to the caller if it ended well, else frees them. Returns `status`. */
tf_status tf_outputs_finish(tf_runtime *rt, tf_outputs *outputs, const tf_argument *arguments, unsigned count,
                            tf_status status);

#endif
