/* A cache of the test's own: a folder that TF_CACHE names and that goes with everything in it. */
#ifndef TF_TEST_CACHE_FOLDER_H
#define TF_TEST_CACHE_FOLDER_H

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "Support/Cache.h"

static char folder[256]; /* the cache is a folder in it */
static tf_cache cache;

static inline void enter_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/tf-cache-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(cache.directory, sizeof cache.directory, "%s/deep/er", folder);
  cache.limit = 1u << 30;
  setenv("TF_CACHE", cache.directory, 1);
}

static inline int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path);
}

/* Nothing that runs later in this process finds another cache. */
static inline void leave_folder(void) {
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  setenv("TF_CACHE", "off", 1);
}

/* Files of the directory, and their bytes; the name of one of them. */
static inline unsigned count_files(uint64_t *bytes, char one[256]) {
  unsigned count = 0;
  DIR *directory = opendir(cache.directory);
  *bytes = 0;
  for (struct dirent *d = directory ? readdir(directory) : NULL; d; d = readdir(directory)) {
    struct stat info;
    if (fstatat(dirfd(directory), d->d_name, &info, 0) != 0 || !S_ISREG(info.st_mode)) continue;
    count++;
    *bytes += (uint64_t)info.st_size;
    if (one) snprintf(one, 256, "%s", d->d_name);
  }
  if (directory) closedir(directory);
  return count;
}

#endif
