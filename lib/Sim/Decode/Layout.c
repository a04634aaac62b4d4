/* Static shared memory.
 *
 *   0 ┌────────────────────┬──────────────────────────┬─────────────── dynamic ───▶
 *     │ common             │ this kernel's own        │ (.extern, sized by the launch)
 *     └────────────────────┴──────────────────────────┘
 * Variables that device functions use have one place in the whole module (common), since a function's code is shared by
 * all kernels that call it. A kernel's own variables follow, laid out per kernel; kernels that call nothing begin at 0. */
#include "Sim/Decode/Decode.h"

#include <string.h>

typedef void (*visitor)(tf_ptx_var *v, void *user);

static void visit_operand(const tf_ptx_operand *o, visitor visit, void *user) {
  if (o->var && o->var->space == TF_SPACE_SHARED) visit(o->var, user);
  for (uint32_t i = 0; i < o->item_count; i++)
    visit_operand(&o->items[i], visit, user);
}

static void visit_function(const tf_ptx_func *f, visitor visit, void *user) {
  for (size_t i = 0; i < f->stmt_count; i++)
    for (uint32_t k = 0; k < f->stmts[i].operand_count; k++)
      visit_operand(&f->stmts[i].operands[k], visit, user);
}

typedef struct place {
  uint64_t at;
  uint32_t dynamic_align;
} place;

static void put(tf_ptx_var *v, place *p) {
  uint64_t align = v->align ? v->align : 1;
  p->at = (p->at + align - 1) / align * align;
  v->address = p->at;
  v->placed = true;
  p->at += v->bytes;
}

static void put_common(tf_ptx_var *v, void *user) {
  v->used_by_device_function = true;
  if (!v->unsized && !v->placed) put(v, user);
}

static void unplace(tf_ptx_var *v, void *user) {
  (void)user;
  v->placed = v->used_by_device_function;
}

static void put_own(tf_ptx_var *v, void *user) {
  place *p = user;
  if (v->unsized && v->align > p->dynamic_align) p->dynamic_align = v->align;
  if (!v->unsized && !v->placed) put(v, p);
}

static bool calls_anything(const tf_ptx_func *f) {
  for (size_t i = 0; i < f->stmt_count; i++)
    if (strcmp(f->stmts[i].opcode, "call") == 0) return true;
  return false;
}

void tf_layout_common(tf_module *m) {
  place p = {.dynamic_align = 16};
  for (const tf_ptx_func *f = m->ptx->funcs; f; f = f->next)
    if (!f->is_entry && f->has_body) visit_function(f, put_common, &p);
  m->common_shared = p.at;
}

bool tf_layout_entry(tf_module *m, tf_func *f, tf_ptx_error *error) {
  place p = {.at = calls_anything(f->ptx) ? m->common_shared : 0, .dynamic_align = 16};
  visit_function(f->ptx, unplace, NULL);
  visit_function(f->ptx, put_own, &p);
  f->shared_bytes = p.at;
  f->dynamic_align = p.dynamic_align;
  uint64_t limit = m->device->profile->shared_per_block;
  if (p.at <= limit) return true;
  return tf_ptx_fail(error, f->ptx->line, f->name, strlen(f->name),
                     "kernel '%s' needs %llu bytes of static shared memory; the limit is %llu", f->name,
                     (unsigned long long)p.at, (unsigned long long)limit);
}
