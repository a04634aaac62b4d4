/* Between the files that make up Access.h. */
#ifndef TF_LOWER_ACCESS_IMPL_H
#define TF_LOWER_ACCESS_IMPL_H

#include "LowerToLLVM/Access.h"
#include "LowerToLLVM/IntMath.h"

/* Numbers the local digits that positions count (those without a loop), and counts the positions. */
void tf_driver_number(tf_driver *driver);
/* Cuts local digits at the axes of the driver's shape; positions keep their numbers. False if one straddles an axis. */
bool tf_driver_split_axes(tf_lowering *lowering, tf_driver *driver);
/* Cuts the lower part of `width` steps off a local digit: {extent} becomes {width} {extent / width}; the lower part keeps its place,
 * the upper one follows it. Nothing if there is no upper part, or no room. */
void tf_driver_cut(tf_lowering *lowering, tf_driver *driver, unsigned which, unsigned width);
/* Replaces a plain driver's digits: chunks of `chunk` elements go round-robin to `threads` threads, this one is `rank`. */
void tf_driver_deal(tf_lowering *lowering, tf_driver *driver, int64_t chunk, int64_t threads, LLVMValueRef rank);
/* Whether the position is below the driver's limit, i1; null: provably. */
LLVMValueRef tf_driver_exists(tf_lowering *lowering, const tf_driver *driver, int64_t position);

/* Register numbers without the window's start: of the tensor's own local values, and of the driver's positions (null if
 * they differ between threads). */
const int32_t *tf_tensor_numbers(tf_lowering *lowering, const tf_tensor *tensor, int64_t *count);
const int32_t *tf_driver_registers(tf_lowering *lowering, const tf_driver *driver, const tf_tensor *tensor);
/* Null if the ownerships cannot be compared (symbolic). */
const tf_pairing *tf_lower_pairing(tf_lowering *lowering, const tf_ownership *to, const tf_type *to_type,
                                   const tf_ownership *from, const tf_type *from_type);

/* Two tensors of a statement, `from` broadcast to `to`. */
typedef struct tf_comparison {
  const tf_ownership *to, *from;
  const tf_type *to_type, *from_type;
} tf_comparison;
/* Replaces both sides by what the threads of one CTA have of them; false if that is symbolic. */
bool tf_lower_comparable(tf_lowering *lowering, tf_comparison *comparison);

/* tf_access_of, or, for registers at positions that depend on the thread, by a table (Varying.c). False if some thread lacks
 * an element. */
bool tf_access_varying(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out);
/* A register tensor addressed like memory, which puts it into local memory (and says so): for elements that are not at the same
 * position for all threads. False if its values are not numbered by strides. */
bool tf_access_indexed(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out);
/* The same for values that are numbered in any other way: a table says which one an element is. False if the thread does not hold
 * the whole tensor, or the table would be too large. */
bool tf_access_by_index(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out);
/* Restricts the driver, thread by thread, to the elements that the thread sees of another tensor, too. False if that is symbolic
 * or too large. The rest do not exist for it; how wide chunks may be, seen_width says. */
bool tf_driver_keep_seen(tf_lowering *lowering, const tf_tensor *tensor, tf_driver *driver);
LLVMValueRef tf_driver_sees(tf_lowering *lowering, const tf_driver *driver, int64_t position); /* i1 */
LLVMValueRef tf_varying_number(tf_lowering *lowering, const tf_access *access, int64_t position);

LLVMValueRef tf_access_address(tf_lowering *lowering, const tf_access *access, int64_t position);
bool tf_access_is_monotonic(const tf_access *access, unsigned inner);
/* Whether aligned chunks of `width` positions exist as a whole or not at all. */
bool tf_access_is_coarse(tf_lowering *lowering, const tf_access *access, unsigned inner, unsigned width);

#endif
