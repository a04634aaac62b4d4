/* The command line of tf-llc. */
#ifndef TF_LLC_OPTIONS_H
#define TF_LLC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <tilefoundry/TileFoundry.h>

typedef enum llc_emit {
  LLC_EMIT_TIR,
  LLC_EMIT_LLVM,
  LLC_EMIT_PTX,
  LLC_EMIT_CUBIN,
  LLC_EMIT_MANIFEST,
  LLC_EMIT_OBJ,
  LLC_EMIT_HEADER
} llc_emit;

/* --time-passes: what the passes of one part took (Times.c). */
typedef struct llc_times {
  bool wanted;
  double begin, own; /* seconds: when the part began, and what this project's own passes took since */
} llc_times;

typedef struct llc_options {
  llc_emit emit;
  const char *input;  /* path, or "-" */
  const char *output; /* path; null or "-": stdout */
  const char *cpu;    /* -mcpu; null: the source's */
  const char *prefix; /* of the functions of objects and headers; null: none */
  bool no_cubin;      /* objects carry PTX only */
  bool verify_only, verify_diagnostics, split_input;
  llc_times times;
  const char *print_ops; /* "list" or "markdown"; null: not asked for */
  size_t define_count, define_capacity;
  tf_define *defines;     /* names are copies */
  tf_lower_options lower; /* target and hooks are filled in later */
} llc_options;

/* Parses the command line with argp; on misuse it prints usage and exits with 2. */
void llc_options_parse(int argc, char **argv, llc_options *out);
void llc_options_release(llc_options *options);

#endif
