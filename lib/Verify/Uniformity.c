/* Facts of scalar expressions: evaluated in every active thread where coordinates and numbers decide, else reduced to what
 * they depend on (see Uniformity.h). */
#include "Verify/Uniformity.h"

#include <string.h>

#include "Verify/Evaluate.h"

struct tf_facts {
  tf_context *context;
  const tf_geometry *geometry;
};

typedef struct tf_binding_key {
  const char *tag;
  const void *owner, *what;
  uint64_t axis;
} tf_binding_key;

static const char binding_tag, dependence_tag;
static const tf_fact nothing = {0};

tf_facts *tf_facts_create(tf_context *context, const tf_geometry *geometry) {
  tf_facts *facts = TF_ARENA_NEW(&context->arena, tf_facts);
  *facts = (tf_facts){context, geometry};
  return facts;
}

void tf_facts_bind(tf_facts *facts, const tf_expr *var, const tf_fact *fact) {
  tf_binding_key key = {&binding_tag, facts, var, 0};
  union {
    const tf_fact *fact;
    void *slot;
  } value = {fact};
  *tf_context_memo(facts->context, &key, sizeof key) = value.slot;
}

static const tf_fact *bound(tf_facts *facts, const tf_expr *var) {
  tf_binding_key key = {&binding_tag, facts, var, 0};
  const tf_fact *fact = *tf_context_memo(facts->context, &key, sizeof key);
  return fact ? fact : &nothing;
}

/* ---- Joining -------------------------------------------------------------------------------------------------------------- */

static bool depends_on(const tf_fact *fact, const tf_dependence *dependence) {
  for (unsigned i = 0; i < fact->count; i++)
    if (fact->depends[i] == dependence) return true;
  return false;
}

/* The dependences of the parts, without values. */
static tf_fact *joined(tf_context *context, unsigned count, const tf_fact *const *parts) {
  tf_fact *fact = TF_ARENA_NEW(&context->arena, tf_fact);
  unsigned total = 0;
  for (unsigned i = 0; i < count; i++)
    total += parts[i]->count;
  const tf_dependence **depends = total > 0 ? TF_ARENA_ARRAY(&context->arena, const tf_dependence *, total) : NULL;
  fact->depends = depends;
  for (unsigned i = 0; i < count; i++) {
    for (unsigned j = 0; j < parts[i]->count; j++)
      if (!depends_on(fact, parts[i]->depends[j])) depends[fact->count++] = parts[i]->depends[j];
    fact->on_cta = fact->on_cta || parts[i]->on_cta;
    fact->unknown = fact->unknown ? fact->unknown : parts[i]->unknown;
  }
  return fact;
}

const tf_fact *tf_fact_join(tf_context *context, unsigned count, const tf_fact *const *parts) {
  return joined(context, count, parts);
}

static const tf_fact *constant(tf_context *context, int64_t value) {
  tf_fact *fact = TF_ARENA_NEW(&context->arena, tf_fact);
  fact->known = true;
  fact->constant = value;
  return fact;
}

static int64_t value_in(const tf_fact *fact, int64_t thread) {
  return fact->values ? fact->values[thread] : fact->constant;
}

/* ---- Operators ------------------------------------------------------------------------------------------------------------ */

/* The operator applied to known parts in every active thread; without values if some thread has none (a division by zero,
 * a float). */
static const tf_fact *apply(tf_facts *facts, const tf_region *region, const tf_invocation *inv, unsigned count,
                            const tf_fact *const *parts) {
  tf_fact *fact = joined(facts->context, count, parts);
  bool varying = false;
  for (unsigned i = 0; i < count; i++) {
    if (!parts[i]->known) return fact;
    varying = varying || parts[i]->values;
  }
  int64_t in[3] = {0},
          *values = varying ? TF_ARENA_ARRAY(&facts->context->arena, int64_t, facts->geometry->block) : NULL;
  for (int64_t t = varying ? tf_threads_next(&region->active, 0) : 0; t >= 0;
       t = varying ? tf_threads_next(&region->active, t + 1) : -1) {
    for (unsigned i = 0; i < count; i++)
      in[i] = value_in(parts[i], t);
    if (!tf_evaluate_scalar(inv, in, values ? &values[t] : &fact->constant)) return fact;
  }
  fact->known = true;
  fact->values = values;
  return fact;
}

static const tf_fact *operator_fact(tf_facts *facts, const tf_region *region, const tf_invocation *inv) {
  const tf_fact *parts[3] = {&nothing, &nothing, &nothing};
  unsigned count = inv->arg_count < 3 ? inv->arg_count : 3;
  for (unsigned i = 0; i < count; i++)
    parts[i] = tf_fact_of(facts, region, inv->args[i]);
  return apply(facts, region, inv, count, parts);
}

/* ---- Leaves ---------------------------------------------------------------------------------------------------------------- */

static const tf_fact *unknown(tf_context *context, const char *what) {
  tf_fact *fact = TF_ARENA_NEW(&context->arena, tf_fact);
  fact->unknown = what;
  return fact;
}

static const tf_fact *on_cta(tf_context *context) {
  tf_fact *fact = TF_ARENA_NEW(&context->arena, tf_fact);
  fact->on_cta = true;
  return fact;
}

/* A coordinate: known in every thread, and depending on itself. Interned through the memo slot. */
static const tf_fact *coordinate(tf_facts *facts, const void *owner, unsigned axis, const char *what,
                                 int32_t (*value)(const void *owner, unsigned axis, int64_t thread)) {
  tf_binding_key key = {&dependence_tag, owner, facts->geometry, axis};
  void **slot = tf_context_memo(facts->context, &key, sizeof key);
  if (*slot) return *slot;
  tf_arena *arena = &facts->context->arena;
  tf_fact *fact = TF_ARENA_NEW(arena, tf_fact);
  tf_dependence *dependence = TF_ARENA_NEW(arena, tf_dependence);
  const tf_dependence **depends = TF_ARENA_NEW(arena, const tf_dependence *);
  int64_t block = facts->geometry->block, *values = TF_ARENA_ARRAY(arena, int64_t, block);
  int32_t *of_thread = TF_ARENA_ARRAY(arena, int32_t, block);
  for (int64_t t = 0; t < block; t++) {
    of_thread[t] = value(owner, axis, t);
    values[t] = of_thread[t] < 0 ? 0 : of_thread[t];
  }
  *dependence = (tf_dependence){what, of_thread};
  *depends = dependence;
  *fact = (tf_fact){.known = true, .values = values, .count = 1, .depends = depends};
  *slot = fact;
  return fact;
}

static int32_t axis_value(const void *owner, unsigned axis, int64_t thread) {
  int64_t coordinates[TF_MAX_MESH_AXES];
  return tf_placement_coordinates(owner, -1, thread, coordinates) ? (int32_t)coordinates[axis] : -1;
}

static const tf_fact *coord_fact(tf_facts *facts, const tf_region *region, const tf_invocation *inv) {
  const tf_expr *binding = inv->args[TF_ARG_COORD_mesh];
  int64_t axis = inv->attrs[TF_ATTRIBUTE_COORD_axis].i;
  const tf_scope *scope = tf_region_scope_of(region, binding);
  if (!scope || axis < 0 || axis >= (int64_t)scope->placement->axis_count)
    return unknown(facts->context, "a coordinate of a mesh that is not in scope");
  const tf_placement_axis *place = &scope->placement->axes[axis];
  int64_t extent;
  if (tf_dim_is_static(place->extent, &extent) && extent == 1) return constant(facts->context, 0);
  if (scope->placement->levels[place->level].level == TF_LEVEL_CTA) return on_cta(facts->context);
  const char *name = tf_mesh_axis_name(scope->placement->mesh, (unsigned)axis);
  const char *what =
      name ? tf_arena_printf(&facts->context->arena, "T.coord(%s.%s)", binding->var.name, name)
           : tf_arena_printf(&facts->context->arena, "T.coord(%s, %lld)", binding->var.name, (long long)axis);
  return coordinate(facts, scope->placement, (unsigned)axis, what, axis_value);
}

static int32_t id_value(const void *owner, unsigned level, int64_t thread) {
  (void)owner;
  return (int32_t)(level == TF_LEVEL_WARP ? thread / 32 : thread);
}

static const tf_fact *program_id_fact(tf_facts *facts, const tf_invocation *inv) {
  static const char ids;
  tf_level level = (tf_level)inv->attrs[TF_ATTRIBUTE_PROGRAM_ID_level].i;
  if (level == TF_LEVEL_CTA) return on_cta(facts->context);
  const char *what = level == TF_LEVEL_WARP ? "T.program_id(\"warp\")" : "T.program_id(\"thread\")";
  if (!facts->geometry->has_threads) return unknown(facts->context, what); /* the launch decides how many there are */
  return coordinate(facts, &ids, level, what, id_value);
}

static const tf_fact *call_fact(tf_facts *facts, const tf_region *region, const tf_invocation *inv) {
  int64_t value;
  switch (inv->op) {
  case TF_OP_LOAD:
    return unknown(facts->context, "a loaded value");
  case TF_OP_COORD:
    return coord_fact(facts, region, inv);
  case TF_OP_PROGRAM_ID:
    return program_id_fact(facts, inv);
  case TF_OP_DIM_VALUE:
    return tf_dim_is_static(inv->attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim, &value) ? constant(facts->context, value)
                                                                                : &nothing;
  default:
    return operator_fact(facts, region, inv);
  }
}

static bool is_integral(const tf_expr *expr) {
  return tf_type_is_scalar(expr->type) && tf_dtype_get_class(tf_type_dtype(expr->type)) != TF_CLASS_FLOAT;
}

const tf_fact *tf_fact_of(tf_facts *facts, const tf_region *region, const tf_expr *scalar) {
  if (scalar->kind == TF_EXPR_CONSTANT)
    return is_integral(scalar) ? constant(facts->context, scalar->constant.i) : &nothing;
  if (scalar->kind == TF_EXPR_VAR) return bound(facts, scalar);
  if (scalar->kind != TF_EXPR_CALL) return &nothing;
  tf_invocation inv = tf_invocation_of_call(scalar);
  return call_fact(facts, region, &inv);
}

/* ---- Questions ------------------------------------------------------------------------------------------------------------ */

bool tf_fact_uniform(const tf_fact *fact, const tf_thread_set *threads, const char **why) {
  int64_t first = tf_threads_next(threads, 0);
  bool known = fact->known;
  for (int64_t t = first; t >= 0; t = tf_threads_next(threads, t + 1)) {
    if (known && fact->values && fact->values[t] != fact->values[first]) {
      if (why) *why = fact->count > 0 ? fact->depends[0]->what : NULL;
      return false;
    }
    if (!known && fact->unknown && t != first) {
      if (why) *why = fact->unknown;
      return false;
    }
    for (unsigned i = 0; !known && i < fact->count; i++)
      if (fact->depends[i]->of_thread[t] != fact->depends[i]->of_thread[first]) {
        if (why) *why = fact->depends[i]->what;
        return false;
      }
  }
  return true;
}

bool tf_fact_uniform_over_grid(const tf_fact *fact, const char **why) {
  const char *differs = fact->unknown ? fact->unknown : fact->on_cta ? "a CTA coordinate" : NULL;
  if (!differs && fact->count > 0 && !(fact->known && !fact->values)) differs = fact->depends[0]->what;
  if (why && differs) *why = differs;
  return differs == NULL;
}
