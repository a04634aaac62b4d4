/* The executing side: launches, CTAs, warps, frames.
 *
 *   launch ─▶ workers (threads) ─▶ clusters of CTAs ─▶ warps ─▶ frames (one per active call and function)
 *
 * A frame holds the registers of one function lane-major. Lanes of a diverged warp that call the same function from the
 * same frame share the callee's frame (their columns are disjoint), so they meet again inside it. Lanes that run
 * together form the group (w->mask, w->pc, w->frame); the others are parked with their own pc and frame.
 *
 *   lane      0    1    2    3   …            group  = lanes at one (frame, pc)
 *   pc       12   12   40   12                pick   = deepest frame first, then lowest pc: lanes meet where paths join
 *   state   run  run  bar  run                fair   = every other turn of a diverged warp takes the group that has
 *                                                      waited longest, so a lane that others spin on always gets on */
#ifndef TF_SIM_EXEC_H
#define TF_SIM_EXEC_H

#include "Sim/Insn.h"
#include "Sim/Memory.h"
#include "Sim/Report.h"

#include <stdatomic.h>

enum { TF_LANES = 32, TF_BARRIERS = 16, TF_ALL_LANES = -1 };
#define TF_FULL_MASK 0xFFFFFFFFu

/* Special registers in the order of the warp's special bank: 256 bytes each. */
typedef enum tf_sreg {
#define S(name, id, bytes) TF_SREG_##id,
#include "Sim/Sregs.def"
#undef S
  TF_SREG_COUNT
} tf_sreg;
/* Operand of a special register, or TF_NO_OPERAND; *bytes is its width. */
uint32_t tf_sreg_operand(const char *name, unsigned *bytes);

/* Registers whose value is known when a frame is made: addresses of local and param variables and of dynamic
 * shared memory. */
typedef enum tf_frame_base { TF_BASE_LOCAL, TF_BASE_DYNAMIC_SHARED } tf_frame_base;
typedef struct tf_frame_init {
  uint32_t operand;
  uint64_t offset; /* from the base */
  uint8_t base;    /* tf_frame_base */
  uint8_t width;   /* 4 or 8 */
} tf_frame_init;

typedef struct tf_param {
  uint64_t offset, bytes;
  uint32_t align;
  uint32_t operand; /* register parameters: the register; else TF_NO_OPERAND */
  uint8_t width;
} tf_param;

/* Arguments of a call: where each stands in the caller. */
typedef struct tf_call {
  tf_param *args, *rets;
  uint32_t arg_count, ret_count;
  uint32_t target; /* indirect: operand with the function's address */
} tf_call;

typedef struct tf_branch_table {
  const uint32_t *pcs;
  uint32_t count;
} tf_branch_table;

struct tf_func {
  const char *name;
  const tf_ptx_func *ptx;
  const struct tf_module *module;
  tf_insn *code;
  const tf_ptx_stmt **stmts; /* by instruction; null for a ret that the text leaves out */
  uint32_t count;
  uint32_t first_tally; /* of the module's instructions */
  uint32_t regs_bytes;
  char *consts;
  tf_frame_init *inits;
  uint32_t init_count;
  uint64_t local_bytes;
  tf_param *params, *rets; /* formal parameters; entries: layout of the parameter buffer */
  uint32_t param_count, ret_count;
  uint64_t param_bytes;
  uint64_t shared_bytes;  /* static, of entries */
  uint32_t dynamic_align; /* of dynamic shared memory */
  uint64_t address;       /* function pointer */
  bool is_entry;
  bool global_order;   /* this function or one it may call orders memory between CTAs */
  bool calls_indirect; /* likewise */
  void (*native)(tf_warp *w, const tf_insn *in, const tf_call *call, uint32_t mask); /* vprintf and friends */
};

typedef struct tf_frame {
  struct tf_frame *parent, *sibling, *child;
  const tf_func *func;
  char *regs;
  char *set; /* init checker: lanes that have set each register; see CheckInit.c */
  /* By instruction: `unset` when all that it reads and writes was last seen set in all lanes. `unset` changes whenever
   * something that was set no longer is. */
  uint32_t *sound, unset;
  uint32_t depth;
  uint32_t live; /* lanes inside */
  uint64_t local_base;
  uint32_t ret_pc[TF_LANES];
  const tf_call *call[TF_LANES];
} tf_frame;

typedef enum tf_lane_state { TF_LANE_RUN, TF_LANE_BARRIER, TF_LANE_GATHER, TF_LANE_EXIT } tf_lane_state;

struct tf_warp {
  char *bank[4];
  uint32_t mask, pc, limit;
  bool resched; /* the group is parked: pick another */
  bool spin;    /* the group touched memory that others may change since the last backward branch */
  bool looped;  /* has come back to seen_state while no memory changed */
  uint64_t seen_state;
  bool fair, diverged;
  bool watch;     /* checkers or counters want to see accesses */
  bool registers; /* the init checker watches registers */
  int64_t fuel;   /* instructions left in this turn */
  tf_frame *frame;
  uint32_t live;
  uint32_t born; /* lanes that the block gave the warp */
  uint32_t cc;   /* carry flags */
  struct tf_cta *cta;
  struct tf_worker *worker;
  struct tf_launch *launch;
  uint32_t index; /* in the CTA */
  uint32_t lane_pc[TF_LANES];
  tf_frame *lane_frame[TF_LANES];
  uint8_t lane_state[TF_LANES];
  uint32_t lane_wait[TF_LANES]; /* barrier: its id; gather: the member mask */
  uint64_t lane_stamp[TF_LANES];
  uint64_t lane_phase[TF_LANES]; /* cluster barrier: the phase a lane has arrived in */
  uint64_t stamp;
  tf_frame *root;
  tf_pool frames;
  char *local;               /* lane l's stack: local + l * local_stride */
  unsigned char *local_init; /* init checker: one byte per byte */
  uint64_t local_stride;
  struct {
    struct tf_copy *first, *last;
    uint32_t committed[TF_LANES], bulk_committed[TF_LANES]; /* groups */
  } copies;                                                 /* that have not landed; see Async.h */
  char *special;
};

/* bar.red: what to deliver, in the instruction's aux; the cluster's barrier among the ids that lanes wait for. */
enum {
  TF_BAR_POPC = 1,
  TF_BAR_AND = 2,
  TF_BAR_OR = 3,
  TF_BAR_MASK = 3,
  TF_BAR_ALIGNED = 1 << 8,
  TF_CLUSTER_BARRIER = 255
};

typedef struct tf_barrier {
  uint32_t arrived, expected; /* threads; expected 0: all live threads */
  uint32_t waiting;           /* threads blocked in it */
  bool active;
  uint32_t red_and, red_or, red_popc; /* bar.red so far: 0/1, 0/1, count */
} tf_barrier;

/* Global memory as a CTA of an adversarial launch sees it, see View.h: a table of sectors by address. */
typedef struct tf_view {
  struct tf_view *next; /* of those that wait for the launch's end */
  struct tf_sector **table;
  size_t size, count;
  tf_pool pool; /* sectors; they stay where they are */
} tf_view;

typedef struct tf_cta {
  struct tf_launch *launch;
  struct tf_worker *worker;
  struct tf_cluster *cluster;
  uint32_t ctaid[3];
  uint64_t linear;
  uint32_t rank; /* in the cluster */
  char *shared;
  unsigned char *shared_init; /* init checker */
  uint64_t shared_bytes;      /* static and dynamic */
  tf_warp *warps;
  uint32_t warp_count;
  uint32_t live_threads, done_warps;
  tf_barrier barriers[TF_BARRIERS];
  uint64_t rng;
  struct tf_race_cta *race;
  tf_view view;
} tf_cta;

typedef struct tf_cluster {
  tf_cta **ctas;
  uint32_t count, done;
  uint32_t size[3], id[3];
  uint32_t arrived, waiting; /* barrier.cluster, in threads */
  uint64_t phase;
  uint64_t idle, progress; /* rounds without any change of memory; the worker's count after the last round */
  uint64_t held;           /* what clocks read while the cluster is watched for loops; 0: the time */
  uint64_t leap;           /* how far the time has been put on last */
  bool timed;              /* a clock was read while it was held */
} tf_cluster;

enum { TF_CACHE_WAYS = 64 };

/* What one thread of the host needs to run CTAs. */
typedef struct tf_worker {
  struct tf_launch *launch;
  tf_spares spares; /* what ended CTAs leave for the next ones */
  tf_interval cache[TF_CACHE_WAYS];
  tf_sim_tally *tally;    /* counting: per instruction, see Count.h; else null */
  uint64_t *buffer_bytes; /* counting: read and written, per buffer */
  uint64_t progress;      /* changes whenever memory or a barrier may have changed */
  uint64_t executed;      /* warp instructions */
  uint64_t clock;
} tf_worker;

typedef struct tf_launch {
  struct tf_device *device;
  const struct tf_module *module;
  const tf_func *entry;
  uint32_t grid[3], block[3], cluster[3];
  uint64_t grid_count, block_count;
  uint64_t shared_bytes, dynamic_shared;
  const unsigned char *params;
  uint64_t param_bytes;
  unsigned checks;
  bool count;
  size_t tally_count;
  struct tf_count_buffer *buffers; /* counting: per allocation */
  size_t buffer_count;
  bool adversarial;
  bool cooperative;
  uint64_t workspace; /* of a cooperative launch: zeroed memory for the grid barrier; else 0 */
  uint64_t seed;
  uint64_t budget; /* warp instructions, over all workers */
  const atomic_bool *cancel;
  const int *cancel_all; /* the device's */
  atomic_bool stop;
  atomic_ullong next_cluster, executed;
  atomic_flag wide_atomic; /* held while a 128-bit atomic is carried out */
  tf_report *report;
  bool no_memory;
  struct tf_race *race;
  tf_view *retired, *retired_last; /* of CTAs that have ended */
  size_t retired_sectors;
  uint64_t id;
} tf_launch;

/* Warp.c */
typedef enum tf_turn { TF_TURN_READY, TF_TURN_BLOCKED, TF_TURN_DONE } tf_turn;
/* Runs the warp until it blocks, ends, or has used its fuel. */
tf_turn tf_warp_run(tf_warp *w, int64_t fuel);
/* Parks `lanes` (in the running frame) at pc; the caller sets w->resched. */
void tf_warp_park(tf_warp *w, uint32_t lanes, uint32_t pc);
/* The group's lanes in `lanes` end. */
void tf_warp_exit(tf_warp *w, uint32_t lanes);
/* Continues the group at pc when nothing else interferes, else parks it there. `taken` of the group go to `pc`, the
 * rest falls through. */
void tf_warp_branch(tf_warp *w, const tf_insn *in, uint32_t taken, uint32_t pc);

/* Launch.c: the host's memory is out: the launch ends. */
void tf_launch_no_memory(tf_launch *launch);
/* The module's variable that the allocation is, or the first of the entry's parameters that points into it; null: neither. */
const char *tf_launch_buffer_name(const tf_launch *launch, const tf_alloc *alloc);

/* Frame.c */
bool tf_warp_init(tf_warp *w);
void tf_warp_free(tf_warp *w);
/* Enters `func` for the lanes of `mask`: finds or makes the frame. False: the stack overflowed (reported). */
bool tf_frame_enter(tf_warp *w, const tf_insn *in, const tf_func *func, const tf_call *call, uint32_t mask);
void tf_frame_leave(tf_warp *w, uint32_t mask);

/* Cta.c */
tf_cluster *tf_cluster_start(tf_worker *worker, uint64_t index);
void tf_cluster_free(tf_cluster *cluster);
typedef enum tf_round {
  TF_ROUND_READY,
  TF_ROUND_DONE,
  TF_ROUND_STUCK,    /* nothing can run: every live lane waits */
  TF_ROUND_SPINNING, /* runs, but every warp repeats itself: waits for another cluster, or hangs */
} tf_round;
/* One round over the warps of the cluster's CTAs. */
tf_round tf_cluster_round(tf_cluster *cluster);
/* Reports where every group of threads stands. */
void tf_cluster_report_hang(tf_cluster *cluster, const char *why);
/* Completes a barrier if all have arrived: wakes those who wait. */
bool tf_barrier_complete(tf_cta *cta, uint32_t id);
/* Ends the cluster barrier's phase if all live threads have arrived. */
void tf_cluster_complete(tf_cluster *cluster);
/* After threads have ended: barriers for all threads expect fewer. */
void tf_barrier_recheck(tf_cta *cta);

static inline void *tf_operand(const tf_warp *w, uint32_t op) {
  return w->bank[op & 3] + (op & ~3u);
}

#endif
