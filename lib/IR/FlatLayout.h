/* A static layout as plain arrays of extents and strides: what the algebra computes with, without allocation. */
#ifndef TF_IR_FLAT_LAYOUT_H
#define TF_IR_FLAT_LAYOUT_H

#include <tilefoundry/Layout.h>

#define TF_FLAT_MAX_MODES 64

typedef struct tf_flat {
  unsigned count;
  int64_t extent[TF_FLAT_MAX_MODES], stride[TF_FLAT_MAX_MODES];
} tf_flat;

/* The flattened plain layout; missing strides are the exclusive prefix product. False with *reason (may be null) for a
 * layout that is not plain, a symbolic or negative extent, more than 64 modes, or offsets beyond 62 bits. */
bool tf_flat_load(const tf_layout *layout, tf_flat *out, const char **reason);
/* Whether the size and the reach of the strides stay within 62 bits and no extent is negative: what the functions below
 * assume. tf_flat_load makes sure of it. */
bool tf_flat_is_bounded(const tf_flat *flat);
const tf_layout *tf_flat_store(tf_context *context, const tf_flat *flat);

int64_t tf_flat_size(const tf_flat *flat); /* product of the extents; 0 if one is */
/* Appends a mode; false when the array is full. */
bool tf_flat_push(tf_flat *flat, int64_t extent, int64_t stride);
/* Drops extent-1 modes and joins neighbours that walk on in equal steps. An empty result has no modes. */
void tf_flat_coalesce(tf_flat *flat);
/* Sorts by ascending stride (stable), extent-1 modes dropped; position (may be null) receives for each mode of the
 * result its index before. */
void tf_flat_sort(tf_flat *flat, unsigned *position);
/* Whether no two coordinates share an offset; an exact search with pruning; *reason is set on false. */
bool tf_flat_is_injective(const tf_flat *flat, const char **reason);
/* Whether each stride exceeds what all smaller ones reach together: coordinates can then be read off an offset by
 * dividing by the strides in descending order. */
bool tf_flat_is_projectable(const tf_flat *flat);

#endif
