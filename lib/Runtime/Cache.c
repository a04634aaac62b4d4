/* Entries of the disk cache: reading with every check, writing by rename, sweeping. */
#include "Runtime/Cache.h"

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

static void path_of(const tf_cache *cache, const char *name, char path[4096]) {
  snprintf(path, 4096, "%s/%s", cache->directory, name);
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
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || !read_all(file, &h, sizeof h)) return NULL;
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
  char path[4096];
  path_of(cache, name, path);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char *payload = read_entry(file, size);
  if (payload)
    (void)futimens(file, NULL); /* used now */
  else
    (void)unlink(path);
  close(file);
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

/* Over the limit, the oldest entries go until three quarters of it are left, so that not every write sweeps. */
static void sweep(const tf_cache *cache) {
  DIR *directory = opendir(cache->directory);
  if (!directory) return;
  listing list = {0};
  if (list_entries(directory, &list) && list.bytes > cache->limit) {
    qsort(list.items, list.count, sizeof *list.items, older_first);
    uint64_t target = cache->limit - cache->limit / 4;
    for (size_t i = 0; i < list.count && list.bytes > target; i++) {
      (void)unlinkat(dirfd(directory), list.items[i].name, 0);
      list.bytes -= list.items[i].bytes;
    }
  }
  free(list.items);
  closedir(directory);
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

void tf_cache_put(const tf_cache *cache, const char *name, const void *bytes, size_t size) {
  if (size > MAX_PAYLOAD || size + sizeof(header) > cache->limit - cache->limit / 4) return;
  char path[4096], temporary[4096];
  path_of(cache, name, path);
  path_of(cache, TEMPORARY "XXXXXX", temporary);
  make_directory(cache);
  int file = mkostemp(temporary, O_CLOEXEC);
  if (file < 0) return;
  header h = header_of(bytes, size);
  bool written = write_all(file, &h, sizeof h) && write_all(file, bytes, size);
  written = close(file) == 0 && written;
  if (!written || rename(temporary, path) != 0)
    (void)unlink(temporary);
  else
    sweep(cache);
}

void tf_cache_remove(const tf_cache *cache, const char *name) {
  char path[4096];
  path_of(cache, name, path);
  (void)unlink(path);
}
