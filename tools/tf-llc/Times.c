/* --time-passes: one line for each pass as it ends, then the whole: from the text to what was asked for, and the share of this
 * project's own passes in it. */
#include <string.h>
#include <time.h>

#include "Llc.h"

static const struct {
  const char *name;
  bool own;
} passes[] = {
#define TF_PASS(ENUM, NAME, OWN, SHOWS) {NAME, OWN},
#include <tilefoundry/Passes.def>
};

double llc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void llc_times_begin(llc_times *times) {
  times->begin = times->wanted ? llc_now() : 0;
  times->own = 0;
}

void llc_times_pass(void *user, const char *pass, double seconds) {
  llc_times *times = user;
  if (!times->wanted) return;
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    if (passes[i].own && strcmp(passes[i].name, pass) == 0) times->own += seconds;
  fprintf(stderr, "%-12s %9.3f ms\n", pass, seconds * 1e3);
}

void llc_times_end(const llc_times *times) {
  if (!times->wanted) return;
  double total = llc_now() - times->begin;
  fprintf(stderr, "%-12s %9.3f ms, own passes %.3f ms (%.1f %%)\n", "total", total * 1e3, times->own * 1e3,
          100 * times->own / total);
}
