/* Findings of one launch, collected by any worker, and its counters. */
#ifndef TF_SIM_REPORT_H
#define TF_SIM_REPORT_H

#include "Sim/Pool.h"
#include "Sim/Sim.h"

#include <pthread.h>

typedef enum tf_finding {
#define F(id, checker, kind) TF_FIND_##id,
#include "Sim/Findings.def"
#undef F
  TF_FIND_COUNT
} tf_finding;

struct tf_insn;
struct tf_warp;
struct tf_cta;

/* After this many occurrences a launch with memory faults is stopped. */
enum { TF_MAX_OCCURRENCES = 10000 };

typedef struct tf_report {
  pthread_mutex_t lock;
  tf_pool pool;
  tf_sim_finding *list;
  size_t count, cap;
  uint64_t occurrences;
  bool failed, trapped;
  uint64_t shadow_bytes;
} tf_report;

/* Records a finding of `lane` of the warp at `in` (its line and location). Same kind at the same instruction counts up.
 * Trap-like kinds stop the launch. `address` and `bytes` may be 0. Thread-safe. */
void tf_find(struct tf_warp *w, const struct tf_insn *in, unsigned lane, tf_finding kind, uint64_t address,
             uint32_t bytes, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* The same as a note: no error. */
void tf_note(struct tf_warp *w, const struct tf_insn *in, unsigned lane, tf_finding kind, uint64_t address,
             uint32_t bytes, const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Sorts and hands the findings over to the caller's report; destroys `report`. */
void tf_report_finish(tf_report *report, tf_sim_report *out);
void tf_report_init(tf_report *report);

#endif
