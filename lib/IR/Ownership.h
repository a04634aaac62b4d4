/* Ownership: which element of a tensor does a thread hold at a local position?
 *
 * A sharded tensor is brought into one canonical form, a list of factors. Each factor is walked either by one mesh axis
 * (its digit comes from the instance's coordinate) or locally (its digit counts through the instance's own elements):
 *
 *   logical index = sum over factors of digit * step          (C order over the tensor's shape)
 *   local number  = local digits, leftmost fastest            (the order of an instance's values)
 *   digit of a mesh factor = (coordinate on mesh_axis / divisor) % extent
 *
 * Example: accumulator of m16n8k16, shape (16, 8), layout (2,4,8,2):(1,2,8,64), Split(1) Split(2), mesh (4,8):
 *   factors  {2 local, step 1} {4 axis 0, step 2} {8 axis 1, step 8} {2 local, step 64}
 *   local values 0..3 of lane (c0, c1):  8*c1 + 2*c0 + {0, 1, 64, 65}
 *
 * Factors are refined so that none crosses an axis of the shape where the extents allow it: 32 local elements of a (4, 8)
 * tensor are the factors {8, step 1} {4, step 8}. The inner part stands first, so local numbers stay the same.
 *
 * A tensor without a ShardLayout has only local factors, the last axis of its shape first (local number = logical index):
 * every instance sees every element. Broadcast mesh axes have no
 * factor. Rules: LANGUAGE of shard layouts in docs/Language.md, "Which element is which". */
#ifndef TF_IR_OWNERSHIP_H
#define TF_IR_OWNERSHIP_H

#include <tilefoundry/Layout.h>

typedef struct tf_factor {
  const tf_dim *extent; /* never the constant 1 */
  const tf_dim *step;   /* in the logical index of the tensor's shape */
  int shape_axis; /* the axis of the shape that the factor walks; -1 where it crosses axes (see steps_are_affine) */
  const tf_dim
      *unit;       /* step on that axis: step = unit * (product of the extents after it); null where shape_axis is -1 */
  int mesh_axis;   /* >= 0: walked by this mesh axis; -1: local */
  int64_t divisor; /* mesh factors: see above; 1 for local ones */
} tf_factor;

typedef struct tf_ownership {
  const tf_mesh *mesh; /* null for a tensor without a ShardLayout */
  unsigned factor_count;
  tf_factor factors[TF_MAX_FACTORS];
  unsigned local_count;           /* number of local factors */
  unsigned local[TF_MAX_FACTORS]; /* their indices in factors, in order */
  /* True: each factor stays on one axis of the shape, and the coordinates on an axis are the sum of its factors'
   * digit * unit, without carries. False: only enumeration is right (elements dealt in chunks that cross rows). */
  bool steps_are_affine;
  const struct tf_exact_domain
      *exact;             /* Ownership.c's: how to enumerate when the steps are not right at all, else null */
  bool partial;           /* some mesh axis holds an unreduced value */
  bool private_instances; /* smem allocation with a Split of stride 0: one buffer per instance */
} tf_ownership;

/* The ownership of a value of this type. `storage_strides` are the strides of the storage that the type's layout steps in
 * (rank entries, those of the allocation or parameter underneath a view); null: C order of the type's own shape.
 * TF_VERIFY with *reason set (a string of the context that names what is wrong and what would be legal) for: attribute
 * count, axis out of range, indivisible splits, an element outside the shape, a layout that is not injective, Dynamic. */
TF_NODISCARD tf_status tf_ownership_of(tf_context *context, const tf_type *type, const tf_dim *const *storage_strides,
                                       const tf_ownership **out, const char **reason);

/* Logical indices of all local positions of the instance at `coordinates` (one per mesh axis; ignored without a mesh), in
 * order of local number. Static ownerships only; `out` has tf_ownership_local_numel entries. */
void tf_ownership_enumerate(const tf_ownership *ownership, const int64_t *coordinates, int64_t *out);
/* Static number of local elements, or -1 if symbolic. */
int64_t tf_ownership_local_numel(const tf_ownership *ownership);

/* Where a static mesh (or slice) puts the instance with linear id `id` of its level(s): one coordinate per axis. False if
 * the id is outside (a slice, or an id past the domain). */
bool tf_mesh_coordinates(const tf_mesh *mesh, int64_t id, int64_t *coordinates);

/* ---- Pairing: element-wise ops match operands by logical index and by nothing else. ---------------------------------------
 * Both sides are seen by the threads of one block: `thread_count` threads, thread t at coordinates given by its mesh. For
 * every thread and every local position p of `to`, the local position q of `from` that holds the same logical index
 * (after broadcasting from's shape to to's). */
typedef enum tf_pairing_kind {
  TF_PAIRING_UNIFORM, /* q(p) is the same for every thread: position[p] */
  TF_PAIRING_MISSING, /* some thread lacks an element that it needs: thread, index tell which */
  TF_PAIRING_VARYING  /* every thread has what it needs, but at positions that depend on the thread */
} tf_pairing_kind;

typedef struct tf_pairing {
  tf_pairing_kind kind;
  int64_t count;           /* local positions of `to` */
  const int32_t *position; /* UNIFORM: count entries */
  int64_t thread, index;   /* MISSING: the first such thread and logical index (of `to`) */
} tf_pairing;

/* Memoised in the context per pair of ownerships, shapes and coordinates. Both sides see the same threads: coords gives the
 * coordinates of a thread on the side's mesh, false for a thread that takes no part; null for a side without a mesh.
 * Element counts that are equal pair index by index, else from's shape broadcasts to to's.
 * Null for symbolic ownerships, shapes that do not broadcast, more than 2^24 elements or 4096 threads. */
typedef bool (*tf_instance_fn)(void *user, int64_t thread, int64_t *coordinates);
const tf_pairing *tf_pairing_of(tf_context *context, const tf_ownership *to, const tf_type *to_type,
                                const tf_ownership *from, const tf_type *from_type, int64_t thread_count,
                                tf_instance_fn to_coords, void *to_user, tf_instance_fn from_coords, void *from_user);

/* ---- Contiguity: what a lowering needs to know of an instance's values in storage ------------------------------------------ */
/* The longest run r (a power of two, at most `max`) such that local numbers k*r … k*r+r-1 are consecutive logical indices
 * for every k and every instance, and the first of each run is a multiple of r. 1 if unknown. */
int64_t tf_ownership_run(const tf_ownership *ownership, int64_t max);

#endif
