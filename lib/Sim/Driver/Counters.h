/* The counters a table has kept; shared by Counters.c, which keeps them, and CounterText.c, which writes them. */
#ifndef TF_SIM_DRIVERCOUNTERS_H
#define TF_SIM_DRIVERCOUNTERS_H

#include "Sim/Driver/State.h"
#include "Sim/Pool.h"

/* Launches that are kept one by one; later ones are in their kernel's sums only. */
enum { TF_SIM_KEPT_LAUNCHES = 1000 };

/* The sums over a kernel's launches. */
typedef struct tf_sim_kernel_sum {
  const char *name;
  uint64_t launches;
  tf_sim_counters counters;
  tf_sim_line *lines; /* sorted */
  tf_sim_mma *mmas;
  size_t line_count, line_cap, mma_count, mma_cap;
} tf_sim_kernel_sum;

typedef struct tf_sim_launch_record {
  const char *kernel;
  unsigned grid[3], block[3], cluster[3]; /* cluster 0: none was asked for */
  unsigned dynamic_shared;
  tf_sim_counters counters;
  tf_sim_breakdown *breakdown; /* null if the host had no memory for it */
} tf_sim_launch_record;

typedef struct tf_sim_records {
  tf_pool names;              /* every string */
  tf_sim_kernel_sum *kernels; /* in the order of their first launches */
  tf_sim_launch_record *launches;
  size_t kernel_count, kernel_cap, launch_count, launch_cap;
  uint64_t left_out;
} tf_sim_records;

/* The texts; null when memory is out. */
char *tf_sim_counters_json(const tf_sim_records *records, const tf_sim_profile *profile);
char *tf_sim_counters_table(const tf_sim_records *records, const tf_sim_profile *profile);

void tf_sim_add_counters(tf_sim_counters *to, const tf_sim_counters *from);

#endif
