/* One CTA for all: tensors whose sizes are known at launch only, brought down to what one CTA has of them.
 *
 *   (8, W) over W CTAs, 4 threads                        of one CTA: (8, 1)
 *     {W CTAs: column} {4 threads: 2 rows} {2 local: row}    {4 threads: 2 rows} {2 local: row}
 *     steps 1, 2*W, W                                        steps 2, 1
 *
 * Where all tensors of a statement are dealt to CTAs alike, or broadcast along what CTAs walk, two elements are the same element
 * of their CTA iff their coordinates agree apart from what the CTA adds to each. So every axis may be as short as what one CTA
 * reaches of it, and steps are those of the shortened shape: static wherever the local parts are. */
#ifndef TF_IR_SHARE_H
#define TF_IR_SHARE_H

#include "IR/Ownership.h"

typedef struct tf_share {
  const tf_ownership *ownership;
  const tf_type *type;
} tf_share;

/* What the caller knows of factors that mesh axes walk. `share` is the number of the tensor that the factor belongs to. */
typedef struct tf_share_query {
  bool (*is_cta)(void *user, unsigned share, const tf_factor *factor);
  /* Whether the axes of two CTA factors, of share 0 and of another one, mean the same coordinate. */
  bool (*is_same)(void *user, const tf_factor *first, unsigned share, const tf_factor *other);
  void *user;
} tf_share_query;

/* Replaces the shares of one statement, the destination first, the others broadcast into it. False (nothing changed) if they are
 * dealt to CTAs in different ways, a factor crosses axes, or what a CTA has of an axis is not static. */
bool tf_shares_of_one_cta(tf_context *context, unsigned count, tf_share *shares, const tf_share_query *query);

/* Whether some extent behind the first axis is known at launch only. */
bool tf_share_is_open(const tf_share *share);

#endif
