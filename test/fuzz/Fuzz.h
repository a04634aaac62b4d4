/* What a fuzz target gives and what the fuzzing program makes of it.
 *
 *   Parser.c, Static.c, Verifier.c, Ptx.c   one target each: a function of bytes that must survive whatever they are
 *   Tir.c                                   what the first three share
 *   Fuzz.c                                  the program: replays inputs, then mutations of them in child processes
 *   Mutate.c                                the mutations: random, and the same ones for the same seed
 *
 * Adding a target is one file with a `fuzz_target` and one line of CMakeLists.txt. */
#ifndef TF_FUZZ_FUZZ_H
#define TF_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far an input came; counted, so that one sees whether mutations reach what they are to test. */
typedef enum fuzz_reach { FUZZ_REFUSED, FUZZ_READ, FUZZ_ACCEPTED, FUZZ_REACH_COUNT } fuzz_reach;

typedef struct fuzz_target {
  const char *name;
  /* Runs bytes[0..size), which no terminator ends. A broken promise ends the process by fuzz_demand. */
  fuzz_reach (*run)(const char *bytes, size_t size);
  const char *const *words; /* of the language, ended by null: mutations insert them */
  const char *reached[FUZZ_REACH_COUNT];
} fuzz_target;

/* Defined by the target that the program is linked with. */
extern const fuzz_target fuzz_this;

/* For targets that read TIR: words of its text, ended by null, and a look at the context's diagnostics (each has a place, a
 * message, and can be shown); Tir.c. */
struct tf_context;
extern const char *const fuzz_tir_words[];
void fuzz_diagnostics(struct tf_context *context);

/* Stops the process with a message, and so the mutation as a finding, unless the promise holds. */
void fuzz_demand(bool holds, const char *what);

typedef struct fuzz_text {
  char *bytes;
  size_t size, capacity;
} fuzz_text;

typedef struct fuzz_corpus {
  fuzz_text *items;
  size_t count;
  size_t good; /* so many, the first ones, are not refused as they are; most mutations start from one of them */
} fuzz_corpus;

/* Replaces out's bytes by a mutation of one text of the corpus (which has at least one). It depends on the arguments and on
 * nothing else. out's memory is reused from call to call and is the caller's to free. */
void fuzz_mutate(const fuzz_corpus *corpus, const char *const *words, uint64_t seed, fuzz_text *out);

#endif
