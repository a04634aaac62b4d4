/* Scopes: which threads of a kernel execute a statement, and at which coordinates of a mesh each of them stands.
 *
 * A mesh puts program instances on axes. A placement says how: every axis reads the id of one level
 *
 *   id(cta) = linear CTA id      id(warp) = thread / 32      id(thread) = linear thread id, or thread % 32 as a lane
 *
 *   coordinate on an axis = ((id - origin of the level) mod modulus) / divisor           an axis of extent 1: always 0
 *   inside               <=> on every level  origin <= id < size  and  (id - origin) mod step == 0,
 *                            and every coordinate < extent of its axis
 *
 *   Mesh((warp 4, thread 32), (2,2,4,8):(64,32,1,4))   axis 0  id(warp)        / 2        axis 2   lane mod 4
 *                                                      axis 1  id(warp) mod 2             axis 3   lane / 4
 *
 * Nesting: a mesh that starts at `thread`, inside a scope whose finest level is `warp`, counts lanes. Every other mesh
 * starts from the linear ids, whatever encloses it: enclosing scopes of the same or a finer level are other views of
 * the same threads. A callee starts without scopes, but only the threads that are active at the call execute it.
 *
 * A scope restricts its body: threads (CTAs) that it has no position for skip it. The set of threads is kept as bits of
 * the block's linear thread ids; CTAs are only told apart into "all" and "some", as their number may be known at launch
 * only.
 *
 * The verifier and the lowering both walk a kernel through tf_region, so they cannot disagree. Everything here is
 * immutable and lives as long as the context; a region is a value. */
#ifndef TF_VERIFY_SCOPES_H
#define TF_VERIFY_SCOPES_H

#include "IR/Nodes.h"

#define TF_MAX_BLOCK     1024
#define TF_MAX_MESH_AXES 16

/* ---- Sets of threads of one block
 * -------------------------------------------------------------------------------------- */
typedef struct tf_thread_set {
  uint64_t bits[TF_MAX_BLOCK / 64]; /* bit t % 64 of word t / 64: linear thread id t */
} tf_thread_set;

/* The interval [base, base + count). */
tf_thread_set tf_threads_interval(int64_t base, int64_t count);
bool tf_threads_has(const tf_thread_set *set, int64_t thread);
void tf_threads_add(tf_thread_set *set, int64_t thread);
int64_t tf_threads_count(const tf_thread_set *set);
bool tf_threads_equal(const tf_thread_set *a, const tf_thread_set *b);
bool tf_threads_subset(const tf_thread_set *inner, const tf_thread_set *outer);
bool tf_threads_intersect(const tf_thread_set *a, const tf_thread_set *b);
/* The smallest member >= from, or -1: for (t = tf_threads_next(s, 0); t >= 0; t = tf_threads_next(s, t + 1)). */
int64_t tf_threads_next(const tf_thread_set *set, int64_t from);

/* ---- Placements
 * ----------------------------------------------------------------------------------------------------------- */
typedef struct tf_placement_level {
  tf_level level;
  bool lane;          /* THREAD that counts inside its warp: the id is thread % 32 */
  const tf_dim *size; /* ids below it are inside; static on warp and thread */
  int64_t origin;     /* a slice's first id on this level; 0 for a full mesh */
  int64_t step;       /* ids inside are origin plus multiples of it; 1 for a full mesh */
} tf_placement_level;

typedef struct tf_placement_axis {
  unsigned level;        /* index into levels */
  const tf_dim *extent;  /* extent 1: the coordinate is 0, the other fields are 1 and null */
  const tf_dim *divisor; /* in ids of the level */
  const tf_dim *modulus; /* in ids of the level; null: none needed, the quotient is below extent for every id inside */
} tf_placement_axis;

typedef struct tf_placement {
  const tf_mesh *mesh;
  unsigned level_count;
  tf_placement_level levels[TF_LEVEL_COUNT]; /* coarse to fine, as the mesh names them */
  unsigned axis_count;
  tf_placement_axis axes[TF_MAX_MESH_AXES];
  int64_t threads; /* size of the part of a block that the full mesh describes (a warp position counts 32; lanes: one
                      warp); 0: the mesh names no warp or thread level */
  bool full;       /* not a slice: only the levels' sizes bound it */
} tf_placement;

/* Memoised. lanes: the mesh stands inside a scope whose finest level is warp (see above; it matters to meshes that
 * start at `thread` only). Null with *reason (a string of the context) for: an inconsistent mesh, levels out of order,
 * warp and thread in one mesh with other than 32 threads a warp, over 32 lanes, a symbolic warp or thread level, more
 * than TF_MAX_BLOCK threads, too many axes. */
const tf_placement *tf_placement_of(tf_context *context, const tf_mesh *mesh, bool lanes, const char **reason);

/* Coordinates of a thread of a CTA, one per axis; false if it is outside. Axes of a symbolic cta level count as 0 and
 * do not bound. coordinates may be null. */
bool tf_placement_coordinates(const tf_placement *placement, int64_t cta, int64_t thread, int64_t *coordinates);

/* The same with cta -1 and the signature of tf_instance_fn (Ownership.h): user is the placement. */
bool tf_placement_instance(void *placement, int64_t thread, int64_t *coordinates);

/* Whether two placements' axes mean the same coordinate of every instance. */
bool tf_placement_same_axis(const tf_placement *a, unsigned i, const tf_placement *b, unsigned j);

/* Whether the mesh names the cta level (and only it). */
bool tf_mesh_has_level(const tf_mesh *mesh, tf_level level);
bool tf_mesh_is_grid(const tf_mesh *mesh);

/* ---- Regions: the scopes in force at a statement
 * ----------------------------------------------------------------------- */
typedef struct tf_scope {
  const struct tf_scope *outer; /* the enclosing scope of the same function, or null */
  const tf_stmt *stmt;          /* the MeshScope */
  const tf_placement *placement;
} tf_scope;

/* The inlined calls that lead to a statement, innermost first; null in the kernel itself. Interned: equal paths are the
 * same pointer. Each path has its own copy of the callee's statements. */
typedef struct tf_call_path {
  const struct tf_call_path *outer;
  const tf_stmt *call; /* EVALUATE of a SYMBOL_REF */
} tf_call_path;

/* Geometry of a kernel over its call tree. */
typedef struct tf_geometry {
  bool has_threads;   /* some scope or parameter names warps or threads; otherwise the launch decides the block */
  int64_t block;      /* B: threads of every launch's block; 1 if !has_threads */
  bool has_ctas;      /* some scope or parameter names CTAs; otherwise the launch decides the grid */
  const tf_dim *grid; /* G: CTAs of every launch's grid (a maximum if scopes differ); 1 if !has_ctas */
} tf_geometry;

typedef struct tf_region {
  tf_context *context;
  const tf_stmt *function; /* the PrimFunction whose statements are walked: the kernel or an inlined callee */
  const tf_geometry *geometry;
  const tf_call_path *path;
  const tf_scope *scope; /* innermost, or null */
  tf_thread_set active;  /* threads of a block that execute the statement, conditions aside; {0} if !has_threads */
  bool all_ctas;         /* every CTA of the grid executes it, conditions aside */
} tf_region;

/* Geometry of the function as a kernel, or of a host function: nothing. Calls of unknown functions and cycles are not
 * followed; meshes without a placement are skipped (the verifier reports both). */
tf_geometry tf_geometry_of(const tf_module *module, const tf_stmt *function);

tf_region tf_region_begin(tf_context *context, const tf_stmt *function, const tf_geometry *geometry);

/* The body of a MeshScope. False with *reason (a string of the context) when the mesh has no placement; *out is
 * untouched. The active set may become empty: the verifier refuses that. */
bool tf_region_enter(const tf_region *region, const tf_stmt *mesh_scope, tf_region *out, const char **reason);

/* Whether some active thread, or some CTA, is outside of the scope that `inner` was entered by: the lowering has to
 * test (see the formula at the top) and branch around the body. */
bool tf_region_restricts_threads(const tf_region *outer, const tf_region *inner);
bool tf_region_restricts_ctas(const tf_region *outer, const tf_region *inner);

/* The body of a callee at a call statement. */
tf_region tf_region_call(const tf_region *region, const tf_stmt *call, const tf_stmt *callee);

/* Where the instances of a mesh stand at this place: by the innermost scope over that mesh, else over one of the same
 * levels and layout, else (warp and lane scopes nested that together provide a tile's mesh, or a mesh of a parameter's
 * ShardLayout) by the linear ids. Null: the mesh is not in scope here. *scope (may be null) receives the scope, or
 * null. */
const tf_placement *tf_region_placement(const tf_region *region, const tf_mesh *mesh, const tf_scope **scope);

/* Whether scopes in force provide the mesh: one of them over the same levels and layout, or a warp and a lane scope nested. */
bool tf_region_provides(const tf_region *region, const tf_mesh *mesh);

/* The scope that a MeshScope binding names; null if it is not in force. */
const tf_scope *tf_region_scope_of(const tf_region *region, const tf_expr *binding);

#endif
