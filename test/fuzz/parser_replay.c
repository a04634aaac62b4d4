/* Runs a fuzz target without libFuzzer:
 *
 *   fuzz-parser FILE|FOLDER…                        each input as it is
 *   fuzz-parser --mutate=N [--seed=S] FILE|FOLDER…  besides N random mutations of them
 *
 * A mutation changes a few places of one input: bytes flipped, removed, doubled; words swapped for words of the language; lines
 * moved, pieces of another input put in. The input at hand is written to ./fuzz-input before each call of a mutated one only
 * when a call fails: a child process per 500 mutations tells by its end. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
  char *path;
  uint8_t *bytes;
  size_t size;
} input;

static input *inputs;
static size_t input_count;

static void add_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  input one = {strdup(path), malloc((size_t)size + 1), (size_t)size};
  if (fread(one.bytes, 1, one.size, file) == one.size) {
    inputs = realloc(inputs, (input_count + 1) * sizeof *inputs);
    inputs[input_count++] = one;
  }
  fclose(file);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* A file, or all files below a folder in order of their names. */
static void add(const char *path) {
  struct stat info;
  if (stat(path, &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) {
    add_file(path);
    return;
  }
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, by_name);
  for (int i = 0; i < count; i++) {
    char child[4096];
    snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') add(child);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

/* ---- Mutations ---- */
static uint64_t state;

static size_t draw(size_t bound) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return bound ? (size_t)(state >> 33) % bound : 0;
}

static const char *const words[] = {"(",
                                    ")",
                                    "[",
                                    "]",
                                    ",",
                                    ":",
                                    "=",
                                    "\n",
                                    "    ",
                                    "\t",
                                    "\"",
                                    "'",
                                    "\\",
                                    "#",
                                    "def ",
                                    "for ",
                                    "with ",
                                    "if ",
                                    "else:",
                                    "elif x:",
                                    "while ",
                                    "match ",
                                    "case _:",
                                    "@prim_func",
                                    "@module",
                                    "class A:",
                                    "T.",
                                    "S",
                                    "0",
                                    "-1",
                                    "9223372036854775807",
                                    "1e400",
                                    "DimVar(\"S\", 1, 9)",
                                    "Layout((4, 8))",
                                    "m.a",
                                    " @ ",
                                    "Split(0)",
                                    "None",
                                    "True",
                                    "not ",
                                    " and ",
                                    " or ",
                                    " < ",
                                    " // ",
                                    " ** ",
                                    " << ",
                                    "lambda",
                                    "return",
                                    "pass",
                                    "T.tensor_view(x, 0)",
                                    "range(3)",
                                    "import T",
                                    "\r\n",
                                    "\xc3\xa9",
                                    "\xff",
                                    "loc=\"a\"",
                                    "Mesh(Topology(\"thread\", 32), Layout((32,)))"};

typedef struct buffer {
  uint8_t *bytes;
  size_t size, capacity;
} buffer;

static void splice(buffer *b, size_t at, size_t removed, const void *bytes, size_t size) {
  if (removed > b->size - at) removed = b->size - at;
  size_t needed = b->size - removed + size;
  if (needed > b->capacity) b->bytes = realloc(b->bytes, b->capacity = needed * 2);
  memmove(b->bytes + at + size, b->bytes + at + removed, b->size - at - removed);
  memcpy(b->bytes + at, bytes, size);
  b->size = needed;
}

static size_t line_start(const buffer *b, size_t at) {
  while (at > 0 && b->bytes[at - 1] != '\n')
    at--;
  return at;
}

static size_t line_length(const buffer *b, size_t at) {
  size_t length = 0;
  while (at + length < b->size && b->bytes[at + length] != '\n')
    length++;
  return at + length < b->size ? length + 1 : length;
}

/* A line taken out and put in elsewhere, or doubled. */
static void move_line(buffer *b, bool keep) {
  uint8_t line[1024];
  size_t from = line_start(b, draw(b->size)), length = line_length(b, from);
  if (length > sizeof line) return;
  memcpy(line, b->bytes + from, length);
  if (!keep) splice(b, from, length, "", 0);
  splice(b, line_start(b, draw(b->size)), 0, line, length);
}

static void mutate_once(buffer *b) {
  const char *word = words[draw(sizeof words / sizeof *words)];
  const input *other = &inputs[draw(input_count)];
  size_t at = draw(b->size), from = draw(other->size), run = draw(80);
  uint8_t byte = (uint8_t)draw(256);
  switch (draw(8)) {
  case 0:
    splice(b, at, 1, &byte, 1);
    break;
  case 1:
    splice(b, at, 1 + draw(8), "", 0);
    break;
  case 2:
    splice(b, at, 0, word, strlen(word));
    break;
  case 3:
    splice(b, at, strlen(word), word, strlen(word));
    break;
  case 4:
    move_line(b, true);
    break;
  case 5:
    move_line(b, false);
    break;
  default:
    if (other->size)
      splice(b, at, draw(2) * run, other->bytes + from, run < other->size - from ? run : other->size - from);
  }
}

static void mutate(uint64_t seed, buffer *b) {
  state = seed * 0x9E3779B97F4A7C15u + 1;
  const input *base = &inputs[draw(input_count)];
  b->size = 0;
  splice(b, 0, 0, base->bytes, base->size);
  for (size_t i = 1 + draw(6); i-- > 0;)
    mutate_once(b);
}

/* Mutations first … first+count-1 in a process of their own. */
static bool run_range(uint64_t first, uint64_t count) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    buffer b = {0};
    for (uint64_t i = 0; i < count; i++) {
      mutate(first + i, &b);
      LLVMFuzzerTestOneInput(b.bytes, b.size);
    }
    free(b.bytes);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

static void save(uint64_t seed) {
  buffer b = {0};
  mutate(seed, &b);
  FILE *file = fopen("fuzz-input", "wb");
  if (file) {
    fwrite(b.bytes, 1, b.size, file);
    fclose(file);
  }
  fprintf(stderr, "mutation %llu fails; written to ./fuzz-input\n", (unsigned long long)seed);
}

static bool run_mutations(uint64_t first, uint64_t count) {
  for (uint64_t done = 0; done < count; done += 500) {
    uint64_t size = count - done < 500 ? count - done : 500;
    if (run_range(first + done, size)) continue;
    for (uint64_t i = 0; i < size; i++)
      if (!run_range(first + done + i, 1)) {
        save(first + done + i);
        return false;
      }
  }
  return true;
}

int main(int argc, char **argv) {
  uint64_t mutations = 0, seed = 1;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "--mutate=", 9) == 0)
      mutations = strtoull(argv[i] + 9, NULL, 10);
    else if (strncmp(argv[i], "--seed=", 7) == 0)
      seed = strtoull(argv[i] + 7, NULL, 10);
    else
      add(argv[i]);
  }
  for (size_t i = 0; i < input_count; i++)
    LLVMFuzzerTestOneInput(inputs[i].bytes, inputs[i].size);
  bool good = input_count > 0 && run_mutations(seed << 32, mutations);
  printf("%zu inputs, %llu mutations: %s\n", input_count, (unsigned long long)mutations, good ? "fine" : "a fault");
  for (size_t i = 0; i < input_count; i++) {
    free(inputs[i].path);
    free(inputs[i].bytes);
  }
  free(inputs);
  return good ? 0 : 1;
}
