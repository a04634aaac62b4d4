/* The slow path of memory accesses: windows, allocations, and the mem checker's reports. */
#include "Sim/Access.h"
#include "Sim/Module.h"
#include "Sim/View.h"

#include <stdio.h>
#include <string.h>

tf_space tf_address_space(const tf_warp *w, uint64_t address) {
  if (address - TF_SHARED_BASE < TF_WINDOW) return TF_SPACE_SHARED;
  if (address - TF_LOCAL_BASE < TF_WINDOW) return TF_SPACE_LOCAL;
  if (address - TF_PARAM_BASE < TF_WINDOW) return TF_SPACE_PARAM;
  if (address >= TF_CONST_BASE && address < TF_GLOBAL_BASE) {
    /* host memory mapped at its own address may lie in here */
    const tf_alloc *a = tf_memory_below(&w->launch->device->memory, address);
    return a && a->external && address - a->lo < a->bytes ? TF_SPACE_GLOBAL : TF_SPACE_CONST;
  }
  return TF_SPACE_GLOBAL;
}

static const char *verb(const tf_access *a) {
  return a->kind == TF_READ ? "read" : a->kind == TF_WRITE ? "write" : "atomic";
}

/* Where an address that no allocation holds lies, in words. */
static void describe(const tf_launch *l, uint64_t address, char *text, size_t size) {
  const tf_alloc *a = tf_memory_below(&l->device->memory, address);
  *text = '\0';
  if (!a) return;
  uint64_t past = address - a->lo;
  if (a->freed && past < a->bytes) {
    (void)snprintf(text, size, ", %llu bytes into %llu bytes that were freed", (unsigned long long)past,
                   (unsigned long long)a->bytes);
    return;
  }
  if (past >= a->bytes && past - a->bytes >= 1u << 30) return;
  const char *name = tf_launch_buffer_name(l, a);
  int used = past < a->bytes
                 ? snprintf(text, size, ", across the end of ")
                 : snprintf(text, size, ", %llu bytes after the end of ", (unsigned long long)(past - a->bytes));
  (void)snprintf(text + used, size - (size_t)used, "%s%.100s%s%llu bytes at 0x%llx", name ? "'" : "", name ? name : "",
                 name ? "', " : "", (unsigned long long)a->bytes, (unsigned long long)a->lo);
}

static unsigned char *refuse(tf_warp *w, const tf_insn *in, unsigned lane, const tf_access *a, tf_finding kind,
                             const char *what, const char *more) {
  tf_find(w, in, lane, kind, a->addr[lane], tf_access_bytes(a, lane), "%s of %u bytes at 0x%llx: %s%s", verb(a),
          tf_access_bytes(a, lane), (unsigned long long)a->addr[lane], what, more);
  return NULL;
}

static unsigned char *global_lane(tf_warp *w, const tf_insn *in, unsigned lane, const tf_access *a, uint64_t address) {
  const tf_memory *m = &w->launch->device->memory;
  tf_alloc *found = tf_memory_find(m, address, tf_access_bytes(a, lane));
  if (found) {
    if (found->constant && a->kind != TF_READ)
      return refuse(w, in, lane, a, TF_FIND_const_write, "constant memory", "");
    w->worker->cache[in->site % TF_CACHE_WAYS] = (tf_interval){found->lo, found->lo + found->bytes, found->host, found};
    unsigned char *real = (unsigned char *)found->host + (address - found->lo);
    return w->launch->adversarial && !found->constant ? tf_view_pointer(w, a, address, found, real) : real;
  }
  char more[256];
  describe(w->launch, address, more, sizeof more);
  const tf_alloc *below = tf_memory_below(m, address);
  if (below && below->freed && address - below->lo < below->bytes)
    return refuse(w, in, lane, a, TF_FIND_freed, "freed memory", more);
  if (address < 1u << 16) return refuse(w, in, lane, a, TF_FIND_null_pointer, "null pointer", "");
  return refuse(w, in, lane, a, TF_FIND_out_of_bounds, "outside every allocation", more);
}

static unsigned char *shared_lane(tf_warp *w, const tf_insn *in, unsigned lane, const tf_access *a, uint64_t offset) {
  const tf_cta *c = w->cta;
  uint64_t rank = offset >> TF_CTA_SHIFT;
  if (rank && rank <= c->cluster->count) {
    c = c->cluster->ctas[rank - 1];
    offset &= ((uint64_t)1 << TF_CTA_SHIFT) - 1;
  }
  if (offset <= c->shared_bytes && tf_access_bytes(a, lane) <= c->shared_bytes - offset)
    return (unsigned char *)c->shared + offset;
  char more[100];
  (void)snprintf(more, sizeof more, "; the CTA has %llu bytes of shared memory", (unsigned long long)c->shared_bytes);
  return refuse(w, in, lane, a, TF_FIND_shared_bounds, "beyond shared memory", more);
}

static uint64_t stack_top(const tf_warp *w) {
  return w->frame->local_base + w->frame->func->local_bytes;
}

static unsigned char *local_lane(tf_warp *w, const tf_insn *in, unsigned lane, const tf_access *a, uint64_t offset) {
  if (offset <= stack_top(w) && tf_access_bytes(a, lane) <= stack_top(w) - offset)
    return (unsigned char *)w->local + (uint64_t)lane * w->local_stride + offset;
  char more[100];
  (void)snprintf(more, sizeof more, "; the thread's stack has %llu bytes here", (unsigned long long)stack_top(w));
  return refuse(w, in, lane, a, TF_FIND_local_bounds, "beyond local memory", more);
}

static unsigned char *param_lane(tf_warp *w, const tf_insn *in, unsigned lane, const tf_access *a, uint64_t offset) {
  const tf_launch *l = w->launch;
  if (a->kind != TF_READ) return refuse(w, in, lane, a, TF_FIND_const_write, "kernel parameters cannot be written", "");
  if (offset <= l->param_bytes && tf_access_bytes(a, lane) <= l->param_bytes - offset)
    return (unsigned char *)l->params + offset;
  return refuse(w, in, lane, a, TF_FIND_param_bounds, "beyond the kernel's parameters", "");
}

static unsigned char *resolve_lane(tf_warp *w, const tf_insn *in, unsigned lane, const tf_access *a) {
  uint64_t address = a->addr[lane], offset = address;
  tf_space space = (tf_space)a->space;
  uint64_t align = a->align ? a->align : a->bytes;
  if (align > 1 && address & (align - 1)) return refuse(w, in, lane, a, TF_FIND_misaligned, "misaligned", "");
  if (space == TF_SPACE_GENERIC) {
    space = tf_address_space(w, address);
    offset = address - tf_window_base(space);
  }
  switch (space) {
  case TF_SPACE_SHARED:
    return shared_lane(w, in, lane, a, offset);
  case TF_SPACE_LOCAL:
    return local_lane(w, in, lane, a, offset);
  case TF_SPACE_PARAM:
    return param_lane(w, in, lane, a, offset);
  case TF_SPACE_GLOBAL:
    if (a->space == TF_SPACE_GLOBAL && tf_address_space(w, address) != TF_SPACE_GLOBAL &&
        address < TF_CODE_BASE + TF_WINDOW)
      return refuse(w, in, lane, a, TF_FIND_wrong_space, "a shared, local or parameter address in a global access", "");
    return global_lane(w, in, lane, a, address);
  default:
    return global_lane(w, in, lane, a, address);
  }
}

/* All lanes read one kernel parameter: resolved once. What is wrong with it is left for the lane-by-lane reports. */
static bool resolve_uniform(tf_warp *w, tf_access *a) {
  const tf_launch *launch = w->launch;
  uint64_t first = a->addr[__builtin_ctz(a->mask)], differs = 0, align = a->align ? a->align : a->bytes;
  if (a->kind != TF_READ || a->space != TF_SPACE_PARAM) return false;
  for (unsigned l = 0; l < TF_LANES; l++)
    differs |= a->addr[l] ^ first;
  if (differs || first & (align - 1) || first > launch->param_bytes || a->bytes > launch->param_bytes - first)
    return false;
  for (unsigned l = 0; l < TF_LANES; l++)
    a->ptr[l] = (unsigned char *)launch->params + first;
  a->ok = a->mask;
  return true;
}

void tf_access_slow(tf_warp *w, const tf_insn *in, tf_access *a) {
  a->ok = 0;
  a->dense = false;
  if (resolve_uniform(w, a)) return;
  for (uint32_t m = a->mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    a->ptr[l] = resolve_lane(w, in, l, a);
    if (a->ptr[l]) a->ok |= 1u << l;
  }
}

static uint64_t reach_in(uint64_t offset, uint64_t size, uint64_t most) {
  if (offset >= size) return 0;
  return size - offset < most ? size - offset : most;
}

uint64_t tf_access_reach(tf_warp *w, unsigned lane, uint64_t generic, uint64_t most) {
  tf_space space = tf_address_space(w, generic);
  uint64_t offset = generic - tf_window_base(space);
  (void)lane;
  if (space == TF_SPACE_SHARED) return reach_in(offset, w->cta->shared_bytes, most);
  if (space == TF_SPACE_LOCAL) return reach_in(offset, stack_top(w), most);
  if (space == TF_SPACE_PARAM) return reach_in(offset, w->launch->param_bytes, most);
  const tf_alloc *a = tf_memory_below(&w->launch->device->memory, generic);
  return a && !a->freed ? reach_in(generic - a->lo, a->bytes, most) : 0;
}

unsigned char *tf_access_peek(tf_warp *w, unsigned lane, uint64_t generic, uint64_t bytes) {
  if (tf_access_reach(w, lane, generic, bytes) < bytes) return NULL;
  tf_space space = tf_address_space(w, generic);
  uint64_t offset = generic - tf_window_base(space);
  if (space == TF_SPACE_SHARED) return (unsigned char *)w->cta->shared + offset;
  if (space == TF_SPACE_LOCAL) return (unsigned char *)w->local + (uint64_t)lane * w->local_stride + offset;
  if (space == TF_SPACE_PARAM) return (unsigned char *)w->launch->params + offset;
  tf_alloc *a = tf_memory_below(&w->launch->device->memory, generic);
  return (unsigned char *)a->host + (generic - a->lo);
}
