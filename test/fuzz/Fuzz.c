/* Runs a fuzz target:
 *
 *   fuzz-NAME INPUT…                              each input as it is
 *   fuzz-NAME --mutate=N  [--seed=S] INPUT…       besides N random mutations of them
 *   fuzz-NAME --seconds=T [--seed=S] INPUT…       besides mutations for T seconds
 *   fuzz-NAME --first=I --mutate=1 --seed=S …     mutation I of the seed, again
 *
 * An input is a file, a folder, or @FILE with the names of inputs, one a line. Files are split at the lines `# -----`, as
 * tf-llc --split-input-file does. Children run the mutations, so that the program outlives a crash: what they are at stands in
 * memory that is shared with them. A mutation is a finding if it stops the process (a crash, a sanitizer's report, a broken
 * promise), takes more than CPU_SECONDS of processor time, or makes the process larger than memory_limit; a leak is found when
 * a child ends. The input of a finding is written to fuzz-NAME-MUTATION in the current folder. The status is 0 if there are
 * none.
 *
 * With -DTF_FUZZ_ENGINE only libFuzzer's entry is made. */
#include "Fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void fuzz_demand(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", fuzz_this.name, what);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_this.run((const char *)data, size);
  return 0;
}

#ifndef TF_FUZZ_ENGINE

enum { CPU_SECONDS = 10, BATCH = 500, MAX_FINDINGS = 20 };
static const long memory_limit = 3L << 20; /* in KiB, a sanitizer's overhead and its quarantine included */

/* What a child tells while it runs. */
typedef struct progress {
  uint64_t mutation; /* at hand */
  uint64_t reached[FUZZ_REACH_COUNT];
  double slowest;
  uint64_t slowest_mutation;
} progress;

typedef struct options {
  uint64_t mutations, seed, first;
  double seconds;
} options;

/* ---- Inputs ---- */

static void add_text(fuzz_corpus *corpus, const char *bytes, size_t size) {
  corpus->items = realloc(corpus->items, (corpus->count + 1) * sizeof *corpus->items);
  fuzz_text one = {malloc(size + 1), size, size + 1};
  memcpy(one.bytes, bytes, size);
  corpus->items[corpus->count++] = one;
}

static void add_parts(fuzz_corpus *corpus, const char *bytes, size_t size) {
  static const char separator[] = "\n# -----";
  const char *at = bytes, *end = bytes + size, *next;
  while ((next = memmem(at, (size_t)(end - at), separator, sizeof separator - 1))) {
    add_text(corpus, at, (size_t)(next + 1 - at));
    at = memchr(next + 1, '\n', (size_t)(end - next - 1));
    if (!at) return;
    at++;
  }
  add_text(corpus, at, (size_t)(end - at));
}

static void add_file(fuzz_corpus *corpus, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(size + 1);
  if (fread(bytes, 1, size, file) == size) add_parts(corpus, bytes, size);
  free(bytes);
  fclose(file);
}

/* A file, or the files below a folder in order of their names. Scripts of tests beside inputs are none. */
static void add(fuzz_corpus *corpus, const char *path) {
  struct stat info;
  if (stat(path, &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) {
    add_file(corpus, path);
    return;
  }
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char child[4096];
    snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
    const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
    if (name[0] != '.' && !(dot && strcmp(dot, ".py") == 0)) add(corpus, child);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

/* Runs every text as it is; those that are not refused come first from then on. */
static void replay(fuzz_corpus *corpus) {
  for (size_t i = 0; i < corpus->count; i++) {
    fuzz_text one = corpus->items[i];
    if (fuzz_this.run(one.bytes, one.size) == FUZZ_REFUSED) continue;
    corpus->items[i] = corpus->items[corpus->good];
    corpus->items[corpus->good++] = one;
  }
}

/* The inputs that a file names. */
static void add_list(fuzz_corpus *corpus, const char *path) {
  char line[4096];
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    add(corpus, line);
  }
  if (file) fclose(file);
}

static void free_corpus(fuzz_corpus *corpus) {
  for (size_t i = 0; i < corpus->count; i++)
    free(corpus->items[i].bytes);
  free(corpus->items);
}

/* ---- Mutations ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_mutation(progress *p, const fuzz_text *text, uint64_t mutation) {
  struct itimerval limit = {.it_value.tv_sec = CPU_SECONDS};
  setitimer(ITIMER_PROF, &limit, NULL); /* processor time, so that a busy machine makes no findings */
  double start = processor_time();
  p->reached[fuzz_this.run(text->bytes, text->size)]++;
  double took = processor_time() - start;
  if (took > p->slowest) {
    p->slowest = took;
    p->slowest_mutation = mutation;
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  fuzz_demand(usage.ru_maxrss < memory_limit, "too much memory");
}

typedef enum outcome { FINE, FAILED, TOO_LONG } outcome;

/* Mutations first … first+count-1 in a process of their own. */
static outcome run_range(progress *p, const fuzz_corpus *corpus, uint64_t seed, uint64_t first, uint64_t count) {
  fflush(NULL);
  p->mutation = first;
  pid_t child = fork();
  if (child == 0) {
    fuzz_text text = {0};
    for (; p->mutation < first + count; p->mutation++) {
      fuzz_mutate(corpus, fuzz_this.words, (seed << 32) + p->mutation, &text);
      run_mutation(p, &text, p->mutation);
    }
    free(text.bytes);
    exit(0); /* not _exit: leaks are looked for */
  }
  int status = 1;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) fprintf(stderr, "signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return status == 0 ? FINE : WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? TOO_LONG : FAILED;
}

static void save(const fuzz_corpus *corpus, uint64_t seed, uint64_t mutation) {
  fuzz_text text = {0};
  char path[256];
  snprintf(path, sizeof path, "fuzz-%s-%llu", fuzz_this.name, (unsigned long long)mutation);
  fuzz_mutate(corpus, fuzz_this.words, (seed << 32) + mutation, &text);
  FILE *file = fopen(path, "wb");
  if (file) {
    fwrite(text.bytes, 1, text.size, file);
    fclose(file);
  }
  free(text.bytes);
  fprintf(stderr, "finding: seed %llu, mutation %llu; its input is ./%s\n", (unsigned long long)seed,
          (unsigned long long)mutation, path);
}

/* A batch; what comes after a finding is run too. Returns the number of findings. */
static size_t run_batch(progress *p, const fuzz_corpus *corpus, uint64_t seed, uint64_t first, uint64_t count) {
  size_t findings = 0;
  for (uint64_t end = first + count; first < end; first = p->mutation + 1) {
    outcome result = run_range(p, corpus, seed, first, end - first);
    if (result == FINE) break;
    uint64_t mutation = p->mutation;
    if (result == TOO_LONG && run_range(p, corpus, seed, mutation, 1) == FINE) { /* the machine was slow */
      p->mutation = mutation;
      continue;
    }
    p->mutation = mutation;
    findings++;
    if (mutation < end)
      save(corpus, seed, mutation);
    else
      fprintf(stderr, "finding: seed %llu, among mutations %llu to %llu: a leak\n", (unsigned long long)seed,
              (unsigned long long)first, (unsigned long long)end - 1);
  }
  return findings;
}

static size_t run_mutations(const options *o, const fuzz_corpus *corpus) {
  progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return 1;
  size_t findings = 0;
  double end = now() + o->seconds;
  uint64_t done = 0, batch = o->seconds > 0 ? BATCH / 10 : BATCH;
  while (findings < MAX_FINDINGS && (o->seconds > 0 ? now() < end : done < o->mutations)) {
    uint64_t size = o->seconds <= 0 && o->mutations - done < batch ? o->mutations - done : batch;
    findings += run_batch(p, corpus, o->seed, o->first + done, size);
    done += size;
  }
  printf("fuzz-%s: seed %llu, %llu mutations of %zu texts:", fuzz_this.name, (unsigned long long)o->seed,
         (unsigned long long)done, corpus->count);
  for (int i = 0; i < FUZZ_REACH_COUNT; i++)
    if (fuzz_this.reached[i]) printf(" %llu %s,", (unsigned long long)p->reached[i], fuzz_this.reached[i]);
  printf(" %zu findings; the slowest, %llu, took %.2f s\n", findings, (unsigned long long)p->slowest_mutation,
         p->slowest);
  munmap(p, sizeof *p);
  return findings;
}

static bool read_option(const char *text, options *o) {
  if (strncmp(text, "--mutate=", 9) == 0)
    o->mutations = strtoull(text + 9, NULL, 10);
  else if (strncmp(text, "--seconds=", 10) == 0)
    o->seconds = strtod(text + 10, NULL);
  else if (strncmp(text, "--seed=", 7) == 0)
    o->seed = strtoull(text + 7, NULL, 10);
  else if (strncmp(text, "--first=", 8) == 0)
    o->first = strtoull(text + 8, NULL, 10);
  else
    return false;
  return true;
}

int main(int argc, char **argv) {
  options o = {.seed = 1};
  fuzz_corpus corpus = {0};
  for (int i = 1; i < argc; i++)
    if (argv[i][0] == '@')
      add_list(&corpus, argv[i] + 1);
    else if (!read_option(argv[i], &o))
      add(&corpus, argv[i]);
  replay(&corpus);
  size_t findings = corpus.count > 0 && (o.mutations > 0 || o.seconds > 0) ? run_mutations(&o, &corpus) : 0;
  bool good = corpus.count > 0 && findings == 0;
  printf("fuzz-%s: %zu inputs: %s\n", fuzz_this.name, corpus.count, good ? "fine" : "a fault");
  free_corpus(&corpus);
  return good ? 0 : 1;
}
#endif
