/* The threads of one reduction group, as digits that lanes and warps walk.
 *
 *   a digit of stride S and extent e in linear thread ids moves within a warp (S*e <= 32), from warp to warp (32 | S), or
 *   both: then it is cut where S * e1 = 32.
 *
 *   thread id = … + lane digit * S + …             16 lanes by 2, across 4 warps:   {16: 2} lanes   {4: 32} warps */
#ifndef TF_LOWER_REDUCE_GROUP_H
#define TF_LOWER_REDUCE_GROUP_H

#include "LowerToLLVM/AccessImpl.h"

struct tf_reduction;
struct tf_projection;

typedef struct tf_group_digit {
  int64_t extent, stride; /* in lanes, or in warps */
  LLVMValueRef value;     /* this thread's, i32 */
  tf_digit of;            /* the mesh digit that it is a part of: (that / below) % extent */
  int64_t below;
} tf_group_digit;

typedef struct tf_group {
  unsigned lane_count, warp_count;
  tf_group_digit lanes[TF_MAX_FACTORS], warps[TF_MAX_FACTORS];
  /* Everything else that tells groups apart within the block: a number below `groups`, i32. */
  int64_t groups;
  LLVMValueRef index;
  int64_t lane_members, warp_members; /* products of the extents */
  bool aligned;                       /* every lane digit stands at its stride's place in the lane number */
  uint32_t pattern;                   /* lanes of a group whose first member is lane 0 */
  uint32_t joined[TF_MAX_BLOCK / 32]; /* per warp: all warps that it meets, as bits */
} tf_group;

/* From the source's driver and what its digits mean for the result. False if a digit is neither (see above): such a
 * reduction is staged. */
bool tf_group_of(tf_lowering *lowering, const struct tf_reduction *r, const tf_driver *driver,
                 const struct tf_projection *results, tf_group *out);

/* This thread's digit of a mesh digit in numbers, for thread t of CTA 0; false if it has no place. */
bool tf_digit_of_thread(const tf_digit *digit, int64_t thread, int64_t *out);

/* All groups that share warps meet; orders their shared memory. */
void tf_group_barrier(tf_lowering *lowering, const tf_group *group);

#endif
