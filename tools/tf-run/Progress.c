/* A thread of its own sleeps a second at a time, because the work itself is one call that does not come back. */
#include "Progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct tf_run_progress {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  const char *what;
  unsigned done, total, seconds;
  bool stop;
};

static void show(const tf_run_progress *p) {
  if (p->total > 1)
    fprintf(stderr, "\r\033[K%s … %u of %u, %u s", p->what, p->done, p->total, p->seconds);
  else
    fprintf(stderr, "\r\033[K%s … %u s", p->what, p->seconds);
  fflush(stderr);
}

static void *tick(void *argument) {
  tf_run_progress *p = argument;
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  pthread_mutex_lock(&p->lock);
  until.tv_sec++;
  while (!p->stop) {
    if (pthread_cond_timedwait(&p->wake, &p->lock, &until) == 0) continue;
    until.tv_sec++;
    p->seconds++;
    show(p);
  }
  if (p->seconds) fputs("\r\033[K", stderr);
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

static bool init(tf_run_progress *p) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) return false;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  bool good = pthread_mutex_init(&p->lock, NULL) == 0 && pthread_cond_init(&p->wake, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  return good && pthread_create(&p->thread, NULL, tick, p) == 0;
}

tf_run_progress *tf_run_progress_start(const char *what) {
  if (!isatty(STDERR_FILENO)) return NULL;
  tf_run_progress *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->what = what;
  if (init(p)) return p;
  free(p);
  return NULL;
}

void tf_run_progress_step(tf_run_progress *progress, unsigned done, unsigned total) {
  if (!progress) return;
  pthread_mutex_lock(&progress->lock);
  progress->done = done;
  progress->total = total;
  pthread_mutex_unlock(&progress->lock);
}

void tf_run_progress_stop(tf_run_progress *progress) {
  if (!progress) return;
  pthread_mutex_lock(&progress->lock);
  progress->stop = true;
  pthread_cond_signal(&progress->wake);
  pthread_mutex_unlock(&progress->lock);
  pthread_join(progress->thread, NULL);
  pthread_cond_destroy(&progress->wake);
  pthread_mutex_destroy(&progress->lock);
  free(progress);
}
