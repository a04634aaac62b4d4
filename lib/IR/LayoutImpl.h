/* The structs behind tuples, layouts, meshes and types, and helpers that only this folder uses.
 *
 * All are interned keys: flat, zero-padded, their pointers interned too. Variable parts stand in a tail of pointers. */
#ifndef TF_IR_LAYOUT_IMPL_H
#define TF_IR_LAYOUT_IMPL_H

#include <tilefoundry/Layout.h>

#include "IR/DimImpl.h"

/* slots: `count` elements (a leaf: its dim), then the `leaf_count` leaf dims, depth first. */
struct tf_tuple {
  uint32_t is_leaf, depth;
  uint32_t count, leaf_count;
  const void *slots[];
};
#define TF_TUPLE_MAX_DEPTH 64

struct tf_layout {
  uint32_t kind, attr_count;
  const tf_tuple *shape, *strides;    /* PLAIN */
  uint32_t bits, base, shift, unused; /* SWIZZLE */
  const tf_layout *inner, *outer;     /* COMPOSED, SHARD (outer) */
  const tf_dim *offset;               /* COMPOSED */
  const tf_mesh *mesh;                /* SHARD */
  tf_shard_attr attrs[];
};

/* slots: the sizes of the levels, then the names of the axes. */
#define TF_MESH_MAX_LEVELS 4
struct tf_mesh {
  uint32_t level_count, axis_count;
  uint32_t levels[TF_MESH_MAX_LEVELS];
  const tf_layout *layout; /* flat, with strides; or composed without inner over such a one */
  const tf_dim *offset;    /* of a slice, else 0 */
  const void *slots[];
};

/* slots: extents of a tensor, elements of a tuple type, parameters of a callable type. */
struct tf_type {
  uint32_t kind, count;
  int32_t dtype, storage;
  const tf_layout *layout;
  const void *slots[];
};

/* Interns `header_size` bytes of header followed by the slots. */
const void *tf_intern_with_slots(tf_context *context, tf_intern_class kind, const void *header, size_t header_size,
                                 const void *const *slots, size_t slot_count);

const tf_dim *tf_tuple_leaf_at(const tf_tuple *tuple, unsigned index);
bool tf_tuple_is_flat(const tf_tuple *tuple);
bool tf_tuple_is_congruent(const tf_tuple *a, const tf_tuple *b);

/* The tuple with the structure of `like` and these leaf dims. */
const tf_tuple *tf_tuple_rebuild(tf_context *context, const tf_tuple *like, const tf_dim *const *leaves);

/* Strides of all leaves in C order (last fastest), or prefix order (first fastest); null on overflow. */
const tf_tuple *tf_tuple_row_major_strides(tf_context *context, const tf_tuple *shape);
const tf_tuple *tf_tuple_prefix_strides(tf_context *context, const tf_tuple *shape);

void tf_tuple_append(tf_context *context, tf_string *out, const tf_tuple *tuple);
void tf_layout_append(tf_context *context, tf_string *out, const tf_layout *layout);
void tf_layout_append_attr(tf_string *out, tf_shard_attr attr); /* Split(0), Broadcast(), … */
void tf_mesh_append(tf_context *context, tf_string *out, const tf_mesh *mesh);
/* A Python string literal. */
void tf_string_quote(tf_string *out, const char *text);

#endif
