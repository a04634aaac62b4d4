/* Warps and their frames: making a warp ready, entering and leaving functions.
 *
 *   root frame (entry) ─┬─ frame of f called from entry ── frame of g called from f
 *                       └─ frame of g called from entry        a frame is made at the first call and kept for the next;
 * lanes of different calls share it, since each uses its own column and its own return address. */
#include "Sim/Exec.h"
#include "Sim/Async.h"
#include "Sim/Check.h"
#include "Sim/Module.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 20000, MAX_STACK = 512 * 1024, FIRST_STACK = 1024 };

static const struct {
  const char *name;
  unsigned bytes;
} sregs[] = {
#define S(name, id, bytes) {name, bytes},
#include "Sim/Sregs.def"
#undef S
};

uint32_t tf_sreg_operand(const char *name, unsigned *bytes) {
  for (uint32_t i = 0; i < TF_SREG_COUNT; i++)
    if (strcmp(sregs[i].name, name) == 0) {
      *bytes = sregs[i].bytes;
      return i * 256 | TF_BANK_SPECIAL;
    }
  return TF_NO_OPERAND;
}

static bool is_read(const tf_warp *w, unsigned id) {
  return w->launch->device->reads_sreg[id];
}

static void set32(tf_warp *w, tf_sreg id, uint32_t value) {
  if (!is_read(w, id)) return;
  uint32_t *p = (uint32_t *)(void *)(w->special + (size_t)id * 256);
  for (unsigned l = 0; l < TF_LANES; l++)
    p[l] = value;
}

static void set_threads(tf_warp *w) {
  const uint32_t *block = w->launch->block;
  uint32_t *slot[3];
  if (!is_read(w, TF_SREG_tid_x) && !is_read(w, TF_SREG_tid_y) && !is_read(w, TF_SREG_tid_z)) return;
  for (unsigned i = 0; i < 3; i++)
    slot[i] = (uint32_t *)(void *)(w->special + (size_t)(TF_SREG_tid_x + i) * 256);
  uint32_t first = w->index * TF_LANES;
  uint32_t x = first % block[0], y = first / block[0] % block[1], z = first / block[0] / block[1];
  for (unsigned l = 0; l < TF_LANES; l++) {
    slot[0][l] = x;
    slot[1][l] = y;
    slot[2][l] = z;
    if (++x < block[0]) continue;
    x = 0;
    if (++y < block[1]) continue;
    y = 0;
    z++;
  }
}

static void set_lanes(tf_warp *w) {
  uint32_t *id = (uint32_t *)(void *)(w->special + (size_t)TF_SREG_laneid * 256);
  uint32_t *m[5];
  bool any = is_read(w, TF_SREG_laneid);
  for (unsigned i = 0; i < 5; i++)
    any = any || is_read(w, TF_SREG_lanemask_eq + i);
  if (!any) return;
  for (unsigned i = 0; i < 5; i++)
    m[i] = (uint32_t *)(void *)(w->special + (size_t)(TF_SREG_lanemask_eq + i) * 256);
  for (uint32_t l = 0; l < TF_LANES; l++) {
    uint32_t bit = 1u << l;
    id[l] = l;
    m[0][l] = bit;
    m[1][l] = bit - 1;
    m[2][l] = bit | (bit - 1);
    m[3][l] = ~(bit | (bit - 1));
    m[4][l] = ~(bit - 1);
  }
}

static void set_grid(tf_warp *w) {
  const tf_launch *l = w->launch;
  const tf_cta *c = w->cta;
  const tf_cluster *k = c->cluster;
  for (unsigned i = 0; i < 3; i++) {
    set32(w, (tf_sreg)(TF_SREG_ntid_x + i), l->block[i]);
    set32(w, (tf_sreg)(TF_SREG_ctaid_x + i), c->ctaid[i]);
    set32(w, (tf_sreg)(TF_SREG_nctaid_x + i), l->grid[i]);
    set32(w, (tf_sreg)(TF_SREG_clusterid_x + i), k->id[i]);
    set32(w, (tf_sreg)(TF_SREG_nclusterid_x + i), l->grid[i] / k->size[i]);
    set32(w, (tf_sreg)(TF_SREG_cluster_ctaid_x + i), c->ctaid[i] % k->size[i]);
    set32(w, (tf_sreg)(TF_SREG_cluster_nctaid_x + i), k->size[i]);
  }
  set32(w, TF_SREG_cluster_ctarank, c->rank);
  set32(w, TF_SREG_cluster_nctarank, k->count);
  set32(w, TF_SREG_is_explicit_cluster, k->count > 1);
  set32(w, TF_SREG_envreg0, 0);
  set32(w, TF_SREG_envreg1, (uint32_t)(l->workspace >> 32));
  set32(w, TF_SREG_envreg2, (uint32_t)l->workspace);
}

static void set_special(tf_warp *w) {
  const tf_launch *l = w->launch;
  const tf_sim_profile *p = l->device->profile;
  set_threads(w);
  set_lanes(w);
  set_grid(w);
  set32(w, TF_SREG_warpid, w->index);
  set32(w, TF_SREG_nwarpid, p->max_threads_per_sm / TF_LANES);
  set32(w, TF_SREG_smid, (uint32_t)(w->cta->linear % p->multiprocessors));
  set32(w, TF_SREG_nsmid, p->multiprocessors);
  uint64_t *grid = (uint64_t *)(void *)(w->special + (size_t)TF_SREG_gridid * 256);
  for (unsigned i = 0; i < TF_LANES && is_read(w, TF_SREG_gridid); i++)
    grid[i] = l->id;
  set32(w, TF_SREG_total_smem_size, (uint32_t)l->shared_bytes);
  set32(w, TF_SREG_aggr_smem_size, (uint32_t)l->shared_bytes);
  set32(w, TF_SREG_dynamic_smem_size, (uint32_t)l->dynamic_shared);
  for (int i = TF_SREG_reserved_smem_begin; i <= TF_SREG_current_graph_exec; i++)
    if (is_read(w, (unsigned)i)) memset(w->special + (size_t)i * 256, 0, 256);
}

/* Makes room for `bytes` of stack per lane. */
static bool reserve_stack(tf_warp *w, uint64_t bytes) {
  if (bytes <= w->local_stride) return true;
  if (bytes > MAX_STACK) return false;
  uint64_t stride = w->local_stride ? w->local_stride : FIRST_STACK;
  while (stride < bytes)
    stride *= 2;
  char *grown = tf_spares_take(&w->worker->spares, TF_LANES * stride);
  if (grown) memset(grown, 0, TF_LANES * stride);
  if (grown && w->launch->adversarial) tf_memory_noise(grown, TF_LANES * stride, w->launch->seed + stride);
  unsigned char *init = w->launch->checks & TF_SIM_CHECK_INIT ? calloc(TF_LANES, stride) : NULL;
  if (!grown || ((w->launch->checks & TF_SIM_CHECK_INIT) && !init)) {
    tf_spares_give(&w->worker->spares, grown);
    free(init);
    return false;
  }
  for (unsigned l = 0; l < TF_LANES && w->local; l++) {
    memcpy(grown + l * stride, w->local + l * w->local_stride, w->local_stride);
    if (init) memcpy(init + l * stride, w->local_init + l * w->local_stride, w->local_stride);
  }
  tf_spares_give(&w->worker->spares, w->local);
  free(w->local_init);
  w->local = grown;
  w->local_init = init;
  w->local_stride = stride;
  return true;
}

static void init_slot(const tf_warp *w, const tf_frame *f, const tf_frame_init *init) {
  uint64_t base = init->base == TF_BASE_LOCAL ? f->local_base : w->launch->shared_bytes - w->launch->dynamic_shared;
  uint64_t value = base + init->offset;
  char *slot = f->regs + (init->operand & ~3u);
  for (unsigned l = 0; l < TF_LANES; l++)
    memcpy(slot + (size_t)init->width * l, &value, init->width);
  if (f->set) memset(f->set + (init->operand & ~3u), 0xFF, (size_t)init->width * 4);
}

static void each_register(tf_frame *f, void (*visit)(tf_frame *f, const tf_ptx_reg *r, uint32_t slot, uint32_t with),
                          uint32_t with) {
  for (const tf_ptx_reg *r = f->func->ptx->regs; r; r = r->next) {
    size_t n = (size_t)(r->count ? r->count : 1) * r->vector;
    for (size_t i = 0; r->slots && i < n; i++)
      if (r->slots[i]) visit(f, r, r->slots[i], with);
  }
}

/* Fresh registers of an adversarial launch hold noise; narrow ones keep the upper part of their lanes clear. */
static void poison_register(tf_frame *f, const tf_ptx_reg *r, uint32_t slot, uint32_t with) {
  unsigned bytes = tf_type_bytes(r->type);
  size_t size = r->type == TF_T_pred ? 4 : (size_t)(bytes <= 4 ? 4 : bytes) * TF_LANES;
  tf_memory_noise(f->regs + slot, size, slot + with);
  if (r->type == TF_T_pred || bytes >= 4) return;
  for (unsigned l = 0; l < TF_LANES; l++)
    memset(f->regs + slot + 4 * l + bytes, 0, 4 - bytes);
}

/* Masks of lanes that the init checker keeps of a register: one per byte, at least four; one of a predicate. */
static unsigned masks_of(tf_type type) {
  unsigned bytes = tf_type_bytes(type);
  return type == TF_T_pred ? 1 : bytes <= 4 ? 4 : bytes;
}

/* A function is entered anew: its registers are unset in the lanes. */
static void forget_register(tf_frame *f, const tf_ptx_reg *r, uint32_t slot, uint32_t lanes) {
  uint32_t *set = (uint32_t *)(void *)(f->set + slot);
  for (unsigned i = 0; i < masks_of(r->type); i++)
    set[i] &= ~lanes;
}

static tf_frame *new_frame(tf_warp *w, tf_frame *parent, const tf_func *func) {
  uint64_t base = parent ? parent->local_base + parent->func->local_bytes : 0;
  if (parent && parent->depth >= MAX_DEPTH) return NULL;
  if (!reserve_stack(w, base + func->local_bytes)) return NULL;
  tf_frame *f = tf_pool_alloc(&w->frames, sizeof *f);
  char *regs = tf_pool_alloc(&w->frames, func->regs_bytes);
  char *set = w->registers ? tf_pool_alloc(&w->frames, func->regs_bytes) : NULL;
  uint32_t *sound = w->registers ? tf_pool_alloc(&w->frames, func->count * sizeof *sound) : NULL;
  if (!f || !regs || (w->registers && !(set && sound))) return NULL;
  *f = (tf_frame){
      .parent = parent, .func = func, .regs = regs, .set = set, .sound = sound, .unset = 1, .local_base = base};
  if (w->launch->adversarial) each_register(f, poison_register, (uint32_t)w->launch->seed + w->index);
  if (parent) {
    f->depth = parent->depth + 1;
    f->sibling = parent->child;
    parent->child = f;
  }
  for (uint32_t i = 0; i < func->init_count; i++)
    init_slot(w, f, &func->inits[i]);
  return f;
}

bool tf_warp_init(tf_warp *w) {
  w->registers = w->launch->checks & TF_SIM_CHECK_INIT;
  w->special = tf_pool_raw(&w->frames, (size_t)TF_SREG_COUNT * 256); /* set_special fills what can be read */
  if (!w->special) return false;
  w->bank[TF_BANK_SPECIAL] = w->special;
  set_special(w);
  w->root = new_frame(w, NULL, w->launch->entry);
  if (!w->root) return false;
  uint64_t left = w->launch->block_count - (uint64_t)w->index * TF_LANES;
  w->live = left >= TF_LANES ? TF_FULL_MASK : (1u << left) - 1;
  w->root->live = w->born = w->live;
  for (unsigned l = 0; l < TF_LANES; l++)
    w->lane_state[l] = TF_LANE_EXIT;
  w->frame = w->root;
  tf_warp_park(w, w->live, 0);
  w->mask = w->live;
  w->resched = true;
  w->watch = w->launch->count || (w->launch->checks & ~(unsigned)TF_SIM_CHECK_MEM);
  return true;
}

void tf_warp_free(tf_warp *w) {
  tf_spares_give(&w->worker->spares, w->local);
  free(w->local_init);
  tf_async_free(w);
  tf_pool_free(&w->frames);
  w->local = NULL;
  w->local_init = NULL;
}

static tf_frame *child_frame(tf_warp *w, const tf_func *func, uint32_t mask) {
  for (tf_frame *f = w->frame->child; f; f = f->sibling)
    if (f->func == func && !(f->live & mask)) return f;
  return new_frame(w, w->frame, func);
}

/* One lane's parameter: between a register of a frame and a place on the stack, in any combination. */
static unsigned char *place_of(tf_warp *w, const tf_frame *f, const tf_param *p, unsigned lane) {
  if (p->operand == TF_NO_OPERAND)
    return (unsigned char *)w->local + (uint64_t)lane * w->local_stride + f->local_base + p->offset;
  char *bank = (p->operand & 3) == TF_BANK_REGS     ? f->regs
               : (p->operand & 3) == TF_BANK_CONSTS ? f->func->consts
                                                    : w->special;
  return (unsigned char *)bank + (p->operand & ~3u) + (size_t)(p->width <= 4 ? 4 : p->width) * lane;
}

/* A register that receives a parameter is set if what it receives is. */
static void hand_on_set(const tf_frame *from, const tf_param *a, tf_frame *to, const tf_param *b, unsigned lane) {
  to->unset++;
  uint32_t bit = 1u << lane, *set = (uint32_t *)(void *)(to->set + (b->operand & ~3u));
  bool known = a->operand != TF_NO_OPERAND && (a->operand & 3) == TF_BANK_REGS;
  const uint32_t *source = known ? (const uint32_t *)(const void *)(from->set + (a->operand & ~3u)) : NULL;
  for (unsigned i = 0; i < (b->width <= 4 ? 4u : b->width); i++)
    set[i] = source && i < a->width && !(source[i] & bit) ? set[i] & ~bit : set[i] | bit;
}

static void pass(tf_warp *w, const tf_frame *from, const tf_param *a, tf_frame *to, const tf_param *b, uint32_t mask) {
  uint64_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes;
  for (uint32_t m = mask; m && bytes; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    unsigned char *dst = place_of(w, to, b, l);
    if (to->set && b->operand != TF_NO_OPERAND) hand_on_set(from, a, to, b, l);
    if (b->operand != TF_NO_OPERAND) memset(dst, 0, b->width <= 4 ? 4 : b->width);
    memcpy(dst, place_of(w, from, a, l), bytes);
    if (w->local_init && b->operand == TF_NO_OPERAND) {
      unsigned char *init = w->local_init + (dst - (unsigned char *)w->local);
      if (a->operand == TF_NO_OPERAND)
        memcpy(init, w->local_init + (place_of(w, from, a, l) - (unsigned char *)w->local), bytes);
      else
        memset(init, 1, bytes);
    }
  }
}

bool tf_frame_enter(tf_warp *w, const tf_insn *in, const tf_func *func, const tf_call *call, uint32_t mask) {
  unsigned lane = (unsigned)__builtin_ctz(mask);
  tf_frame *f = child_frame(w, func, mask);
  if (!f) {
    tf_find(w, in, lane, TF_FIND_stack_overflow, 0, 0, "stack overflow in call of '%s' at depth %u", func->name,
            w->frame->depth);
    return false;
  }
  f->live |= mask;
  f->unset++;
  if (f->set) each_register(f, forget_register, mask);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    tf_init_local_begins(w, l, f->local_base, func->local_bytes);
    f->ret_pc[l] = w->pc + 1;
    f->call[l] = call;
  }
  uint32_t n = call->arg_count < func->param_count ? call->arg_count : func->param_count;
  for (uint32_t i = 0; i < n; i++)
    pass(w, w->frame, &call->args[i], f, &func->params[i], mask);
  w->frame = f;
  return true;
}

/* The lanes go back to where each came from; lanes of different calls part here. */
void tf_frame_leave(tf_warp *w, uint32_t mask) {
  tf_frame *f = w->frame, *parent = f->parent;
  f->live &= ~mask;
  while (mask) {
    unsigned leader = (unsigned)__builtin_ctz(mask);
    const tf_call *call = f->call[leader];
    uint32_t group = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = (unsigned)__builtin_ctz(m);
      if (f->call[l] == call && f->ret_pc[l] == f->ret_pc[leader]) group |= 1u << l;
    }
    uint32_t n = call->ret_count < f->func->ret_count ? call->ret_count : f->func->ret_count;
    for (uint32_t i = 0; i < n; i++)
      pass(w, f, &f->func->rets[i], parent, &call->rets[i], group);
    w->frame = parent;
    tf_warp_park(w, group, f->ret_pc[leader]);
    mask &= ~group;
  }
  w->resched = true;
}
