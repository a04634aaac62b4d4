/* Every form of the instruction table has been executed by a unit test whose expectations come from elsewhere, but for
 * those that Uncovered.txt lists; a form that has got vectors must leave that list, so it only shrinks. */
#include "Coverage.h"
#include "Harness.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 2048 };
static char *listed[MOST_LISTED];
static size_t listed_count, unlisted;

static void read_list(const char *path) {
  char line[1024];
  FILE *f = fopen(path, "r");
  ck_assert_msg(f != NULL, "no file '%s'", path);
  while (fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = '\0';
    ck_assert_uint_lt(listed_count, MOST_LISTED);
    listed[listed_count++] = strdup(line);
  }
  (void)fclose(f);
}

/* Takes the form off the list, or says that it is not on it. */
static void missing(const char *form) {
  for (size_t i = 0; i < listed_count; i++)
    if (listed[i] && strcmp(listed[i], form) == 0) {
      free(listed[i]);
      listed[i] = NULL;
      return;
    }
  printf("no vector: %s\n", form);
  unlisted++;
}

START_TEST(every_form_has_vectors) {
  const char *folder = getenv("TF_SIM_COVERAGE");
  ck_assert_msg(folder != NULL, "TF_SIM_COVERAGE names no folder");
  DIR *d = opendir(folder);
  ck_assert_msg(d != NULL, "no folder '%s'", folder);
  char path[1024];
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    if (!strstr(e->d_name, ".forms")) continue;
    (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    ck_assert_msg(coverage_read(path), "%s is of another table: remove it", path);
  }
  closedir(d);
  size_t all, stale = 0;
  read_list(TF_UNCOVERED);
  (void)coverage_missing(missing, &all);
  for (size_t i = 0; i < listed_count; i++) {
    if (listed[i]) printf("has vectors now: %s\n", listed[i]);
    stale += listed[i] != NULL;
    free(listed[i]);
  }
  ck_assert_msg(unlisted == 0, "%zu of %zu forms have no vector", unlisted, all);
  ck_assert_msg(stale == 0, "%zu forms have vectors and may leave Uncovered.txt", stale);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("forms");
  tcase_add_test(c, every_form_has_vectors);
  return run_case("Sim coverage", c);
}
