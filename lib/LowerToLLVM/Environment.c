/* What variables stand for while a kernel is lowered: a pointer-keyed hash table of the innermost bindings, each of which
 * remembers the one that it shadows (an inlined callee binds its variables once per copy, an unrolled loop once per trip). */
#include "LowerToLLVM/Lowering.h"

struct tf_environment_slot {
  const tf_expr *var;
  tf_binding *binding;
};

static size_t slot_of(const tf_environment *environment, const tf_expr *var) {
  size_t mask = environment->capacity - 1, i = (((uintptr_t)var >> 4) * 0x9E3779B97F4A7C15u >> 20) & mask;
  while (environment->slots[i].var && environment->slots[i].var != var)
    i = (i + 1) & mask;
  return i;
}

/* Keeps the table at most half full. */
static void grow(tf_lowering *lowering) {
  tf_environment *environment = &lowering->environment;
  if (2 * (environment->used + 1) <= environment->capacity) return;
  tf_environment old = *environment;
  environment->capacity = old.capacity ? 2 * old.capacity : 64;
  environment->slots = TF_ARENA_ARRAY(lowering->arena, struct tf_environment_slot, environment->capacity);
  for (size_t i = 0; i < old.capacity; i++)
    if (old.slots[i].var) environment->slots[slot_of(environment, old.slots[i].var)] = old.slots[i];
}

tf_binding *tf_lower_bind(tf_lowering *lowering, const tf_expr *var, LLVMValueRef value) {
  grow(lowering);
  tf_environment *environment = &lowering->environment;
  struct tf_environment_slot *slot = &environment->slots[slot_of(environment, var)];
  if (!slot->var) environment->used++;
  tf_binding *binding = TF_ARENA_NEW(lowering->arena, tf_binding);
  *binding = (tf_binding){.var = var,
                          .value = value,
                          .facts = {.divisor = 1, .min = INT64_MIN, .max = INT64_MAX},
                          .alignment = 1,
                          .shadowed = slot->binding};
  *slot = (struct tf_environment_slot){var, binding};
  TF_VEC_PUSH(lowering->arena, &environment->stack, binding);
  return binding;
}

tf_binding *tf_lower_find(tf_lowering *lowering, const tf_expr *var) {
  tf_environment *environment = &lowering->environment;
  return environment->capacity ? environment->slots[slot_of(environment, var)].binding : NULL;
}

size_t tf_lower_mark(const tf_lowering *lowering) {
  return lowering->environment.stack.count;
}

void tf_lower_reset(tf_lowering *lowering, size_t mark) {
  tf_environment *environment = &lowering->environment;
  while (environment->stack.count > mark) {
    tf_binding *binding = environment->stack.items[--environment->stack.count];
    environment->slots[slot_of(environment, binding->var)].binding = binding->shadowed;
  }
}
