/* Entries of the disk cache: reading with every check, writing by rename, sweeping. */
#include "Support/Cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

#define DEFAULT_LIMIT     (512ull << 20)
#define MAX_PAYLOAD       (1ull << 30)
#define TEMPORARY         ".tmp-"
#define TEMPORARY_SECONDS 3600

typedef struct header {
  char magic[8];
  uint64_t size;
  unsigned char hash[16];
} header;

static const char magic[8] = {'T', 'F', 'C', 'A', 'C', 'H', 'E', '1'};

static header header_of(const void *payload, size_t size) {
  header h = {.size = size};
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(payload, size));
  memcpy(h.magic, magic, sizeof magic);
  memcpy(h.hash, hash.digest, sizeof h.hash);
  return h;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

void tf_cache_name(const tf_cache_part *parts, unsigned count, const char *suffix, char name[64]) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  for (unsigned i = 0; i < count; i++) {
    uint64_t size = parts[i].size;
    XXH3_128bits_update(&state, &size, sizeof size);
    XXH3_128bits_update(&state, parts[i].bytes, parts[i].size);
  }
  XXH128_hash_t hash = XXH3_128bits_digest(&state);
  snprintf(name, 64, "%016llx%016llx%s", (unsigned long long)hash.high64, (unsigned long long)hash.low64, suffix);
}

/* ---- Where ------------------------------------------------------------------------------------------------------- */

static bool is_absolute(const char *path) {
  return path && *path == '/';
}

bool tf_cache_open(tf_cache *out) {
  const char *own = getenv("TF_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"),
             *limit = getenv("TF_CACHE_LIMIT");
  int n = -1;
  if (own && *own)
    n = is_absolute(own) ? snprintf(out->directory, sizeof out->directory, "%s", own) : -1; /* "off", among others */
  else if (is_absolute(xdg)) /* relative ones are invalid, says the specification */
    n = snprintf(out->directory, sizeof out->directory, "%s/tilefoundry", xdg);
  else if (is_absolute(home))
    n = snprintf(out->directory, sizeof out->directory, "%s/.cache/tilefoundry", home);
  out->limit = limit && *limit ? strtoull(limit, NULL, 0) : DEFAULT_LIMIT;
  return n > 0 && (size_t)n < sizeof out->directory;
}

/* Whether nobody else could have written it; root could in any case. */
static bool is_private(const struct stat *info) {
  return info->st_uid == geteuid() && !(info->st_mode & (S_IWGRP | S_IWOTH));
}

/* The directory, if it is there and private; -1 else. All files are reached through it, so that it cannot be exchanged
 * between this test and their use. */
static int open_directory(const tf_cache *cache) {
  struct stat info;
  int directory = open(cache->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0 || (fstat(directory, &info) == 0 && is_private(&info))) return directory;
  close(directory);
  return -1;
}

/* mkdir -p; whether it worked shows when something is written. */
static void make_directory(const tf_cache *cache) {
  char path[sizeof cache->directory];
  snprintf(path, sizeof path, "%s", cache->directory);
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(path, 0700);
    *slash = '/';
  }
  (void)mkdir(path, 0700);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool read_all(int file, void *out, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = read(file, (char *)out + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

/* The payload, if the file is what header_of says; null otherwise. */
static char *read_entry(int file, size_t *size) {
  struct stat info;
  header h;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || !is_private(&info)) return NULL;
  if (!read_all(file, &h, sizeof h)) return NULL;
  if (memcmp(h.magic, magic, sizeof magic) != 0 || h.size > MAX_PAYLOAD || (uint64_t)info.st_size != sizeof h + h.size)
    return NULL;
  char *payload = malloc((size_t)h.size + 1);
  if (!payload) return NULL;
  payload[h.size] = '\0';
  *size = (size_t)h.size;
  if (read_all(file, payload, *size)) {
    header wanted = header_of(payload, *size);
    if (memcmp(&wanted, &h, sizeof h) == 0) return payload;
  }
  free(payload);
  return NULL;
}

bool tf_cache_get(const tf_cache *cache, const char *name, void **bytes, size_t *size) {
  int directory = open_directory(cache);
  if (directory < 0) return false;
  int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  char *payload = file < 0 ? NULL : read_entry(file, size);
  if (payload)
    (void)futimens(file, NULL); /* used now */
  else if (file >= 0)
    (void)unlinkat(directory, name, 0);
  if (file >= 0) close(file);
  close(directory);
  if (payload) *bytes = payload;
  return payload != NULL;
}

/* ---- Sweeping ---------------------------------------------------------------------------------------------------- */

typedef struct entry {
  char name[128];
  uint64_t bytes;
  struct timespec used;
} entry;

typedef struct listing {
  entry *items;
  size_t count, capacity;
  uint64_t bytes;
} listing;

static bool list_add(listing *list, const char *name, const struct stat *info) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    entry *items = realloc(list->items, capacity * sizeof *items);
    if (!items) return false;
    list->items = items;
    list->capacity = capacity;
  }
  entry *e = &list->items[list->count++];
  snprintf(e->name, sizeof e->name, "%s", name);
  e->bytes = (uint64_t)info->st_size;
  e->used = info->st_mtim;
  list->bytes += e->bytes;
  return true;
}

/* Lists the entries; temporary files that no writer can still be busy with are removed on the way. */
static bool list_entries(DIR *directory, listing *list) {
  time_t now = time(NULL);
  for (struct dirent *d = readdir(directory); d; d = readdir(directory)) {
    struct stat info;
    if (strlen(d->d_name) >= sizeof list->items->name ||
        fstatat(dirfd(directory), d->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
      continue;
    bool temporary = strncmp(d->d_name, TEMPORARY, strlen(TEMPORARY)) == 0;
    if (temporary && now - info.st_mtime > TEMPORARY_SECONDS) (void)unlinkat(dirfd(directory), d->d_name, 0);
    if (*d->d_name != '.' && !list_add(list, d->d_name, &info)) return false;
  }
  return true;
}

static int older_first(const void *a, const void *b) {
  const struct timespec *x = &((const entry *)a)->used, *y = &((const entry *)b)->used;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
  return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Over the limit, the oldest entries go until three quarters of it are left, so that not every write sweeps. Takes the
 * directory over. */
static void sweep(int directory, uint64_t limit) {
  DIR *stream = fdopendir(directory);
  if (!stream) {
    close(directory);
    return;
  }
  listing list = {0};
  if (list_entries(stream, &list) && list.bytes > limit) {
    qsort(list.items, list.count, sizeof *list.items, older_first);
    uint64_t target = limit - limit / 4;
    for (size_t i = 0; i < list.count && list.bytes > target; i++) {
      (void)unlinkat(directory, list.items[i].name, 0);
      list.bytes -= list.items[i].bytes;
    }
  }
  free(list.items);
  closedir(stream);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static bool write_all(int file, const void *bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = write(file, (const char *)bytes + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

/* A file that nobody else has: threads and processes try different names, and go on to the next where one is taken. */
static int create_temporary(int directory, char name[64]) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (unsigned attempt = 0; attempt < 100; attempt++) {
    snprintf(name, 64, TEMPORARY "%ld-%ld-%u", (long)getpid(), now.tv_nsec, attempt);
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

static bool write_entry(int directory, const char *name, const void *bytes, size_t size) {
  char temporary[64];
  int file = create_temporary(directory, temporary);
  if (file < 0) return false;
  header h = header_of(bytes, size);
  bool written = write_all(file, &h, sizeof h) && write_all(file, bytes, size);
  written = close(file) == 0 && written && renameat(directory, temporary, directory, name) == 0;
  if (!written) (void)unlinkat(directory, temporary, 0);
  return written;
}

void tf_cache_put(const tf_cache *cache, const char *name, const void *bytes, size_t size) {
  if (size > MAX_PAYLOAD || size + sizeof(header) > cache->limit - cache->limit / 4) return;
  make_directory(cache);
  int directory = open_directory(cache);
  if (directory < 0) return;
  if (write_entry(directory, name, bytes, size))
    sweep(directory, cache->limit);
  else
    close(directory);
}

void tf_cache_remove(const tf_cache *cache, const char *name) {
  int directory = open_directory(cache);
  if (directory < 0) return;
  (void)unlinkat(directory, name, 0);
  close(directory);
}
