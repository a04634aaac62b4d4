/* Columns of Targets.def that the verifier and the lowering read. Static storage, thread-safe. */
#ifndef TF_IR_TARGET_H
#define TF_IR_TARGET_H

#include <tilefoundry/IR.h>

/* The least PTX ISA version (times 10) that has the target; 0 for cpu. */
unsigned tf_target_min_ptx(const tf_target *target);
/* Most bytes of shared memory that a block may use with the opt-in to large blocks of it; 0 for cpu. */
int64_t tf_target_smem_limit(const tf_target *target);
/* What a kernel is compiled for if neither source nor options say: sm_80. */
const tf_target *tf_target_default(void);
/* All names that tf_target_get knows, in the order of the table, for messages: index from 0, null past the end. */
const char *tf_target_known_name(unsigned index);
/* Whether there is such a version of the PTX ISA, times 10. */
bool tf_ptx_version_is_known(unsigned version);

#endif
