/* Executables, compiled and found in the cache: the same bytes, results, places and diagnostics, and a compilation only where one
 * is needed, which the passes that report their time tell. Whatever the cache's files hold, and wherever there can be none, what
 * comes out is the same. */
#include "CacheFolder.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <tilefoundry/Runtime.h>
#include <tilefoundry/TileFoundry.h>

#include "Harness.h"

#define COMPILED "verify lower llvm-verify optimize emit host "
#define FOUND    "verify "

/* ---- Making ------------------------------------------------------------------------------------------------------ */

typedef struct making {
  const char *name, *text;
  bool no_host_code, no_cache;
  const char *entry, *print_after;
  /* what came of it */
  tf_status status;
  tf_executable *executable;
  char passes[256], printed[64], said[4096];
} making;

static void note_pass(void *user, const char *pass, double seconds) {
  making *m = user;
  strcat(strcat(m->passes, seconds >= 0 ? pass : "?"), " ");
}

static void note_print(void *user, const char *pass, const char *text) {
  making *m = user;
  if (*text) strcat(strcat(m->printed, pass), " ");
}

static void note_diagnostic(void *user, const tf_diagnostic *diagnostic) {
  making *m = user;
  size_t used = strlen(m->said);
  snprintf(m->said + used, sizeof m->said - used, "%u:%u: %s\n", diagnostic->loc.line, diagnostic->loc.column,
           diagnostic->message);
}

/* In a context of its own, which is gone when the executable is used. Check's own functions are for one thread of one process:
 * neither this nor `run` calls them. */
static void make(making *m) {
  tf_context *context;
  const tf_module *module;
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  tf_executable_options options = TF_EXECUTABLE_OPTIONS_INIT;
  lower.debug_lines = true;
  lower.time = note_pass;
  lower.print = note_print;
  lower.user = m;
  lower.entry = m->entry;
  lower.print_after = m->print_after;
  options.host_code = !m->no_host_code;
  options.cache = !m->no_cache;
  m->executable = NULL;
  m->passes[0] = m->printed[0] = m->said[0] = '\0';
  m->status = tf_context_create(&context);
  if (m->status != TF_OK) return;
  tf_context_set_diag_handler(context, note_diagnostic, m);
  m->status = tf_parse(context, m->name, m->text, strlen(m->text), &parse, &module);
  if (m->status == TF_OK) m->status = tf_executable_create(module, &lower, &options, &m->executable);
  tf_context_destroy(context);
}

static void drop(making *m) {
  tf_executable_destroy(m->executable);
  m->executable = NULL;
}

/* What it is without this interface. */
static void ck_bytes(const making *m) {
  tf_context *context;
  const tf_module *module;
  const char *ptx, *manifest;
  size_t size;
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  lower.debug_lines = true;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_parse(context, m->name, m->text, strlen(m->text), &parse, &module), TF_OK);
  ck_assert_int_eq(tf_emit_ptx(module, &lower, &ptx), TF_OK);
  ck_assert_int_eq(tf_emit_manifest(module, &lower, &manifest), TF_OK);
  ck_assert_int_eq(m->status, TF_OK);
  ck_assert_str_eq(tf_executable_ptx(m->executable, &size), ptx);
  ck_assert_uint_eq(size, strlen(ptx));
  ck_assert_str_eq(tf_executable_manifest(m->executable, &size), manifest);
  ck_assert_uint_eq(size, strlen(manifest));
  tf_context_destroy(context);
}

static void ck_makes(making *m, const char *passes) {
  make(m);
  ck_assert_str_eq(m->passes, passes);
  ck_bytes(m);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* x becomes x * 3^times in steps, by a loop that only machine code can run; it stops at an x[0] below 0. */
static const char triple[] =
    "N = DimVar('N', 1, 1000)\n"
    "@module(entry='main')\n"
    "class Triple:\n"
    "    @prim_func(target=CudaTarget('sm_80'))\n"
    "    def triple(x: Tensor[(N,), 'i32']):\n"
    "        with Mesh((Topology('cta', 1), Topology('thread', 32)), Layout((1, 32)), ('c', 't')) as m:\n"
    "            for i in range(T.coord(m.t), N, 32):\n"
    "                if T.load(x, i) < 0:\n"
    "                    T.abort('negative')\n"
    "                T.store(x, T.load(x, i) * 3, i)\n"
    "    @prim_func(target=CpuTarget())\n"
    "    def main(x: Tensor[(N,), 'i32', None, host], times: Tensor[(), 'i32']):\n"
    "        if times > 10:\n"
    "            T.abort('too often')\n"
    "        t = T.alloc_tensor(TensorType((N,), 'i32', None, gmem))\n"
    "        T.copy(x, t)\n"
    "        for i in range(times):\n"
    "            triple(t)\n"
    "        T.copy(t, x)\n";

/* Calls main on {first, 1, 2, …}; a failure has a message. */
static tf_status run(const tf_executable *executable, int first, int times, int32_t values[37], char message[1024]) {
  tf_runtime *rt;
  tf_program *program = NULL;
  const tf_entry *entry;
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  int64_t shape[] = {37};
  for (int i = 0; i < 37; i++)
    values[i] = i ? i : first;
  DLTensor x = {values, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, shape, NULL, 0};
  tf_argument arguments[] = {{TF_ARGUMENT_TENSOR, {.tensor = &x}}, {TF_ARGUMENT_INT, {.i = times}}};
  tf_executable_source(executable, &source);
  tf_status status = tf_runtime_create(&rt);
  if (status == TF_OK) status = tf_device_open(rt, "sim:sm_80", NULL);
  if (status == TF_OK) status = tf_program_load(rt, &source, &program);
  if (status == TF_OK) status = tf_program_entry(program, NULL, &entry);
  if (status == TF_OK) status = tf_entry_call(entry, NULL, arguments, 2);
  if (status == TF_OK) status = tf_stream_synchronize(rt, NULL);
  snprintf(message, 1024, "%s", tf_runtime_message(rt));
  tf_program_unload(program);
  tf_runtime_destroy(rt);
  return status;
}

static bool runs(const tf_executable *executable) {
  int32_t values[37];
  char message[1024];
  bool right = run(executable, 5, 4, values, message) == TF_OK;
  for (int i = 0; i < 37; i++)
    right &= values[i] == 81 * (i ? i : 5);
  return right;
}

/* ---- Cold and warm ----------------------------------------------------------------------------------------------- */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  char *text = calloc(1, 1 << 16);
  ck_assert_uint_lt(fread(text, 1, 1 << 16, file), 1 << 16);
  fclose(file);
  return text;
}

static const char *const kernels[] = {"matmul", "saxpy", "softmax_dispatch"};

START_TEST(same_bytes) {
  char path[512];
  snprintf(path, sizeof path, TF_KERNELS "/%s.tir", kernels[_i]);
  char *text = read_file(path);
  making cold = {.name = path, .text = text}, warm = cold, off = {.name = path, .text = text, .no_cache = true};
  ck_makes(&cold, COMPILED);
  ck_makes(&warm, FOUND);
  ck_makes(&off, COMPILED);
  unsigned counts[3];
  const tf_compiled_entry *entries[] = {tf_executable_entries(cold.executable, &counts[0]),
                                        tf_executable_entries(warm.executable, &counts[1]),
                                        tf_executable_entries(off.executable, &counts[2])};
  ck_assert(counts[0] >= 1 && counts[0] == counts[1] && counts[0] == counts[2]);
  for (unsigned i = 0; i < counts[0]; i++)
    ck_assert(strcmp(entries[0][i].name, entries[1][i].name) == 0 &&
              strcmp(entries[0][i].name, entries[2][i].name) == 0);
  drop(&cold);
  drop(&warm);
  drop(&off);
  free(text);
}
END_TEST

START_TEST(same_results) {
  making m = {.name = "triple.tir", .text = triple};
  ck_makes(&m, COMPILED);
  ck_assert(runs(m.executable));
  drop(&m);
  ck_makes(&m, FOUND);
  ck_assert(runs(m.executable));
  drop(&m);
}
END_TEST

/* With and without host code are two entries, of which neither is taken for the other. */
START_TEST(without_host_code) {
  making plain = {.name = "triple.tir", .text = triple, .no_host_code = true},
         full = {.name = "triple.tir", .text = triple};
  ck_makes(&plain, "verify lower llvm-verify optimize emit ");
  ck_makes(&full, COMPILED);
  drop(&plain);
  drop(&full);
  ck_makes(&plain, FOUND);
  ck_makes(&full, FOUND);
  unsigned count;
  ck_assert_ptr_null(tf_executable_entries(plain.executable, &count));
  ck_assert_uint_eq(count, 0);
  ck_assert_ptr_nonnull(tf_executable_entries(full.executable, NULL));
  drop(&plain);
  drop(&full);
}
END_TEST

/* Where something is said to have happened follows the source, also when nothing else has changed in it. */
START_TEST(places) {
  static const char *const formats[] = {"triple.tir:%u: abort: negative", "triple.tir:%u:13: "}; /* kernel's, main's */
  char *shifted = calloc(1, sizeof triple + 1), message[1024], wanted[64];
  int32_t values[37];
  sprintf(shifted, "%.*s\n%s", (int)(strchr(triple, '\n') + 1 - triple), triple, strchr(triple, '\n') + 1);
  for (int round = 0; round < 4; round++) {
    making m = {.name = "triple.tir", .text = round % 2 ? shifted : triple};
    ck_makes(&m, round < 2 ? COMPILED : FOUND);
    for (int place = 0; place < 2; place++) {
      snprintf(wanted, sizeof wanted, formats[place], (place ? 14u : 9u) + (unsigned)round % 2);
      ck_assert_int_ne(run(m.executable, place ? 5 : -9, place ? 11 : 1, values, message), TF_OK);
      ck_assert_msg(strstr(message, wanted) != NULL, "%s: %s", wanted, message);
    }
    drop(&m);
  }
  free(shifted);
}
END_TEST

/* ---- Diagnostics ------------------------------------------------------------------------------------------------- */

/* A warning of the verifier is there every time; it does not keep the code from being kept. */
START_TEST(warnings) {
  making m = {.name = "w.tir",
              .text = "@prim_func(target=CudaTarget('sm_80'))\n"
                      "def k(y: Tensor[(32,), 'f32']) -> None:\n"
                      "    with Mesh((Topology('thread', 32),), Layout(shape=(32,)), ('t',)) as m:\n"
                      "        return\n"
                      "        T.store(y, 2.0, T.coord(m.t))\n"};
  for (int round = 0; round < 3; round++) {
    ck_makes(&m, round ? FOUND : COMPILED);
    ck_assert_str_eq(m.said, "5:9: this statement is never reached: the block ends with return before it\n");
    drop(&m);
  }
}
END_TEST

/* A remark of the lowering is there every time, too: such code is not kept. */
START_TEST(remarks) {
  uint64_t bytes;
  making m = {
      .name = "r.tir",
      .text =
          "@prim_func(target=CudaTarget('sm_80'))\n"
          "def k(n: Tensor[(), 'i32'], y: Tensor[(4,), 'f32']) -> None:\n"
          "    with Mesh((Topology('thread', 1),), Layout(shape=(1,)), ('t',)) as m:\n"
          "        r = T.alloc_tensor(TensorType(shape=(4,), dtype=DType.f32, layout=None, storage=StorageKind.RMEM))\n"
          "        T.fill(r, 1.0)\n"
          "        T.store(y, T.load(r, n), 0)\n"};
  for (int round = 0; round < 2; round++) {
    ck_makes(&m, COMPILED);
    ck_assert_msg(strstr(m.said, "'r' is kept in local memory") != NULL, "%s", m.said);
    drop(&m);
  }
  ck_assert_uint_eq(count_files(&bytes, NULL), 0);
}
END_TEST

START_TEST(mistakes) {
  uint64_t bytes;
  making m = {.name = "triple.tir", .text = triple, .entry = "nothing"};
  for (int round = 0; round < 2; round++) {
    make(&m);
    ck_assert(m.status == TF_VERIFY && m.executable == NULL);
    ck_assert_msg(strstr(m.said, "nothing") != NULL, "%s", m.said);
  }
  m = (making){.name = "m.tir",
               .text = "@prim_func(target=CudaTarget('sm_80'))\n"
                       "def k(x: Tensor[(4,), 'f32'], y: Tensor[(5,), 'f32']) -> None:\n"
                       "    with Mesh((Topology('thread', 1),), Layout(shape=(1,)), ('t',)) as m:\n"
                       "        T.copy(x, y)\n"};
  make(&m);
  ck_assert(m.status == TF_VERIFY && m.executable == NULL);
  ck_assert_str_eq(m.passes, "verify ");
  ck_assert_uint_eq(count_files(&bytes, NULL), 0);
}
END_TEST

/* Who wants to see a pass gets to see it, and leaves nothing behind. */
START_TEST(print_after) {
  uint64_t bytes;
  making m = {.name = "triple.tir", .text = triple, .print_after = "all"};
  ck_makes(&m, COMPILED);
  ck_assert_str_eq(m.printed, "lower optimize emit host ");
  ck_assert_uint_eq(count_files(&bytes, NULL), 0);
  drop(&m);
  making plain = {.name = "triple.tir", .text = triple};
  ck_makes(&plain, COMPILED);
  drop(&plain);
  m.print_after = "emit";
  ck_makes(&m, COMPILED);
  ck_assert_str_eq(m.printed, "emit ");
  drop(&m);
}
END_TEST

/* ---- Entries that are not what was written ----------------------------------------------------------------------- */

static void path_of_entry(char path[4096]) {
  char name[256];
  uint64_t bytes;
  ck_assert_uint_eq(count_files(&bytes, name), 1);
  snprintf(path, 4096, "%s/%s", cache.directory, name);
}

/* The next call compiles, the one after it finds what that wrote. */
static void ck_recovers(making *m) {
  ck_makes(m, COMPILED);
  ck_assert(runs(m->executable));
  drop(m);
  ck_makes(m, FOUND);
  drop(m);
}

START_TEST(spoiled_files) {
  char path[4096], byte;
  struct stat info;
  making m = {.name = "triple.tir", .text = triple};
  ck_makes(&m, COMPILED);
  drop(&m);
  path_of_entry(path);
  ck_assert_int_eq(stat(path, &info), 0);
  for (off_t i = 0; i < 4; i++) {
    ck_assert_int_eq(truncate(path, info.st_size * i / 4), 0);
    ck_recovers(&m);
    int file = open(path, O_RDWR);
    off_t at = (info.st_size - 1) * i / 3;
    ck_assert(pread(file, &byte, 1, at) == 1);
    byte ^= 1;
    ck_assert(pwrite(file, &byte, 1, at) == 1);
    close(file);
    ck_recovers(&m);
  }
}
END_TEST

/* Payloads of the right hash that hold something else: shorter, with sizes that do not fit, with an object that is none. */
START_TEST(foreign_payloads) {
  char name[256];
  uint64_t bytes, *words;
  void *payload;
  size_t size;
  making m = {.name = "triple.tir", .text = triple};
  ck_makes(&m, COMPILED);
  drop(&m);
  ck_assert_uint_eq(count_files(&bytes, name), 1);
  ck_assert(tf_cache_get(&cache, name, &payload, &size));
  for (size_t length = 0; length < size; length += 1 + size / 5) {
    tf_cache_put(&cache, name, payload, length);
    ck_recovers(&m);
  }
  static const uint64_t wrong[] = {0, 1, 1000000, UINT64_MAX, UINT64_MAX - 40};
  for (int field = 0; field < 3; field++)
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      char *copy = malloc(size);
      memcpy(copy, payload, size);
      words = (uint64_t *)(void *)copy;
      words[field] = wrong[i];
      tf_cache_put(&cache, name, copy, size);
      ck_recovers(&m);
      free(copy);
    }
  words = payload;
  memset((char *)payload + size - words[2], 0x5a, words[2]);
  tf_cache_put(&cache, name, payload, size);
  ck_recovers(&m);
  free(payload);
}
END_TEST

/* ---- Caches that are none ---------------------------------------------------------------------------------------- */

static const char *const nowhere[] = {"off", "/proc/self/tf-cache", "/dev/null/tf-cache"};

START_TEST(no_cache) {
  making m = {.name = "triple.tir", .text = triple};
  setenv("TF_CACHE", nowhere[_i], 1);
  for (int round = 0; round < 2; round++) {
    ck_makes(&m, COMPILED);
    ck_assert(runs(m.executable));
    drop(&m);
  }
}
END_TEST

START_TEST(full_disk) {
  uint64_t bytes;
  struct rlimit before, little;
  making m = {.name = "triple.tir", .text = triple};
  getrlimit(RLIMIT_FSIZE, &before);
  little = before;
  little.rlim_cur = 300;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  make(&m); /* Check's own file is subject to the limit, too */
  setrlimit(RLIMIT_FSIZE, &before);
  ck_bytes(&m);
  drop(&m);
  ck_assert_uint_eq(count_files(&bytes, NULL), 0);
  ck_recovers(&m);
}
END_TEST

/* ---- At once ----------------------------------------------------------------------------------------------------- */

/* Null if all went well. */
static void *make_and_run(void *ptx) {
  void *failure = NULL;
  for (int round = 0; round < 3; round++) {
    making m = {.name = "triple.tir", .text = triple};
    make(&m);
    bool good = m.status == TF_OK && (strcmp(m.passes, COMPILED) == 0 || strcmp(m.passes, FOUND) == 0) &&
                strcmp(tf_executable_ptx(m.executable, NULL), ptx) == 0 && runs(m.executable);
    if (!good) failure = ptx;
    drop(&m);
  }
  return failure;
}

START_TEST(threads_and_processes) {
  uint64_t bytes;
  pthread_t threads[3];
  pid_t children[3];
  making m = {.name = "triple.tir", .text = triple, .no_cache = true};
  ck_makes(&m, COMPILED);
  char *ptx = strdup(tf_executable_ptx(m.executable, NULL));
  for (int i = 0; i < 3; i++)
    if ((children[i] = fork()) == 0) _exit(make_and_run(ptx) != NULL);
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, make_and_run, ptx), 0);
  for (int i = 0; i < 3; i++) {
    int status = -1;
    void *failure = ptx;
    pthread_join(threads[i], &failure);
    ck_assert_ptr_null(failure);
    ck_assert(waitpid(children[i], &status, 0) == children[i] && status == 0);
  }
  ck_assert_uint_eq(count_files(&bytes, NULL), 1);
  free(ptx);
  drop(&m);
}
END_TEST

/* One executable may be loaded by several runtimes, and called in all of them. */
static void *run_shared(void *executable) {
  return runs(executable) ? NULL : executable;
}

START_TEST(shared) {
  pthread_t threads[3];
  making m = {.name = "triple.tir", .text = triple};
  ck_makes(&m, COMPILED);
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, run_shared, m.executable), 0);
  for (int i = 0; i < 3; i++) {
    void *failure = &m;
    pthread_join(threads[i], &failure);
    ck_assert_ptr_null(failure);
  }
  drop(&m);
}
END_TEST

/* ---- The interface ----------------------------------------------------------------------------------------------- */

START_TEST(misuse) {
  tf_context *context;
  const tf_module *module;
  tf_executable *none = NULL;
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT, pass = lower, size = lower;
  tf_executable_options options = TF_EXECUTABLE_OPTIONS_INIT;
  pass.print_after = "nothing";
  size.size = options.size = 4;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_parse(context, "t.tir", triple, strlen(triple), &parse, &module), TF_OK);
  ck_assert_int_eq(tf_executable_create(NULL, &lower, NULL, &none), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_executable_create(module, &pass, NULL, &none), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_executable_create(module, &size, NULL, &none), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_executable_create(module, &lower, &options, &none), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_executable_create(module, &lower, NULL, NULL), TF_INVALID_ARGUMENT);
  ck_assert_ptr_null(none);
  tf_executable_destroy(NULL);
  tf_context_destroy(context);
}
END_TEST

/* A source of before there was host code ends in front of it. */
START_TEST(older_source) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  making m = {.name = "triple.tir", .text = triple};
  make(&m);
  source.size = offsetof(tf_program_source, entries);
  tf_executable_source(m.executable, &source);
  ck_assert_str_eq(source.image, tf_executable_ptx(m.executable, NULL));
  ck_assert_str_eq(source.manifest, tf_executable_manifest(m.executable, NULL));
  ck_assert(source.image_size == strlen(source.image) && source.manifest_size == strlen(source.manifest));
  ck_assert(source.entries == NULL && source.entry_count == 0);
  drop(&m);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("executable");
  tcase_add_checked_fixture(tests, enter_folder, leave_folder);
  tcase_set_timeout(tests, 120);
  tcase_add_loop_test(tests, same_bytes, 0, sizeof kernels / sizeof *kernels);
  tcase_add_test(tests, same_results);
  tcase_add_test(tests, without_host_code);
  tcase_add_test(tests, places);
  tcase_add_test(tests, warnings);
  tcase_add_test(tests, remarks);
  tcase_add_test(tests, mistakes);
  tcase_add_test(tests, print_after);
  tcase_add_test(tests, spoiled_files);
  tcase_add_test(tests, foreign_payloads);
  tcase_add_loop_test(tests, no_cache, 0, sizeof nowhere / sizeof *nowhere);
  tcase_add_test(tests, full_disk);
  tcase_add_test(tests, threads_and_processes);
  tcase_add_test(tests, shared);
  tcase_add_test(tests, misuse);
  tcase_add_test(tests, older_source);
  return run_case("executable", tests);
}
