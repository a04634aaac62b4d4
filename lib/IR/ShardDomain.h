/* The canonical domain of a ShardLayout: unfactored splits become one axis per mesh axis, outermost first, then the block
 * that stays with the instance.
 *
 *   (2, 1536) on mesh (2, 4, 32), Split(0) Split(1) Split(1)   ->   2 axis 0 | 4 axis 1 | 32 axis 2 | 12 local
 *   (16 : 8) split by 8                                        ->   8 : 16 mesh | 2 : 8 local */
#ifndef TF_IR_SHARD_DOMAIN_H
#define TF_IR_SHARD_DOMAIN_H

#include <tilefoundry/Layout.h>

typedef struct tf_domain_axis {
  const tf_dim *extent;
  const tf_dim *stride; /* in the storage; null: the layout has no strides */
  int mesh_axis;        /* -1: local */
  unsigned layout_axis; /* the flattened axis of the layout that it came from */
} tf_domain_axis;

typedef struct tf_shard_domain {
  unsigned count;
  tf_domain_axis axes[TF_MAX_FACTORS];
  bool dealt;          /* elements are named by C order of the domain: no strides, or a Split of stride 0 */
  bool has_zero_split; /* some Split longer than 1 has stride 0: an instance's own storage */
  bool partial;
} tf_shard_domain;

/* The domain of a ShardLayout. False with *reason (a string of the context) for: a mesh whose rank differs from the number
 * of attributes, a Split of an axis that is not there, an indivisible split (also where a symbolic quotient does not
 * simplify), Dynamic, a layout inside that is not plain, more than TF_MAX_FACTORS axes. */
bool tf_shard_domain_of(tf_context *context, const tf_layout *layout, tf_shard_domain *out, const char **reason);

/* Steps of the domain's axes in C order of the domain; false on overflow. */
bool tf_shard_domain_order(tf_context *context, const tf_shard_domain *domain, const tf_dim *steps[TF_MAX_FACTORS]);

/* "(2, 4, 8, 2):(1, 2, 8, 64)" for messages. */
const char *tf_shard_domain_print(tf_context *context, const tf_shard_domain *domain);

/* printf into the context, stored in *reason; false, so that callers can return it. */
bool tf_refuse(tf_context *context, const char **reason, const char *format, ...) TF_PRINTF(3, 4);

#endif
