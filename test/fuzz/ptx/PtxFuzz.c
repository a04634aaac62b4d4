/* Throws PTX at the simulated device: whatever the text, loading and running it must neither crash nor hang.
 *
 *   ptx-fuzz COUNT SEED FILE…     every file as it is, then COUNT mutations of them (deterministic for a seed)
 *
 * A mutation replaces, removes, doubles or moves bytes, words and lines, so that many mutants still parse and reach the
 * decoder and the executor. Every kernel of a text that loads is launched with made-up arguments, under a small budget and
 * all checkers. With -DTF_FUZZ_ENGINE the same body is libFuzzer's entry. */
#include "Sim/Sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 1 << 16, BUFFER = 4096 };

static void launch(tf_sim_device *device, const tf_sim_function *f) {
  unsigned char params[4096];
  uint64_t buffer = 0, offset, bytes;
  tf_sim_function_info info;
  tf_sim_function_info_get(f, &info);
  if (info.param_bytes > sizeof params || tf_sim_alloc(device, BUFFER, &buffer) != TF_OK) return;
  memset(params, 0, sizeof params);
  for (uint32_t i = 0; tf_sim_function_param(f, i, &offset, &bytes); i++) {
    uint64_t value = bytes == 8 ? buffer : 64;
    memcpy(params + offset, &value, bytes < 8 ? bytes : 8);
  }
  tf_sim_launch_config c = {.grid = {2, 1, 1}, .block = {48, 1, 1}, .dynamic_shared = 256, .params = params};
  c.param_bytes = sizeof params;
  tf_sim_report report;
  char message[256];
  (void)tf_sim_launch(f, &c, message, sizeof message, &report);
  tf_sim_report_free(&report);
  (void)tf_sim_free(device, buffer);
}

static void run(const char *text, size_t length) {
  tf_sim_options o = {.checks = TF_SIM_CHECK_ALL, .counters = true, .threads = 1, .budget = 20000};
  tf_sim_device *device;
  tf_sim_module *module;
  char message[512];
  if (tf_sim_device_create("sm_90", &o, &device) != TF_OK) return;
  if (tf_sim_module_load(device, text, length, message, sizeof message, &module) == TF_OK) {
    for (size_t i = 0; i < 8 && tf_sim_module_entry(module, i); i++)
      launch(device, tf_sim_module_entry(module, i));
    tf_sim_module_unload(module);
  }
  tf_sim_device_destroy(device);
}

#ifdef TF_FUZZ_ENGINE
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  run((const char *)data, size);
  return 0;
}
#else

static uint64_t state;
static unsigned next(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % (below ? below : 1);
}

typedef struct text {
  char *data;
  size_t length;
} text;

static text read_file(const char *path) {
  text t = {malloc(MAX_TEXT), 0};
  FILE *f = fopen(path, "rb");
  if (t.data && f) t.length = fread(t.data, 1, MAX_TEXT, f);
  if (f) fclose(f);
  return t;
}

/* Replaces `cut` bytes at `at` by `n` bytes of `with`. */
static void splice(text *t, size_t at, size_t cut, const char *with, size_t n) {
  char copy[256];
  if (n > sizeof copy) n = sizeof copy;
  memcpy(copy, with, n);
  if (at > t->length) at = t->length;
  if (cut > t->length - at) cut = t->length - at;
  if (t->length - cut + n > MAX_TEXT) return;
  memmove(t->data + at + n, t->data + at + cut, t->length - at - cut);
  memcpy(t->data + at, copy, n);
  t->length = t->length - cut + n;
}

static size_t word_at(const text *t, size_t at) {
  size_t n = 0;
  while (at + n < t->length && n < 200 && !strchr(" \t\n,;[]{}()", t->data[at + n]))
    n++;
  return n;
}

static void mutate(text *t) {
  static const char *const words[] = {
      "%r1",       "%rd1",   "%f1",      "%p1",  ".u32",       ".s64",       ".f16",
      ".b128",     ".pred",  "0",        "-1",   "0xFFFFFFFF", "0f7F800000", "4294967296",
      "{",         "}",      "[",        "]",    ";",          "@",          ".shared",
      ".param",    ".local", "bar.sync", "call", "ret;",       "bra",        "mov",
      "_",         ".v4",    ".sync",    "atom", "ld",         "st",         "shfl.sync.idx.b32",
      "<1048576>", "$L",     ":"};
  size_t at = next((unsigned)t->length + 1), other = next((unsigned)t->length + 1), n = word_at(t, at);
  const char *w = words[next(sizeof words / sizeof *words)];
  char byte = (char)next(256);
  switch (next(6)) {
  case 0:
    splice(t, at, 1, &byte, 1);
    break;
  case 1:
    splice(t, at, next(12), "", 0);
    break;
  case 2:
    splice(t, at, n, w, strlen(w));
    break;
  case 3:
    splice(t, at, 0, w, strlen(w));
    break;
  case 4:
    splice(t, at, n, t->data + other, word_at(t, other));
    break;
  default:
    splice(t, at, 0, t->data + other,
           next(100) < t->length - other ? next(100) % (unsigned)(t->length - other + 1) : 0);
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  unsigned count = (unsigned)atoi(argv[1]);
  state = (uint64_t)atoll(argv[2]);
  for (int i = 3; i < argc; i++) {
    text t = read_file(argv[i]);
    run(t.data, t.length);
    free(t.data);
  }
  for (unsigned i = 0; i < count; i++) {
    text t = read_file(argv[3 + next((unsigned)argc - 3)]);
    for (unsigned k = 1 + next(4); k; k--)
      mutate(&t);
    if (getenv("TF_FUZZ_KEEP")) { /* the last text survives a crash */
      FILE *f = fopen(getenv("TF_FUZZ_KEEP"), "wb");
      if (f) fwrite(t.data, 1, t.length, f);
      if (f) fclose(f);
    }
    run(t.data, t.length);
    free(t.data);
  }
  printf("%d files and %u mutations\n", argc - 3, count);
  return 0;
}
#endif
