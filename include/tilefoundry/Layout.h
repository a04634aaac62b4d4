/* Layouts, meshes and shard layouts: which element lives where, and which thread owns it.
 *
 *   Layout((4, 8), (1, 4))      coordinates (i, j)  ->  offset 1*i + 4*j
 *   ComposedLayout(inner, off, outer)                ->  inner(off + outer(coord))
 *   Swizzle(b, m, s)            xor of the b bits at m+s into the b bits at m of an offset (in elements)
 *   Mesh(levels, layout, names) program instances (CTAs, warps, threads) as a coordinate space
 *   ShardLayout(layout, attrs, mesh)   one attribute per mesh axis says which layout axis it walks
 *
 * All of them are immutable, owned by the context and uniqued: equal means pointer-equal. Functions that read give null, 0 or
 * false for null and for an index behind the end; null prints as None. */
#ifndef TILEFOUNDRY_LAYOUT_H
#define TILEFOUNDRY_LAYOUT_H

#include <tilefoundry/Type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tuples: nested tuples of dims; a leaf is one dim. -------------------------------------------------------------- */
typedef struct tf_tuple tf_tuple;

/* The constructors return null for a null element (so an overflowed dim travels on) and for nesting deeper than 64. */
TF_API const tf_tuple *tf_tuple_leaf(tf_context *context, const tf_dim *dim);
TF_API const tf_tuple *tf_tuple_list(tf_context *context, unsigned count, const tf_tuple *const *elements);
/* A flat list of static numbers, as in Layout((4, 8), …). */
TF_API const tf_tuple *tf_tuple_ints(tf_context *context, unsigned count, const int64_t *values);
TF_API const tf_tuple *tf_tuple_dims(tf_context *context, unsigned count, const tf_dim *const *values);
TF_API bool tf_tuple_is_leaf(const tf_tuple *tuple);
TF_API const tf_dim *tf_tuple_dim(const tf_tuple *leaf);
TF_API unsigned tf_tuple_count(const tf_tuple *tuple); /* 1 for a leaf */
TF_API const tf_tuple *tf_tuple_element(const tf_tuple *tuple, unsigned index);
/* Number of leaves; leaf dims in order, depth first. */
TF_API unsigned tf_tuple_leaf_count(const tf_tuple *tuple);
TF_API void tf_tuple_leaves(const tf_tuple *tuple, const tf_dim **out);
TF_API const tf_dim *tf_tuple_product(tf_context *context, const tf_tuple *tuple);

/* ---- Meshes --------------------------------------------------------------------------------------------------------- */
typedef struct tf_mesh tf_mesh;

typedef struct tf_topology {
  tf_level level;
  const tf_dim *size; /* instances of this level inside one instance of the next coarser one */
} tf_topology;

/* names may be null or hold up to one string per axis of the layout (null or empty entries: unnamed). A layout without
 * strides is C order over its shape, which becomes explicit. Null if the layout is neither flat and plain nor such a one
 * under ComposedLayout(None, offset, …), for no level or more than 4, a null size, more names than axes, or names that are not
 * different identifiers of Python. Consistency is not checked here: see tf_mesh_is_consistent. */
TF_API const tf_mesh *tf_mesh_get(tf_context *context, unsigned level_count, const tf_topology *levels,
                                  const tf_layout *layout, unsigned name_count, const char *const *names);
TF_API unsigned tf_mesh_level_count(const tf_mesh *mesh);
TF_API tf_topology tf_mesh_level(const tf_mesh *mesh, unsigned index);
TF_API const tf_layout *tf_mesh_layout(const tf_mesh *mesh); /* plain, or composed for a slice */
TF_API unsigned tf_mesh_axis_count(const tf_mesh *mesh);
TF_API const tf_dim *tf_mesh_axis_extent(const tf_mesh *mesh, unsigned axis);
TF_API const tf_dim *tf_mesh_axis_stride(const tf_mesh *mesh, unsigned axis); /* never null */
TF_API const char *tf_mesh_axis_name(const tf_mesh *mesh, unsigned axis);      /* null: unnamed */
TF_API bool tf_mesh_axis_by_name(const tf_mesh *mesh, const char *name, unsigned *axis);
TF_API bool tf_mesh_is_slice(const tf_mesh *mesh);
TF_API const tf_dim *tf_mesh_slice_offset(const tf_mesh *mesh); /* linear id of the first participant; 0 if full */
/* Product of the level sizes. */
TF_API const tf_dim *tf_mesh_domain(tf_context *context, const tf_mesh *mesh);

/* m[ranges]: one half-open range per axis, already resolved to 0 <= lo < hi <= extent. Same topologies and names; the
 * layout becomes ComposedLayout(None, sum of lo*stride, Layout(hi-lo, parent strides)). Null with *reason (a static
 * string) set when the mesh is itself a slice, an extent is dynamic, or a range is empty or outside. */
TF_API const tf_mesh *tf_mesh_slice(tf_context *context, const tf_mesh *mesh, const int64_t *lo, const int64_t *hi,
                                    const char **reason);

/* Whether the layout is a bijection onto [0, domain) and every axis's strides stay inside its level; a slice is as
 * consistent as its parent. On false, *reason (may be null) is a static string. */
TF_API bool tf_mesh_is_consistent(tf_context *context, const tf_mesh *mesh, const char **reason);
/* Same levels and the same layout, names aside: the relation of the mesh-in-scope and mma-scope rules. */
TF_API bool tf_mesh_same_shape(const tf_mesh *a, const tf_mesh *b);

/* ---- Layouts -------------------------------------------------------------------------------------------------------- */
typedef enum tf_layout_kind { TF_LAYOUT_PLAIN, TF_LAYOUT_SWIZZLE, TF_LAYOUT_COMPOSED, TF_LAYOUT_SHARD } tf_layout_kind;

typedef enum tf_shard_kind { TF_SHARD_SPLIT, TF_SHARD_BROADCAST, TF_SHARD_PARTIAL, TF_SHARD_DYNAMIC } tf_shard_kind;

typedef struct tf_shard_attr {
  tf_shard_kind kind;
  unsigned axis;         /* SPLIT: the layout axis that this mesh axis walks; else 0 */
  tf_reduce_kind reduce; /* PARTIAL: the pending reduction; else 0 */
} tf_shard_attr;

/* A bare extent (a leaf) is a list of one. Null if shape is null or strides are not congruent with it.
 * strides null: unspecified. Its meaning depends on the use: exclusive prefix product in the pure algebra, C order on a
 * tensor and a mesh, "deal the elements in C order of the domain" in a ShardLayout. shape and strides are congruent. */
TF_API const tf_layout *tf_layout_plain(tf_context *context, const tf_tuple *shape, const tf_tuple *strides);
TF_API const tf_layout *tf_layout_swizzle(tf_context *context, unsigned bits, unsigned base, unsigned shift);
/* inner null: identity; offset null: 0. */
TF_API const tf_layout *tf_layout_composed(tf_context *context, const tf_layout *inner, const tf_dim *offset,
                                           const tf_layout *outer);
/* attr_count equals the mesh's axis count (the verifier reports a mismatch; the constructor keeps what it is given). */
TF_API const tf_layout *tf_layout_shard(tf_context *context, const tf_layout *layout, unsigned attr_count,
                                        const tf_shard_attr *attrs, const tf_mesh *mesh);

TF_API tf_layout_kind tf_layout_get_kind(const tf_layout *layout);
TF_API bool tf_layout_is_shard(const tf_layout *layout); /* false for null */
TF_API const tf_tuple *tf_layout_shape(const tf_layout *layout);     /* PLAIN; of the outer/inner layout for COMPOSED/SHARD */
TF_API const tf_tuple *tf_layout_strides(const tf_layout *layout);   /* PLAIN; may be null */
TF_API void tf_layout_swizzle_bits(const tf_layout *layout, unsigned *bits, unsigned *base, unsigned *shift);
TF_API const tf_layout *tf_layout_inner(const tf_layout *layout);    /* COMPOSED; may be null */
TF_API const tf_dim *tf_layout_offset(const tf_layout *layout);      /* COMPOSED; never null */
TF_API const tf_layout *tf_layout_outer(const tf_layout *layout);    /* COMPOSED: outer; SHARD: the sharded layout */
TF_API unsigned tf_layout_attr_count(const tf_layout *layout);       /* SHARD */
TF_API tf_shard_attr tf_layout_attr(const tf_layout *layout, unsigned index);
TF_API const tf_mesh *tf_layout_mesh(const tf_layout *layout);       /* SHARD */

/* C order over the shape: the strides are suffix products. */
TF_API const tf_layout *tf_layout_row_major(tf_context *context, unsigned rank, const tf_dim *const *shape);

/* ---- The algebra of plain (and composed) layouts ----------------------------------------------------------------------
 * A missing stride tuple means the exclusive prefix product (leftmost fastest) here. Functions that need static extents
 * return null (or false) with *reason set to a static string when a dim is symbolic or the operation is undefined. */
TF_API const tf_dim *tf_layout_size(tf_context *context, const tf_layout *layout);   /* number of coordinates */
TF_API const tf_dim *tf_layout_cosize(tf_context *context, const tf_layout *layout); /* largest offset + 1; 0 if empty */
/* Offset of a flat coordinate index (leftmost fastest). Static layouts, 0 <= index < size. */
TF_API bool tf_layout_apply(const tf_layout *layout, int64_t index, int64_t *offset);
/* The distinct offsets in ascending order, an array of the context. Null with *reason set for layouts that are not static
 * or have more than 2^24 coordinates. */
TF_API const int64_t *tf_layout_image(tf_context *context, const tf_layout *layout, size_t *count, const char **reason);
TF_API const tf_layout *tf_layout_flatten(tf_context *context, const tf_layout *layout);
TF_API const tf_layout *tf_layout_coalesce(tf_context *context, const tf_layout *layout);
TF_API const tf_layout *tf_layout_composition(tf_context *context, const tf_layout *a, const tf_layout *b,
                                              const char **reason);
TF_API const tf_layout *tf_layout_complement(tf_context *context, const tf_layout *layout, int64_t cosize,
                                             const char **reason);
TF_API const tf_layout *tf_layout_left_inverse(tf_context *context, const tf_layout *layout, const char **reason);
TF_API const tf_layout *tf_layout_right_inverse(tf_context *context, const tf_layout *layout, const char **reason);
TF_API const tf_layout *tf_layout_product(tf_context *context, const tf_layout *a, const tf_layout *b,
                                          const char **reason);
/* Whether no two coordinates share an offset; exact, without enumerating plain layouts. */
TF_API bool tf_layout_is_injective(const tf_layout *layout, const char **reason);
/* Whether the coordinates can be read off every offset by dividing by the strides in descending order. */
TF_API bool tf_layout_is_inverse_projectable(const tf_layout *layout, const char **reason);
/* The coordinate index whose offset it is; false if the offset is not in the image. */
TF_API bool tf_layout_project(const tf_layout *layout, int64_t offset, int64_t *index);
TF_API bool tf_layout_contains(const tf_layout *layout, int64_t offset);

/* ---- Local projections of a tensor type: what one instance of the shard's mesh holds -------------------------------------
 * The extents of the (canonicalised) layout axes divided by the mesh extents that split them; for a type without a
 * ShardLayout its own shape. TF_VERIFY with *reason (a string of the context) set when an extent is not divisible or the quotient
 * is symbolic and does not simplify. count receives the number of local axes, at most TF_MAX_FACTORS. */
#define TF_MAX_FACTORS 32
TF_API TF_NODISCARD tf_status tf_type_local_shape(tf_context *context, const tf_type *type, unsigned *count,
                                                  const tf_dim *out[TF_MAX_FACTORS], const char **reason);
TF_API TF_NODISCARD tf_status tf_type_local_numel(tf_context *context, const tf_type *type, const tf_dim **out,
                                                  const char **reason);
TF_API TF_NODISCARD tf_status tf_type_local_bytes(tf_context *context, const tf_type *type, const tf_dim **out,
                                                  const char **reason);

/* Python's spelling, as the canonical printer uses it. Strings of the context. */
TF_API const char *tf_layout_print(tf_context *context, const tf_layout *layout);
TF_API const char *tf_mesh_print(tf_context *context, const tf_mesh *mesh);
TF_API const char *tf_type_print(tf_context *context, const tf_type *type);

#ifdef __cplusplus
}
#endif
#endif
