/* The command line of tf-run as a struct. */
#ifndef TF_RUN_OPTIONS_H
#define TF_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TF_RUN_MAX_LIST 256 /* of each kind of repeatable option */

/* NAME=VALUE as it was written; both point into argv's memory or a copy of it. */
typedef struct tf_run_pair {
  const char *name, *value;
} tf_run_pair;

typedef struct tf_run_list {
  unsigned count;
  tf_run_pair items[TF_RUN_MAX_LIST];
} tf_run_list;

typedef struct tf_run_tolerance {
  double rtol, atol;
} tf_run_tolerance;

typedef struct tf_run_options {
  const char *file;     /* "-" is standard input */
  const char *manifest; /* --manifest: path, null if not given */
  const char *device, *entry, *kernel, *target, *checks;
  unsigned grid[3], block[3], cluster[3]; /* all 0: not given */
  size_t smem;
  bool cooperative, raw, counters, counters_json;
  unsigned repeat;
  uint64_t seed, budget;
  bool adversarial;
  tf_run_list defines, dims, args, types, outs, prints, expects; /* prints have no value */
  tf_run_tolerance tolerance, expect_tolerance[TF_RUN_MAX_LIST];
} tf_run_options;

/* Parses argv. Wrong usage ends the program with status 2 and a message, --help and --version end it with 0 (argp). */
void tf_run_options_parse(int argc, char **argv, tf_run_options *out);

#endif
