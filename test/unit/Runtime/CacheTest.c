/* The disk cache and what is made for it: entries survive only whole, whatever happens to a writer or to the disk; programs
 * load the same with it, without it, and where it cannot be. */
#include "Fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "Harness.h"
#include "Runtime/Cache.h"
#include "Runtime/Cubin.h"

static char folder[256];
static tf_cache cache;

static void enter_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/tf-cache-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(cache.directory, sizeof cache.directory, "%s/deep/er", folder);
  cache.limit = 1u << 30;
  setenv("TF_CACHE", cache.directory, 1);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path);
}

static void leave_folder(void) {
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  unsetenv("TF_CACHE");
}

/* Different bytes for every seed. */
static unsigned char *noise(size_t size, unsigned seed) {
  unsigned char *bytes = malloc(size + 1);
  for (size_t i = 0; i < size; i++)
    bytes[i] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
  return bytes;
}

static void put_noise(const char *name, size_t size, unsigned seed) {
  unsigned char *bytes = noise(size, seed);
  tf_cache_put(&cache, name, bytes, size);
  free(bytes);
}

static bool has_noise(const char *name, size_t size, unsigned seed) {
  void *got = NULL;
  size_t got_size = 0;
  if (!tf_cache_get(&cache, name, &got, &got_size)) return false;
  unsigned char *wanted = noise(size, seed);
  bool same = got_size == size && memcmp(got, wanted, size) == 0;
  ck_assert_msg(same, "%s: %zu bytes that nobody put there", name, got_size);
  free(wanted);
  free(got);
  return true;
}

static void file_of(const char *name, char path[4096]) {
  snprintf(path, 4096, "%s/%s", cache.directory, name);
}

/* Files of the directory, and their bytes. */
static unsigned count_files(uint64_t *bytes) {
  unsigned count = 0;
  DIR *directory = opendir(cache.directory);
  *bytes = 0;
  for (struct dirent *d = directory ? readdir(directory) : NULL; d; d = readdir(directory)) {
    struct stat info;
    if (fstatat(dirfd(directory), d->d_name, &info, 0) != 0 || !S_ISREG(info.st_mode)) continue;
    count++;
    *bytes += (uint64_t)info.st_size;
  }
  if (directory) closedir(directory);
  return count;
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

START_TEST(keeps) {
  ck_assert(!has_noise("a.cubin", 0, 0));
  put_noise("a.cubin", 1000, 1);
  put_noise("b.cubin", 0, 2);
  ck_assert(has_noise("a.cubin", 1000, 1) && has_noise("b.cubin", 0, 2));
  put_noise("a.cubin", 33, 3);
  ck_assert(has_noise("a.cubin", 33, 3));
  tf_cache_remove(&cache, "a.cubin");
  ck_assert(!has_noise("a.cubin", 33, 3) && has_noise("b.cubin", 0, 2));
}
END_TEST

START_TEST(truncated) {
  for (off_t length = 0; length < 32 + 45; length++) {
    char path[4096];
    put_noise("a.cubin", 45, 7);
    file_of("a.cubin", path);
    ck_assert_int_eq(truncate(path, length), 0);
    ck_assert_msg(!has_noise("a.cubin", 45, 7), "%d bytes were taken", (int)length);
    ck_assert_int_ne(access(path, F_OK), 0);
  }
}
END_TEST

START_TEST(changed) {
  for (off_t at = 0; at < 32 + 45; at++) {
    char path[4096], byte;
    put_noise("a.cubin", 45, 7);
    file_of("a.cubin", path);
    int file = open(path, O_RDWR);
    ck_assert_int_eq(pread(file, &byte, 1, at), 1);
    byte ^= 16;
    ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
    close(file);
    ck_assert_msg(!has_noise("a.cubin", 45, 7), "byte %d may be anything", (int)at);
  }
}
END_TEST

START_TEST(killed_writer) {
  for (unsigned round = 0; round < 12; round++) {
    pid_t child = fork();
    if (child == 0)
      for (unsigned i = 0;; i++)
        put_noise("a.cubin", 400000, 5);
    struct timespec pause = {.tv_nsec = 1000000 + 1700000 * (long)round};
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    (void)has_noise("a.cubin", 400000, 5); /* whole, or not there: else it fails the test */
    tf_cache_remove(&cache, "a.cubin");
  }
  put_noise("a.cubin", 400000, 5);
  ck_assert(has_noise("a.cubin", 400000, 5));
}
END_TEST

/* What a killed writer leaves goes when nobody can be writing it any more. */
START_TEST(leftovers) {
  char old[4096], recent[4096];
  put_noise("a.cubin", 10, 1);
  file_of(".tmp-oldold", old);
  file_of(".tmp-recent", recent);
  close(open(old, O_CREAT | O_WRONLY, 0600));
  close(open(recent, O_CREAT | O_WRONLY, 0600));
  struct timespec times[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
  ck_assert_int_eq(utimensat(AT_FDCWD, old, times, 0), 0);
  put_noise("b.cubin", 10, 1);
  ck_assert_int_ne(access(old, F_OK), 0);
  ck_assert_int_eq(access(recent, F_OK), 0);
}
END_TEST

START_TEST(full_disk) {
  uint64_t bytes;
  struct rlimit before, little = {.rlim_cur = 300, .rlim_max = RLIM_INFINITY};
  put_noise("a.cubin", 100, 1);
  getrlimit(RLIMIT_FSIZE, &before);
  little.rlim_max = before.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  put_noise("b.cubin", 1000, 2);
  put_noise("a.cubin", 1000, 3);
  setrlimit(RLIMIT_FSIZE, &before);
  ck_assert(has_noise("a.cubin", 100, 1) && !has_noise("b.cubin", 1000, 2));
  ck_assert_uint_eq(count_files(&bytes), 1);
}
END_TEST

/* Readers see one writer's bytes or another's, never a mixture; the size tells whose they are. */
static void *put_and_get(void *seed) {
  unsigned number = *(unsigned *)seed;
  for (unsigned i = 0; i < 200; i++) {
    void *got;
    size_t size;
    put_noise("shared.cubin", 3000 + number, number);
    if (!tf_cache_get(&cache, "shared.cubin", &got, &size)) continue;
    ck_assert(size >= 3000 && size < 3004);
    unsigned char *wanted = noise(size, (unsigned)size - 3000);
    ck_assert(memcmp(got, wanted, size) == 0);
    free(wanted);
    free(got);
  }
  return NULL;
}

START_TEST(several_writers) {
  pthread_t threads[4];
  unsigned numbers[4] = {0, 1, 2, 3};
  uint64_t bytes;
  cache.limit = 5000;
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, put_and_get, &numbers[i]), 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  ck_assert_uint_le(count_files(&bytes), 1);
}
END_TEST

/* Nobody, not even root, can write there. */
START_TEST(read_only) {
  strcpy(cache.directory, "/proc/self/tf-cache");
  put_noise("a.cubin", 100, 1);
  ck_assert(!has_noise("a.cubin", 100, 1));
  strcpy(cache.directory, "/dev/null/tf-cache");
  put_noise("a.cubin", 100, 1);
  ck_assert(!has_noise("a.cubin", 100, 1));
}
END_TEST

START_TEST(bounded) {
  uint64_t bytes;
  cache.limit = 20000;
  put_noise("huge.cubin", 20000, 1);
  ck_assert_uint_eq(count_files(&bytes), 0);
  for (unsigned i = 0; i < 60; i++) {
    char name[32];
    snprintf(name, sizeof name, "%u.cubin", i);
    put_noise(name, 1000, i);
    ck_assert(has_noise(name, 1000, i));
    ck_assert(i == 0 || has_noise("0.cubin", 1000, 0)); /* used again and again, so it stays */
    count_files(&bytes);
    ck_assert_uint_le(bytes, cache.limit);
  }
  ck_assert(!has_noise("1.cubin", 1000, 1) && has_noise("58.cubin", 1000, 58));
}
END_TEST

START_TEST(places) {
  static const struct {
    const char *own, *xdg, *home, *wanted;
  } rows[] = {{"off", "/x", "/h", NULL},
              {"/own", "/x", "/h", "/own"},
              {NULL, "/x", "/h", "/x/tilefoundry"},
              {NULL, "relative", "/h", "/h/.cache/tilefoundry"},
              {"", NULL, "/h", "/h/.cache/tilefoundry"},
              {NULL, NULL, NULL, NULL}};
  const char *names[] = {"TF_CACHE", "XDG_CACHE_HOME", "HOME"}, *home = getenv("HOME");
  char *saved = strdup(home ? home : "");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *values[] = {rows[i].own, rows[i].xdg, rows[i].home};
    for (int v = 0; v < 3; v++)
      values[v] ? setenv(names[v], values[v], 1) : unsetenv(names[v]);
    tf_cache found;
    ck_assert_int_eq(tf_cache_open(&found), rows[i].wanted != NULL);
    if (rows[i].wanted) ck_assert_str_eq(found.directory, rows[i].wanted);
  }
  setenv("HOME", saved, 1);
  free(saved);
}
END_TEST

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
static char log_path[300];

/* A ptxas that notes its arguments and writes a file that looks like a cubin, or fails. */
static void write_tool(const char *last_line) {
  static char path[300];
  snprintf(path, sizeof path, "%s/ptxas", folder);
  snprintf(log_path, sizeof log_path, "%s/log", folder);
  FILE *file = fopen(path, "w");
  fprintf(file,
          "#!/bin/sh\necho \"$1\" >> %s\nwhile [ \"$1\" != -o ]; do shift; done\n"
          "printf '\\177ELF made by a test' > \"$2\"\necho noise; echo noise >&2\n%s\n",
          log_path, last_line);
  fclose(file);
  chmod(path, 0755);
  setenv("TF_PTXAS", path, 1);
  setenv("TF_NVJITLINK", "/nonexistent/libnvJitLink.so", 1);
}

static void setup_program(void) {
  enter_folder();
  fake_reset();
  fake_set_current(NULL);
  fake.compute_major = 9;
  open_runtime();
  program = NULL;
}

static void teardown_program(void) {
  teardown();
  unsetenv("TF_PTXAS");
  unsetenv("TF_NVJITLINK");
  leave_folder();
}

static void load_ptx(const char *text) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.image = text;
  source.image_size = strlen(text);
  ck_assert_msg(tf_program_load(rt, &source, &program) == TF_OK, "%s", tf_runtime_message(rt));
  tf_program_unload(program);
  program = NULL;
}

static unsigned runs_of_tool(char first[64]) {
  unsigned lines = 0;
  char line[64];
  FILE *file = fopen(log_path, "r");
  for (*first = '\0'; file && fgets(line, sizeof line, file); lines++)
    if (!lines) strcpy(first, line);
  if (file) fclose(file);
  return lines;
}

static void ck_loads(unsigned runs, unsigned cubins, unsigned texts) {
  char first[64];
  ck_assert_uint_eq(runs_of_tool(first), runs);
  ck_assert_uint_eq(fake.loaded_cubins, cubins);
  ck_assert_uint_eq(fake.loaded_texts, texts);
}

START_TEST(second_time_from_the_cache) {
  char first[64];
  write_tool("exit 0");
  load_ptx(ptx);
  load_ptx(ptx);
  ck_loads(1, 2, 0);
  load_ptx(".version 7.1\n.target sm_75\n");
  ck_loads(2, 3, 0);
  write_tool("exit 0 # another version");
  load_ptx(ptx);
  ck_loads(3, 4, 0);
  runs_of_tool(first);
  ck_assert_str_eq(first, "-arch=sm_90\n"); /* the device's, not the PTX's */
}
END_TEST

START_TEST(targets_with_a_suffix) {
  char first[64];
  write_tool("exit 0");
  load_ptx(".version 8.0\n.target sm_90a\n");
  ck_loads(1, 1, 0);
  runs_of_tool(first);
  ck_assert_str_eq(first, "-arch=sm_90a\n");
}
END_TEST

START_TEST(refused_cubins) {
  uint64_t bytes;
  write_tool("exit 0");
  fake.refuse_cubins = 1;
  load_ptx(ptx);
  ck_loads(1, 0, 1);
  ck_assert_uint_eq(count_files(&bytes), 0);
  fake.refuse_cubins = 0;
  load_ptx(ptx);
  ck_loads(2, 1, 1);
  fake.refuse_cubins = 1; /* the cached one goes */
  load_ptx(ptx);
  ck_loads(2, 1, 2);
  ck_assert_uint_eq(count_files(&bytes), 0);
  ck_message("");
}
END_TEST

START_TEST(broken_tools) {
  write_tool("exit 3");
  load_ptx(ptx);
  ck_loads(1, 0, 1);
  write_tool("rm \"$2\"");
  load_ptx(ptx);
  ck_loads(2, 0, 2);
  setenv("TF_PTXAS", "/nonexistent/ptxas", 1);
  load_ptx(ptx);
  ck_loads(2, 0, 3);
  ck_message("");
}
END_TEST

START_TEST(without_a_cache) {
  write_tool("exit 0");
  setenv("TF_CACHE", _i ? "/proc/self/tf-cache" : "off", 1);
  load_ptx(ptx);
  load_ptx(ptx);
  ck_loads(2, 2, 0);
}
END_TEST

/* Nothing is left of a thousand lives of a program; the fixture counts modules and memory, AddressSanitizer the rest. */
START_TEST(thousand_loads) {
  write_tool("exit 0");
  for (int i = 0; i < 1000; i++)
    load_ptx(ptx);
  ck_loads(1, 1000, 0);
}
END_TEST

/* The real tools, where they are: machine code for the architecture that was asked for. */
START_TEST(real_tools) {
  tf_cubin cubin;
  setenv(_i ? "TF_NVJITLINK" : "TF_PTXAS", "/nonexistent/tool", 1);
  unsetenv(_i ? "TF_PTXAS" : "TF_NVJITLINK");
  setenv("TF_CACHE", "off", 1);
  if (tf_cubin_of_ptx(ptx, 90, &cubin)) {
    const unsigned char *elf = cubin.bytes;
    ck_assert_uint_gt(cubin.size, 64);
    ck_assert(memcmp(elf, "\177ELF", 4) == 0 && elf[18] == 190); /* e_machine: CUDA */
    tf_cubin_close(&cubin, true);
  }
  ck_assert(!tf_cubin_of_ptx(".version 7.0\n.target sm_75\n.visible .entry k() { nonsense; }\n", 90, &cubin));
  ck_assert(!tf_cubin_of_ptx("no PTX at all", 90, &cubin));
}
END_TEST

int main(void) {
  TCase *entries = tcase_create("entries"), *programs = tcase_create("programs");
  tcase_add_checked_fixture(entries, enter_folder, leave_folder);
  tcase_add_checked_fixture(programs, setup_program, teardown_program);
  tcase_set_timeout(entries, 60);
  tcase_set_timeout(programs, 60);
  tcase_add_test(entries, keeps);
  tcase_add_test(entries, truncated);
  tcase_add_test(entries, changed);
  tcase_add_test(entries, killed_writer);
  tcase_add_test(entries, leftovers);
  tcase_add_test(entries, full_disk);
  tcase_add_test(entries, several_writers);
  tcase_add_test(entries, read_only);
  tcase_add_test(entries, bounded);
  tcase_add_test(entries, places);
  tcase_add_test(programs, second_time_from_the_cache);
  tcase_add_test(programs, targets_with_a_suffix);
  tcase_add_test(programs, refused_cubins);
  tcase_add_test(programs, broken_tools);
  tcase_add_loop_test(programs, without_a_cache, 0, 2);
  tcase_add_test(programs, thousand_loads);
  tcase_add_loop_test(programs, real_tools, 0, 2);
  Suite *suite = suite_create("cache");
  suite_add_tcase(suite, entries);
  suite_add_tcase(suite, programs);
  return run_suite(suite);
}
