/* The race checker's state: happens-before by vector clocks on three levels.
 *
 *   lanes of one warp      know[b][a]: accesses of lane a before this clock are ordered before lane b
 *   warps of one CTA       seen[w][u]: accesses of warp u before this clock are ordered before warp w
 *   CTAs of the grid       row[d]:     accesses of CTA d before this clock are ordered before this CTA
 *
 * All clocks of a CTA are values of one counter, which ticks whenever something is published, so that an access needs one
 * number to be held against any of them. Launches run on one worker while this checker is on.
 *
 * A barrier that is used again must be so by warps that know of the end of its last phase, or the two uses may mix.
 *
 * Barriers and bar.warp.sync publish and take over. Between threads that go by flags both sides need a fence:
 *
 *      data = 1                            flag == 1 ?      a strong read has *met* what the variable holds
 *      fence      what was done so far     fence            takes over what was met
 *      flag = 1   goes to the variable     data             is ordered
 *
 * .release on the write and .acquire on the read are such fences. What a thread has met a barrier hands on to all of its
 * CTA: each of them may be the one to fence. */
#ifndef TF_SIM_RACE_H
#define TF_SIM_RACE_H

#include "Sim/Check.h"
#include "Sim/Shadow.h"

/* Sorted pairs (CTA, clock). */
typedef struct tf_clockset {
  uint32_t *cta, *clock;
  size_t count, cap;
} tf_clockset;

/* A synchronisation variable: an address of strong accesses. */
typedef struct tf_race_variable {
  struct tf_race_variable *next;
  uint64_t address;
  uint32_t *clock; /* of the CTA's warps; null while nothing was published */
  tf_clockset ctas;
  uint32_t lanes[TF_LANES]; /* per warp of the CTA: lanes that took part */
} tf_race_variable;

/* Clocks that strong reads have met and that the next fence takes over. */
typedef struct tf_race_met {
  uint32_t clock[TF_LANES]; /* of the CTA's warps */
  tf_clockset ctas;
} tf_race_met;

enum { TF_RACE_CTA_VARIABLES = 64, TF_RACE_VARIABLES = 4096, TF_RACE_RECENT = 16 };

typedef struct tf_race_warp {
  uint32_t know[TF_LANES][TF_LANES];
  uint32_t fenced[TF_LANES]; /* what the last fence covered of each warp of the CTA */
  uint32_t fenced_cta;       /* the CTA's clock at the last fence that reaches beyond it; 0: none */
  tf_race_met met;
  struct {
    uintptr_t tag;
    uint32_t clock, event;
  } recent[TF_RACE_RECENT]; /* events by instruction */
} tf_race_warp;

/* An access to another CTA's shared memory. */
typedef struct tf_race_remote {
  tf_warp *warp; /* null: none yet */
  const tf_insn *in;
  uint64_t address;
  uint32_t clock, bytes;
  unsigned lane;
} tf_race_remote;
enum { TF_RACE_CLUSTER = 16 }; /* CTAs that a cluster may have */

typedef struct tf_race_cta {
  struct tf_race_cta *next, *previous;
  tf_cta *cta;
  uint32_t clock;
  uint32_t seen[TF_LANES][TF_LANES];
  uint32_t at_barrier[TF_BARRIERS][TF_LANES];
  struct {
    uint32_t waiters, clock; /* warps that waited for its last phase, and when it completed */
  } last_phase[TF_BARRIERS];
  tf_race_warp *warp;
  tf_clockset row;
  tf_race_met met; /* by any warp before a barrier */
  tf_shadow shared;
  tf_race_remote remote[TF_RACE_CLUSTER]; /* the newest by each CTA of the cluster */
  tf_race_variable *variables[TF_RACE_CTA_VARIABLES];
} tf_race_cta;

typedef struct tf_race {
  tf_race_cta *ctas; /* resident */
  tf_shadow global;
  tf_shadow_use use;
  tf_event *events; /* [0] is never used */
  uint32_t event_count, event_cap;
  uint32_t *moved; /* while collecting: where each event goes */
  tf_race_variable *variables[TF_RACE_VARIABLES];
} tf_race;

static inline uint32_t tf_race_who(const tf_warp *w) {
  return (uint32_t)w->cta->linear * TF_LANES + w->index;
}

/* RaceClock.c: accesses of the clock's CTA before this value are ordered before `cta`; 0: none. */
uint32_t tf_clockset_get(const tf_clockset *set, uint32_t cta);
/* True when a fence of the warp, had it made one, would have ordered accesses of that warp of its CTA, or of another CTA,
 * before the clock. */
bool tf_race_met_after(const tf_warp *w, bool here, uint32_t warp_or_cta, uint32_t clock);
/* What a strong access of a lane takes over and publishes: the variable is at `key` for its CTA, at `wide_key` for all that
 * can reach it; 0: only its CTA can. */
void tf_race_synchronise(tf_warp *w, unsigned lane, uint64_t key, uint64_t wide_key, unsigned kind, unsigned order);

/* RaceCluster.c: an access, before what it publishes, to shared memory of another CTA. */
void tf_race_remote_access(tf_warp *w, const tf_insn *in, const tf_access *a, unsigned lane, tf_cta *owner);

/* RaceEvent.c: the event of an instruction of the warp now; 0: out of memory, or a grid of too many CTAs to tell apart. */
uint32_t tf_race_event(tf_warp *w, const tf_insn *in, unsigned flags);
/* Keeps use.most_bytes. */
void tf_race_measure(tf_race *race);

#endif
