/* The warp executor: runs the group of lanes at the lowest pc in straight runs, parks and picks groups at branches.
 *
 * Lanes only ever wait at the start of a straight run (branch targets, what follows a branch, collectives), so a run
 * needs no test of its own: the loop below looks at limits, fuel and the stop flag once per run. */
#include "Sim/Check.h"
#include "Sim/Count.h"
#include "Sim/Module.h"

#include <string.h>

void tf_warp_park(tf_warp *w, uint32_t lanes, uint32_t pc) {
  for (uint32_t m = lanes; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    w->lane_pc[l] = pc;
    w->lane_frame[l] = w->frame;
    w->lane_state[l] = TF_LANE_RUN;
    w->lane_stamp[l] = w->stamp;
  }
}

void tf_warp_branch(tf_warp *w, const tf_insn *in, uint32_t taken, uint32_t pc) {
  (void)in;
  if (taken == w->mask || taken == 0) {
    if (taken == 0) {
      w->pc++;
      return;
    }
    if (pc <= w->pc) { /* backward: a place to notice spinning */
      if (w->spin) w->fuel -= 512;
      w->spin = false;
      if (w->mask != w->live) w->fuel--;
    }
    w->pc = pc;
    return;
  }
  if (pc <= w->pc && w->spin) w->fuel -= 512;
  tf_warp_park(w, taken, pc);
  tf_warp_park(w, w->mask & ~taken, w->pc + 1);
  w->resched = true;
}

void tf_warp_exit(tf_warp *w, uint32_t lanes) {
  for (uint32_t m = lanes; m; m &= m - 1)
    w->lane_state[__builtin_ctz(m)] = TF_LANE_EXIT;
  w->live &= ~lanes;
  w->cta->live_threads -= (uint32_t)__builtin_popcount(lanes);
  w->worker->progress++;
  if (!w->cta->live_threads) tf_check_cta_ends(w->cta);
  if (lanes != w->mask) tf_warp_park(w, w->mask & ~lanes, w->pc + 1);
  w->resched = true;
  tf_barrier_recheck(w->cta);
}

/* True when lanes a and b wait in one collective: same place and members, or both at a pure meeting point. */
static bool gathers_with(const tf_warp *w, unsigned a, unsigned b) {
  if (w->lane_state[b] != TF_LANE_GATHER || w->lane_wait[a] != w->lane_wait[b]) return false;
  if (w->lane_pc[a] == w->lane_pc[b] && w->lane_frame[a] == w->lane_frame[b]) return true;
  return w->lane_frame[a]->func->code[w->lane_pc[a]].row->flags &
         w->lane_frame[b]->func->code[w->lane_pc[b]].row->flags & TF_INSN_MEET;
}

/* Lanes that wait for others at a collective may go on once every member waits there too (or has ended). */
static void release_gathered(tf_warp *w) {
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (w->lane_state[l] != TF_LANE_GATHER) continue;
    uint32_t here = 0;
    for (unsigned k = l; k < TF_LANES; k++)
      if (gathers_with(w, l, k)) here |= 1u << k;
    if (w->lane_wait[l] & w->live & ~here) continue;
    if (w->lane_frame[l]->func->code[w->lane_pc[l]].row->flags & TF_INSN_MEET) tf_check_warp_sync(w, here);
    for (uint32_t m = here; m; m &= m - 1) {
      unsigned k = (unsigned)__builtin_ctz(m);
      w->lane_state[k] = TF_LANE_RUN;
      /* bar.warp.sync has nothing left to do: step past it, or members at other places would be waited for again */
      if (w->lane_frame[k]->func->code[w->lane_pc[k]].row->flags & TF_INSN_MEET) w->lane_pc[k]++;
    }
  }
}

static bool before(const tf_warp *w, unsigned a, unsigned b) {
  uint32_t da = w->lane_frame[a]->depth, db = w->lane_frame[b]->depth;
  if (w->fair) return w->lane_stamp[a] < w->lane_stamp[b];
  if (da != db) return da > db;
  return w->lane_pc[a] < w->lane_pc[b];
}

/* Makes the lane's group the running one. */
static void adopt(tf_warp *w, unsigned leader, uint32_t runnable) {
  w->frame = w->lane_frame[leader];
  w->pc = w->lane_pc[leader];
  w->mask = 0;
  w->limit = UINT32_MAX;
  for (uint32_t m = runnable; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (w->lane_frame[l] != w->frame) continue;
    if (w->lane_pc[l] == w->pc)
      w->mask |= 1u << l;
    else if (!w->fair && w->lane_pc[l] < w->limit && w->lane_pc[l] > w->pc)
      w->limit = w->lane_pc[l];
  }
  w->bank[TF_BANK_REGS] = w->frame->regs;
  w->bank[TF_BANK_CONSTS] = w->frame->func->consts;
  w->stamp++;
  w->resched = false;
  w->spin = false;
}

static unsigned random_lane(tf_warp *w, uint32_t runnable) {
  w->cta->rng = w->cta->rng * 6364136223846793005u + 1442695040888963407u;
  unsigned skip = (unsigned)(w->cta->rng >> 33) % (unsigned)__builtin_popcount(runnable);
  while (skip--)
    runnable &= runnable - 1;
  return (unsigned)__builtin_ctz(runnable);
}

/* Chooses the next group. False: no lane of the warp can run. */
static bool pick(tf_warp *w) {
  uint32_t runnable = 0;
  release_gathered(w);
  for (unsigned l = 0; l < TF_LANES; l++)
    if (w->lane_state[l] == TF_LANE_RUN) runnable |= 1u << l;
  if (!runnable) return false;
  unsigned best = (unsigned)__builtin_ctz(runnable);
  for (uint32_t m = runnable & (runnable - 1); m; m &= m - 1)
    if (before(w, (unsigned)__builtin_ctz(m), best)) best = (unsigned)__builtin_ctz(m);
  if (w->launch->seed && !w->fair) { /* now and then another group than the one that would reconverge first */
    w->cta->rng = w->cta->rng * 6364136223846793005u + 1442695040888963407u;
    if ((w->cta->rng >> 40) % 8 == 0) best = random_lane(w, runnable);
  }
  adopt(w, best, runnable);
  return true;
}

static uint32_t members_of(const tf_warp *w, const tf_insn *in, unsigned lane) {
  if (in->member == 255) return w->live;
  return ((const uint32_t *)tf_operand(w, in->ext[in->member]))[lane];
}

/* A collective whose members are not all here: the group waits, lanes that skip it (guard) go on. */
static bool must_wait(tf_warp *w, const tf_insn *in, uint32_t mask) {
  uint32_t missing = 0;
  for (uint32_t m = mask; m; m &= m - 1)
    missing |= members_of(w, in, (unsigned)__builtin_ctz(m)) & w->live & ~mask;
  if (!missing) return false;
  tf_warp_park(w, w->mask & ~mask, w->pc + 1);
  tf_warp_park(w, mask, w->pc);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    w->lane_state[l] = TF_LANE_GATHER;
    w->lane_wait[l] = members_of(w, in, l);
  }
  w->resched = true;
  return true;
}

static inline uint32_t guarded(const tf_warp *w, const tf_insn *in) {
  if (in->guard == TF_NO_OPERAND) return w->mask;
  uint32_t p;
  memcpy(&p, tf_operand(w, in->guard), sizeof p);
  return w->mask & (p ^ in->guard_flip);
}

static void run_straight(tf_warp *w, const tf_insn *in, const tf_insn *end) {
  for (; in < end; in++) {
    uint32_t mask = guarded(w, in);
    if (mask) in->run(w, in, mask);
  }
}

static inline void count(tf_sim_tally *t, uint32_t mask) {
  t->warp_instructions++;
  t->lane_instructions += (unsigned)__builtin_popcount(mask);
}

/* Counters and the register checker see an instruction before it runs. */
static void observe(tf_warp *w, const tf_insn *in, uint32_t mask) {
  if (w->launch->count) count(tf_count_at(w, in), mask);
  if (!w->registers) return;
  if (in->guard != TF_NO_OPERAND) tf_init_guard(w, in);
  if (mask && in->uses->count) tf_init_registers(w, in, mask);
}

static void run_observed(tf_warp *w, const tf_insn *in, const tf_insn *end) {
  for (; in < end; in++) {
    uint32_t mask = guarded(w, in);
    observe(w, in, mask);
    if (mask) in->run(w, in, mask);
  }
}

/* A collective that has to wait is executed, and counted, when its members have come. */
static void run_single(tf_warp *w, const tf_insn *in, bool observed) {
  uint32_t mask = guarded(w, in);
  bool gather = in->kind == TF_KIND_GATHER, strict = w->launch->checks & TF_SIM_CHECK_SYNC;
  if (gather && mask && strict && in->member != 255) tf_check_collective(w, in, mask);
  if (gather && mask && must_wait(w, in, mask)) {
    w->worker->executed--;
    return;
  }
  if (observed) observe(w, in, mask);
  if (gather && mask && strict && in->member == 255) tf_check_collective(w, in, mask);
  if (mask || (!gather && in->guard == TF_NO_OPERAND)) in->run(w, in, mask);
  if (gather || (!mask && in->guard != TF_NO_OPERAND)) w->pc++;
}

static void run_group(tf_warp *w) {
  tf_worker *worker = w->worker;
  bool observed = w->launch->count || w->registers;
  while (!w->resched) {
    if (w->pc >= w->limit || w->fuel <= 0 || atomic_load_explicit(&w->launch->stop, memory_order_relaxed)) {
      tf_warp_park(w, w->mask, w->pc);
      w->resched = true;
      return;
    }
    const tf_insn *in = &w->frame->func->code[w->pc];
    uint32_t n = in->straight;
    if (n) {
      (observed ? run_observed : run_straight)(w, in, in + n);
      w->pc += n;
      in += n;
      w->fuel -= n;
      worker->executed += n;
      if (in->kind == TF_KIND_PLAIN || w->pc >= w->limit) continue; /* a label: lanes may be waiting here */
    }
    w->fuel--;
    worker->executed++;
    run_single(w, in, observed);
  }
}

tf_turn tf_warp_run(tf_warp *w, int64_t fuel) {
  w->fuel = fuel;
  if (w->live == 0) return TF_TURN_DONE;
  w->fair = !w->fair && w->diverged;
  while (w->fuel > 0 && !atomic_load_explicit(&w->launch->stop, memory_order_relaxed)) {
    if (!pick(w)) return w->live ? TF_TURN_BLOCKED : TF_TURN_DONE;
    run_group(w);
    w->fair = false;
  }
  w->diverged = w->mask != w->live;
  return w->live ? TF_TURN_READY : TF_TURN_DONE;
}
