/* Uniformity: is a condition decided alike by all threads of a set?
 *
 * A scalar value is described by a fact:
 *   known     thread coordinates and static numbers alone decide it: its value in every active thread is in the fact
 *   depends   what it depends on otherwise: coordinates (each with its value per thread), CTA coordinates, the unknown
 *
 *   T.coord(m.w) == 0 and lane < 16       known: evaluated in each thread
 *   T.coord(m.w) == 0 and n > 3           depends on T.coord(m.w): uniform where that is the same (n is a parameter)
 *   T.load(x, 0) > 0.0                    unknown: never uniform over more than one thread
 *
 * Rank-0 parameters, dims and variables of uniform loops depend on nothing. Loaded values are unknown. A known value is
 * uniform over a set iff it is the same there; any other iff each coordinate that it depends on is. */
#ifndef TF_VERIFY_UNIFORMITY_H
#define TF_VERIFY_UNIFORMITY_H

#include "Verify/Scopes.h"

/* Something per thread that a value depends on. Interned. */
typedef struct tf_dependence {
  const char *what;         /* for messages: "T.coord(m.w)" */
  const int32_t *of_thread; /* its value in each of the block's threads; -1: the thread has none */
} tf_dependence;

typedef struct tf_fact {
  bool known;
  const int64_t
      *values; /* known: one per thread of the block, bools as 0 and 1, 0 in inactive threads; null: `constant` */
  int64_t constant;
  const char *unknown; /* what it depends on that is never uniform ("a loaded value"), or null */
  bool on_cta;         /* depends on CTA coordinates: uniform in a block, not over the grid */
  unsigned count;      /* coordinates that it depends on; of known values, too, for messages */
  const tf_dependence *const *depends;
} tf_fact;

/* Facts of the scalar variables of a kernel walk. */
typedef struct tf_facts tf_facts;

/* Lives as long as the context. */
tf_facts *tf_facts_create(tf_context *context, const tf_geometry *geometry);

/* Binds a scalar variable at its let or loop, or a callee's parameter at the call; binds it anew in another inlined copy. */
void tf_facts_bind(tf_facts *facts, const tf_expr *var, const tf_fact *fact);

/* The fact of a scalar expression at a place. Variables that are not bound (a kernel's parameters) depend on nothing. Never
 * null. Bind a let's variable to the fact of its value. */
const tf_fact *tf_fact_of(tf_facts *facts, const tf_region *region, const tf_expr *scalar);

/* What depends on all of these; a loop's variable is the join of its bounds. */
const tf_fact *tf_fact_join(tf_context *context, unsigned count, const tf_fact *const *parts);

/* Whether all of these threads of a block agree on the value. *why (may be null) receives what they differ in otherwise: a
 * dependence's name or `unknown`. */
bool tf_fact_uniform(const tf_fact *fact, const tf_thread_set *threads, const char **why);

/* Whether all threads of all CTAs agree. */
bool tf_fact_uniform_over_grid(const tf_fact *fact, const char **why);

#endif
