/* Asynchronous copies between their start and the wait that ends them.
 *
 * A plain launch copies where the instruction stands and keeps nothing. With a checker on, or adversarial, every warp keeps
 * a list of what has not been waited for:
 *
 *   warp ─▶ copy ─▶ copy ─▶ arrival ─▶ copy …       in the order of issue
 *
 * A copy lands when its lane waits for its group, or when a wait for its mbarrier's phase succeeds. Until then the race
 * checker takes its bytes as being accessed. Adversarial launches move the bytes only then: the destination holds noise
 * before, and a phase that copies must complete is completed only after waits for it have failed. */
#ifndef TF_SIM_ASYNC_H
#define TF_SIM_ASYNC_H

#include "Sim/Access.h"

typedef enum tf_copy_kind {
  TF_COPY_GROUP,   /* cp.async, ended by its lane's wait_group or wait_all, or an arrival */
  TF_COPY_BULK,    /* cp.async.bulk of a bulk group */
  TF_COPY_BARRIER, /* cp.async.bulk that completes transactions of an mbarrier */
  TF_COPY_ARRIVAL, /* no copy: cp.async.mbarrier.arrive of the lanes in to.mask, which copies before it must precede */
} tf_copy_kind;

typedef struct tf_copy {
  struct tf_copy *next;
  const tf_insn *in;
  tf_copy_kind kind;
  uint32_t lanes;           /* that have not landed */
  uint32_t read;            /* bulk groups: lanes whose source has been read */
  uint32_t group[TF_LANES]; /* number of the group in its lane */
  uint64_t *object[TF_LANES];
  uint32_t phase;          /* bit l: the phase bit of lane l's object at the start */
  uint32_t late;           /* lanes whose bytes are still to be moved, or whose arrival is still to be counted */
  uint8_t polls[TF_LANES]; /* failed waits for the object */
  uint32_t part[TF_LANES]; /* cp.async that reads fewer bytes: how many, by lane */
  tf_access to, from;      /* what `from` has fewer bytes of than `to` becomes zero */
} tf_copy;

/* True when copies are kept until they land. */
static inline bool tf_async_kept(const tf_launch *l) {
  return l->adversarial || l->checks & (TF_SIM_CHECK_INIT | TF_SIM_CHECK_RACE | TF_SIM_CHECK_SYNC);
}

/* A new entry at the end of the warp's list, all of it zero but kind, in and the groups. Null: out of memory, and the
 * launch ends. */
tf_copy *tf_async_new(tf_warp *w, const tf_insn *in, tf_copy_kind kind);
/* Checks the accesses of the entry (resolved, `from` lane by lane) and moves the bytes, or poisons the destination. */
void tf_async_start(tf_warp *w, tf_copy *copy);
void tf_async_commit(tf_warp *w, uint32_t mask, tf_copy_kind kind);
/* Lands all groups of the lanes but the `keep` latest; all copies, committed or not, if keep is TF_KEEP_NONE. With
 * `read_only` only the sources are let go. */
enum { TF_KEEP_NONE = -1 };
void tf_async_wait(tf_warp *w, uint32_t mask, tf_copy_kind kind, int64_t keep, bool read_only);
/* A lane found the phase (0 or 1) of the object complete: what completed it lands. Returns whether anything did. */
bool tf_async_observe(tf_warp *w, unsigned lane, const uint64_t *object, unsigned phase);
/* A wait for the object failed: copies that were held back now complete. */
void tf_async_poll(tf_warp *w, const uint64_t *object);
/* Nothing in the cluster moves: whatever completes by itself does so. Returns whether anything did. */
bool tf_async_settle(tf_cluster *cluster);
/* The CTA's threads have ended: reports what nobody waited for, and drops it. */
void tf_async_end(tf_cta *cta);
void tf_async_free(tf_warp *w);

#endif
