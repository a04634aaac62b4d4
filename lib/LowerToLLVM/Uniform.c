/* What the verifier's uniformity analysis says at the place that is lowered. */
#include "LowerToLLVM/Lowering.h"
#include "LowerToLLVM/Walk.h"

void tf_lower_note_scalar(tf_lowering *lowering, const tf_expr *var, const tf_expr *value) {
  tf_facts_bind(lowering->facts, var, tf_fact_of(lowering->facts, &lowering->region, value));
}

void tf_lower_note_loop(tf_lowering *lowering, const tf_stmt *loop) {
  const tf_fact *parts[3] = {tf_fact_of(lowering->facts, &lowering->region, loop->for_.start),
                             tf_fact_of(lowering->facts, &lowering->region, loop->for_.stop),
                             tf_fact_of(lowering->facts, &lowering->region, loop->for_.step)};
  tf_facts_bind(lowering->facts, loop->for_.var, tf_fact_join(lowering->context, 3, parts));
}

bool tf_lower_is_uniform(tf_lowering *lowering, const tf_expr *scalar) {
  const tf_fact *fact = tf_fact_of(lowering->facts, &lowering->region, scalar);
  return tf_fact_uniform(fact, &lowering->region.active, NULL);
}

bool tf_lower_view_is_uniform(tf_lowering *lowering, const tf_view *view) {
  for (unsigned i = 0; i < view->start_count; i++) {
    const tf_view_start *start = &view->starts[i];
    if (start->index ? !tf_lower_is_uniform(lowering, start->index) : !tf_mesh_is_grid(start->mesh)) return false;
  }
  return !view->ownership->private_instances;
}
