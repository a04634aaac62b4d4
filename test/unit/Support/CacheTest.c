/* The disk cache: entries survive only whole, whatever happens to a writer or to the disk, and belong to their owner alone. */
#include "CacheFolder.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "Harness.h"

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
  ck_assert_uint_eq(count_files(&bytes, NULL), 1);
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
  ck_assert_uint_le(count_files(&bytes, NULL), 1);
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
  ck_assert_uint_eq(count_files(&bytes, NULL), 0);
  for (unsigned i = 0; i < 60; i++) {
    char name[32];
    snprintf(name, sizeof name, "%u.cubin", i);
    put_noise(name, 1000, i);
    ck_assert(has_noise(name, 1000, i));
    ck_assert(i == 0 || has_noise("0.cubin", 1000, 0)); /* used again and again, so it stays */
    count_files(&bytes, NULL);
    ck_assert_uint_le(bytes, cache.limit);
  }
  ck_assert(!has_noise("1.cubin", 1000, 1) && has_noise("58.cubin", 1000, 58));
}
END_TEST

/* Whatever the umask lets through, nobody else can write there, and nobody else's is read. */
START_TEST(private) {
  char path[4096];
  struct stat info;
  mode_t before = umask(0);
  put_noise("a.cubin", 100, 1);
  umask(before);
  file_of("a.cubin", path);
  ck_assert(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
  ck_assert(stat(cache.directory, &info) == 0 && (info.st_mode & 0777) == 0700);
  for (mode_t bit = S_IWOTH; bit <= S_IWGRP; bit <<= 3) {
    ck_assert(chmod(cache.directory, 0700 | bit) == 0);
    ck_assert(!has_noise("a.cubin", 100, 1));
    put_noise("b.cubin", 100, 2);
    ck_assert(chmod(cache.directory, 0700) == 0);
    ck_assert(has_noise("a.cubin", 100, 1) && !has_noise("b.cubin", 100, 2));
  }
  ck_assert(chmod(path, 0620) == 0);
  ck_assert(!has_noise("a.cubin", 100, 1));
}
END_TEST

/* Only who may give files away, root as a rule, can make what this needs. */
START_TEST(of_somebody_else) {
  char path[4096];
  put_noise("a.cubin", 100, 1);
  file_of("a.cubin", path);
  if (chown(cache.directory, geteuid() + 1, (gid_t)-1) != 0) return;
  put_noise("b.cubin", 100, 2);
  ck_assert(!has_noise("a.cubin", 100, 1));
  ck_assert(chown(cache.directory, geteuid(), (gid_t)-1) == 0);
  ck_assert(has_noise("a.cubin", 100, 1) && !has_noise("b.cubin", 100, 2));
  ck_assert(chown(path, geteuid() + 1, (gid_t)-1) == 0);
  ck_assert(!has_noise("a.cubin", 100, 1));
}
END_TEST

/* An entry is a file of the directory itself. */
START_TEST(link_in_the_directory) {
  char path[4096], other[4096];
  put_noise("a.cubin", 100, 1);
  file_of("a.cubin", other);
  file_of("b.cubin", path);
  ck_assert(symlink(other, path) == 0);
  ck_assert(!has_noise("b.cubin", 100, 1) && has_noise("a.cubin", 100, 1));
}
END_TEST

/* A name depends on every part, and on where one ends and the next begins. */
START_TEST(name_of_parts) {
  static const struct {
    tf_cache_part parts[2];
  } rows[] = {{{{"ab", 2}, {"c", 1}}},
              {{{"a", 1}, {"bc", 2}}},
              {{{"ab", 2}, {"d", 1}}},
              {{{"bb", 2}, {"c", 1}}},
              {{{"abc", 3}, {"", 0}}}};
  char seen[5][64], again[64];
  for (unsigned i = 0; i < 5; i++) {
    tf_cache_name(rows[i].parts, 2, ".x", seen[i]);
    tf_cache_name(rows[i].parts, 2, ".x", again);
    ck_assert_str_eq(seen[i], again);
    ck_assert(strlen(seen[i]) == 34 && strspn(seen[i], "0123456789abcdef") == 32 && strcmp(seen[i] + 32, ".x") == 0);
    for (unsigned k = 0; k < i; k++)
      ck_assert_str_ne(seen[i], seen[k]);
  }
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

int main(void) {
  TCase *entries = tcase_create("entries");
  tcase_add_checked_fixture(entries, enter_folder, leave_folder);
  tcase_set_timeout(entries, 60);
  tcase_add_test(entries, keeps);
  tcase_add_test(entries, truncated);
  tcase_add_test(entries, changed);
  tcase_add_test(entries, killed_writer);
  tcase_add_test(entries, leftovers);
  tcase_add_test(entries, full_disk);
  tcase_add_test(entries, several_writers);
  tcase_add_test(entries, read_only);
  tcase_add_test(entries, bounded);
  tcase_add_test(entries, private);
  tcase_add_test(entries, of_somebody_else);
  tcase_add_test(entries, link_in_the_directory);
  tcase_add_test(entries, name_of_parts);
  tcase_add_test(entries, places);
  return run_case("cache", entries);
}
