/* Control flow: branches, calls, ends. Handlers here move w->pc or park lanes; see Exec.h. */
#include "Sim/Insn/Lanes.h"
#include "Sim/Module.h"

#define ALWAYS(name, handler)                                                                                          \
  SELECTOR(name) {                                                                                                     \
    (void)f;                                                                                                           \
    return handler;                                                                                                    \
  }

HANDLER(bra) {
  tf_warp_branch(w, in, mask, (uint32_t)in->imm[0]);
}
ALWAYS(select_bra, bra)

/* Lanes with one index go on together; the others are parked at their own targets. */
HANDLER(brx) {
  const tf_branch_table *t = in->data;
  const uint32_t *index = SLOT(const uint32_t, 0);
  tf_warp_park(w, w->mask & ~mask, w->pc + 1);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (index[l] >= t->count) {
      tf_find(w, in, l, TF_FIND_bad_branch, 0, 0, "brx.idx with index %u; the list has %u targets", index[l], t->count);
      tf_warp_park(w, 1u << l, w->pc + 1);
    } else
      tf_warp_park(w, 1u << l, t->pcs[index[l]]);
  }
  w->resched = true;
}
ALWAYS(select_brx, brx)

static void enter(tf_warp *w, const tf_insn *in, const tf_func *func, uint32_t mask) {
  const tf_call *call = in->data;
  tf_frame *caller = w->frame;
  if (func->native) {
    func->native(w, in, call, mask);
    tf_warp_park(w, mask, w->pc + 1);
    return;
  }
  if (tf_frame_enter(w, in, func, call, mask)) tf_warp_park(w, mask, 0);
  w->frame = caller;
}

static void call_indirect(tf_warp *w, const tf_insn *in, uint32_t mask) {
  const tf_call *call = in->data;
  const uint64_t *target = tf_operand(w, call->target);
  while (mask) {
    unsigned leader = (unsigned)__builtin_ctz(mask);
    uint32_t same = 0;
    for (uint32_t m = mask; m; m &= m - 1)
      if (target[__builtin_ctz(m)] == target[leader]) same |= 1u << __builtin_ctz(m);
    const tf_func *f = tf_device_function_at(w->launch->device, target[leader]);
    bool fits = f && !f->is_entry && (f->code || f->native) && f->ptx->param_count == call->arg_count &&
                f->ptx->ret_count == call->ret_count;
    if (fits)
      enter(w, in, f, same);
    else {
      tf_find(w, in, leader, TF_FIND_bad_call, target[leader], 0,
              "call of 0x%llx, which is no function of this signature", (unsigned long long)target[leader]);
      tf_warp_park(w, same, w->pc + 1);
    }
    mask &= ~same;
  }
}

HANDLER(call) {
  tf_warp_park(w, w->mask & ~mask, w->pc + 1);
  if (in->callee)
    enter(w, in, in->callee, mask);
  else
    call_indirect(w, in, mask);
  w->resched = true;
}
ALWAYS(select_call, call)

HANDLER(ret) {
  (void)in;
  if (!w->frame->parent) {
    tf_warp_exit(w, mask);
    return;
  }
  tf_warp_park(w, w->mask & ~mask, w->pc + 1);
  tf_frame_leave(w, mask);
}
ALWAYS(select_ret, ret)

HANDLER(leave) {
  (void)in;
  tf_warp_exit(w, mask);
}
ALWAYS(select_exit, leave)

HANDLER(trap) {
  tf_find(w, in, (unsigned)__builtin_ctz(mask), TF_FIND_trap, 0, 0, "the kernel executed trap");
  tf_warp_exit(w, mask);
}
ALWAYS(select_trap, trap)

HANDLER(brkpt) {
  tf_find(w, in, (unsigned)__builtin_ctz(mask), TF_FIND_trap, 0, 0, "the kernel executed brkpt");
  tf_warp_exit(w, mask);
}
ALWAYS(select_brkpt, brkpt)

static const tf_row rows[] = {
#include "Sim/Insn/Control.def"
};
TF_FAMILY(Control, rows)
