/* The program to run: PTX and, where there is one, its manifest, from a .tir, a .ptx or standard input. */
#ifndef TF_RUN_SOURCE_H
#define TF_RUN_SOURCE_H

#include <tilefoundry/Compiled.h>

#include "Options.h"

typedef struct tf_run_source {
  const char *name; /* for messages */
  const char *ptx;  /* NUL-terminated */
  size_t ptx_size;
  const char *manifest;             /* null: none; NUL-terminated */
  const tf_compiled_entry *entries; /* machine code of the host functions; null: none */
  unsigned entry_count;
  struct tf_executable *executable; /* what holds all of them, of a .tir; owned */
  char *texts[2];                   /* what holds them, of a .ptx; owned */
  char target[16];                  /* of the PTX; empty if it names none */
} tf_run_source;

/* Reads (and, for TIR, compiles) options->file. Reports to stderr and returns false on failure. */
bool tf_run_source_load(const tf_run_options *options, tf_run_source *out);
void tf_run_source_free(tf_run_source *source);

/* The whole file as a NUL-terminated string, "-" is standard input. Reports and returns null on failure. */
char *tf_run_read_file(const char *path, size_t *size);

/* Makes source->executable of TIR text (Compile.c; only in builds with the compiler). */
bool tf_run_compile(const tf_run_options *options, const char *text, size_t size, tf_run_source *source);
void tf_run_free_executable(tf_run_source *source);

/* One parameter of a PTX .entry. */
typedef struct tf_run_ptx_param {
  char name[128];
  char type[8];        /* "u64", "f32", "b8", … */
  unsigned long count; /* elements of an array parameter, else 1 */
} tf_run_ptx_param;

/* The parameters of `.entry name`; -1 if the text has no such entry, else their number (at most `most` are stored). With a
 * null name the first entry is taken and its name stored in found (of 128 bytes). */
int tf_run_ptx_params(const char *ptx, const char *name, char *found, tf_run_ptx_param *out, int most);

#endif
