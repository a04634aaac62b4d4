/* One tensor operand of an element-wise statement as the threads of a block see it, and the tools to compare two of them. */
#ifndef TF_VERIFY_SIDE_H
#define TF_VERIFY_SIDE_H

#include "Verify/State.h"

#include "IR/Share.h"
#include "IR/View.h"

typedef struct tf_side {
  const tf_expr *expr;
  const tf_view *view;
  const tf_type *type;
  const tf_ownership *ownership;
  const tf_placement *placement; /* of the ownership's mesh; null: not sharded */
  tf_ownership reduced;          /* the ownership without what CTAs decide; see tf_sides_reduce */
  bool everything;               /* every thread sees every element: no mesh axis longer than 1 walks a factor */
} tf_side;

/* False if the view or the mesh is at fault: that was reported where it was made. */
bool tf_side_of(tf_verifier *verifier, const tf_expr *tensor, tf_side *side);

bool tf_sides_have_one_shape(const tf_side *a, const tf_side *b);

/* Whether every thread sees at least in `a` what it sees in `b`, for the plain reason that both are dealt alike. */
bool tf_sides_alike(const tf_side *a, const tf_side *b);

/* How the logical index of a destination names an element of a source, with broadcasting. */
typedef struct tf_index_map {
  unsigned rank;
  int64_t extents[TF_MAX_RANK];        /* of the destination */
  int64_t source_strides[TF_MAX_RANK]; /* 0 where the source is broadcast */
  bool identity;
} tf_index_map;
/* False if the map is not static; the extent of the destination's first axis may be symbolic. */
bool tf_index_map_of(const tf_type *destination, const tf_type *source, bool same_count, tf_index_map *map);
int64_t tf_index_map_apply(const tf_index_map *map, int64_t index);

/* Fills `reduced` of the sides of one statement so that one CTA stands for all: factors that CTAs walk alike on both sides, or
 * along which the source is broadcast, are left out; factors that only one side has become local (each element belongs to one
 * CTA's share, so asking about all shares at once is exact). False if the two sides split over CTAs in different ways. maps: one
 * per source. */
bool tf_sides_reduce(tf_context *context, tf_side *destination, unsigned count, tf_side *sources,
                     const tf_index_map *maps);

/* The same for sizes that are known at launch only: replaces types and ownerships by one CTA's (IR/Share.h). False, and nothing
 * changed, if all sizes behind the first axis are static, or the sides are not dealt to CTAs alike. */
bool tf_sides_shorten(tf_context *context, tf_side *destination, unsigned count, tf_side *sources);

/* Undoes tf_sides_reduce: each CTA is enumerated by itself. */
void tf_sides_unreduce(tf_side *destination, unsigned count, tf_side *sources);

/* Local elements of one thread of the reduced ownership: static number, or -1. */
int64_t tf_side_local_numel(const tf_side *side);
/* One more than the largest logical index among them, whatever the thread; -1 if that is not static. */
int64_t tf_side_span(const tf_verifier *verifier, const tf_side *side);
/* Their logical indices; false if the thread has no place on the mesh. cta -1 for a reduced side. */
bool tf_side_enumerate(const tf_side *side, int64_t cta, int64_t thread, int64_t *out);

/* Whether the active threads, over all CTAs, stand on every instance of the side's mesh, and these hold every element. */
bool tf_side_is_covered_by_threads(const tf_verifier *verifier, const tf_side *side);

/* A number that is equal for two threads iff they see the same instance of everything around the value: the part that an outer
 * sharded view deals to them, and the private buffer of a shared allocation. */
int64_t tf_side_instance(const tf_verifier *verifier, const tf_side *side, int64_t thread);

#endif
