/* Uniformity: is a condition decided alike by all threads of a set?
 *
 * A scalar value is described by a fact:
 *   values    its value in each thread of the block, when thread coordinates and static numbers alone decide it
 *   depends   otherwise, what it depends on: coordinates (each with its value per thread), CTA coordinates, the unknown
 *
 * Rank-0 parameters, dims and variables of uniform loops depend on nothing. Loaded values are unknown. A value with
 * `values` is uniform over a set iff they are equal there; else it is iff each coordinate that it depends on is equal
 * there.
 *
 * Control flow around a statement is a list of such facts: conditions of the ifs and whiles, bounds of the fors, and
 * what earlier returns and aborts depended on (a loop body that may leave depends on it at its own start, too). */
#ifndef TF_VERIFY_UNIFORMITY_H
#define TF_VERIFY_UNIFORMITY_H

#include "Verify/Scopes.h"

/* Something per thread that a value depends on: its value in each of the block's threads. Interned. */
typedef struct tf_dependence {
  const char *what; /* for messages: "T.coord(m.w)", "T.program_id(\"thread\")" */
  tf_loc loc;
  const int32_t *of_thread; /* block entries */
} tf_dependence;

typedef struct tf_fact {
  const int64_t *values; /* one per thread of the block (bools 0 and 1), or null */
  bool unknown;          /* depends on loaded values */
  const char *unknown_what;
  bool on_cta;    /* depends on CTA coordinates: uniform in a block, not over the grid */
  unsigned count; /* coordinates that it depends on; also kept beside values, for messages */
  const tf_dependence *const *depends;
} tf_fact;

/* What the variables of the walked functions stand for: facts of scalar variables, bound by the walker. */
typedef struct tf_facts tf_facts;
tf_facts *tf_facts_create(tf_context *context, int64_t block);
/* Binds (or rebinds, for another inlined copy) a scalar variable. */
void tf_facts_bind(tf_facts *facts, const tf_expr *var, const tf_fact *fact);

/* The fact of a scalar expression at a place. Unbound variables (parameters, loop variables before they are bound)
 * depend on nothing. Never null. */
const tf_fact *tf_fact_of(tf_facts *facts, const tf_region *region, const tf_expr *scalar);
/* The fact of a loop variable whose bounds have these facts: uniform where the bounds are. */
const tf_fact *tf_fact_join(tf_facts *facts, unsigned count, const tf_fact *const *parts);

typedef enum tf_uniformity { TF_UNIFORM, TF_DIFFERS, TF_UNKNOWN } tf_uniformity;

/* Over threads of one block. *why (may be null) receives the coordinate that differs, or null. */
tf_uniformity tf_fact_uniform(const tf_fact *fact, const tf_thread_set *threads, const tf_dependence **why);
/* Over all threads of all CTAs. */
bool tf_fact_uniform_over_grid(const tf_fact *fact);

#endif
