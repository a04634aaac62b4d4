/* Launches: checking the configuration, spreading clusters of CTAs over workers, residency, and the final report.
 *
 * Parallel: kernels that do not order memory between CTAs. Workers take cluster after cluster and run each to its end.
 * Ordered: all others. One worker holds up to as many clusters as the device would keep resident and gives each a turn;
 * a cluster that ends within its turn never costs the memory of a second one:
 *
 *   resident  [ 0 ][ 1 ][ 2 ]   turn of 0 ▸ 1 ▸ 2 ▸ 0 …       not ended after its turn and room left: admit the next */
#include "Sim/Check.h"
#include "Sim/Count.h"
#include "Sim/Module.h"
#include "Sim/View.h"
#include "Sim/Written.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_PER_TURN = 8, CANCEL_ROUNDS = 16 };

static tf_status refuse(char *message, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static tf_status refuse(char *message, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (message && size) (void)vsnprintf(message, size, format, args);
  va_end(args);
  return TF_LAUNCH;
}

static uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

static uint64_t shared_total(const tf_func *f, uint64_t dynamic) {
  return round_up(f->shared_bytes, f->dynamic_align) + dynamic;
}

unsigned tf_sim_occupancy(const tf_sim_function *f, uint64_t threads, uint64_t dynamic) {
  const tf_sim_profile *p = f->module->device->profile;
  uint64_t warps = (threads + TF_LANES - 1) / TF_LANES, limit = p->max_blocks_per_sm;
  if (threads == 0 || threads > 1024) return 0;
  uint64_t by_threads = p->max_threads_per_sm / TF_LANES / warps;
  uint64_t shared = round_up(shared_total(f, dynamic) + p->reserved_shared, 128);
  uint64_t by_shared = shared ? p->shared_per_sm / shared : limit;
  uint64_t registers = (f->ptx->maxnreg ? f->ptx->maxnreg : 32) * warps * TF_LANES;
  uint64_t by_registers = p->registers_per_sm / registers;
  if (by_threads < limit) limit = by_threads;
  if (by_shared < limit) limit = by_shared;
  if (by_registers < limit) limit = by_registers;
  return (unsigned)limit;
}

static tf_status check_block(const tf_launch *l, char *message, size_t size) {
  const tf_ptx_func *f = l->entry->ptx;
  if (l->block_count == 0 || l->block_count > 1024 || l->block[0] > 1024 || l->block[1] > 1024 || l->block[2] > 64)
    return refuse(message, size, "block of %ux%ux%u threads: at most 1024 threads, 1024x1024x64", l->block[0],
                  l->block[1], l->block[2]);
  uint64_t most = (uint64_t)f->maxntid[0] * f->maxntid[1] * f->maxntid[2];
  if (f->maxntid[0] && l->block_count > most)
    return refuse(message, size, "block of %llu threads exceeds the kernel's .maxntid of %llu",
                  (unsigned long long)l->block_count, (unsigned long long)most);
  if (f->reqntid[0] && memcmp(f->reqntid, l->block, sizeof l->block) != 0)
    return refuse(message, size, "block of %ux%ux%u threads; the kernel requires %ux%ux%u", l->block[0], l->block[1],
                  l->block[2], f->reqntid[0], f->reqntid[1], f->reqntid[2]);
  return TF_OK;
}

static tf_status check_grid(const tf_launch *l, char *message, size_t size) {
  if (l->grid_count == 0 || l->grid[0] > INT32_MAX || l->grid[1] > 65535 || l->grid[2] > 65535)
    return refuse(message, size, "grid of %ux%ux%u CTAs: at least 1, at most 2147483647x65535x65535", l->grid[0],
                  l->grid[1], l->grid[2]);
  return TF_OK;
}

static tf_status check_cluster(const tf_launch *l, char *message, size_t size) {
  const tf_sim_profile *p = l->device->profile;
  uint64_t count = 1;
  for (int i = 0; i < 3; i++) {
    if (l->cluster[i] > 16 || l->grid[i] % l->cluster[i])
      return refuse(message, size, "the grid is no multiple of the cluster in dimension %d (%u of %u)", i, l->grid[i],
                    l->cluster[i]);
    count *= l->cluster[i];
  }
  const uint32_t *need = l->entry->ptx->reqcluster;
  if (need[0] && memcmp(need, l->cluster, sizeof l->cluster) != 0)
    return refuse(message, size, "the kernel requires clusters of %ux%ux%u CTAs", need[0], need[1], need[2]);
  if (count > 1 && count > p->max_cluster)
    return refuse(message, size, "clusters of %llu CTAs; %s has at most %u", (unsigned long long)count, p->name,
                  p->max_cluster);
  return TF_OK;
}

static tf_status check_resources(const tf_launch *l, const tf_sim_launch_config *c, char *message, size_t size) {
  const tf_sim_profile *p = l->device->profile;
  if (l->shared_bytes > p->shared_optin)
    return refuse(message, size, "%llu bytes of shared memory; %s has at most %u per CTA",
                  (unsigned long long)l->shared_bytes, p->name, p->shared_optin);
  if (c->param_bytes < l->entry->param_bytes || (l->entry->param_bytes && !c->params))
    return refuse(message, size, "%llu bytes of parameters; the kernel takes %llu", (unsigned long long)c->param_bytes,
                  (unsigned long long)l->entry->param_bytes);
  uint64_t resident = (uint64_t)tf_sim_occupancy(l->entry, l->block_count, l->dynamic_shared) * p->multiprocessors;
  if (l->cooperative && l->grid_count > resident)
    return refuse(message, size, "cooperative launch of %llu CTAs; %s keeps at most %llu of them resident",
                  (unsigned long long)l->grid_count, p->name, (unsigned long long)resident);
  return TF_OK;
}

static tf_status configure(tf_launch *l, const tf_sim_function *f, const tf_sim_launch_config *c, char *message,
                           size_t size) {
  memcpy(l->grid, c->grid, sizeof l->grid);
  memcpy(l->block, c->block, sizeof l->block);
  for (int i = 0; i < 3; i++) {
    uint32_t required = f->ptx->reqcluster[i];
    l->cluster[i] = c->cluster[i] ? c->cluster[i] : required ? required : 1;
    if (f->ptx->blocks_are_clusters && c->grid[i] <= UINT32_MAX / l->cluster[i]) l->grid[i] *= l->cluster[i];
  }
  l->block_count = (uint64_t)c->block[0] * c->block[1] * c->block[2];
  l->grid_count = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  l->dynamic_shared = c->dynamic_shared;
  l->shared_bytes = c->dynamic_shared <= UINT32_MAX ? shared_total(f, c->dynamic_shared) : c->dynamic_shared;
  l->params = c->params;
  l->param_bytes = f->param_bytes;
  l->cooperative = c->cooperative;
  l->cancel = c->cancel;
  tf_status s = check_block(l, message, size);
  if (s == TF_OK) s = check_grid(l, message, size);
  if (s == TF_OK) s = check_cluster(l, message, size);
  return s == TF_OK ? check_resources(l, c, message, size) : s;
}

static uint64_t cluster_count(const tf_launch *l) {
  return l->grid_count / ((uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2]);
}

/* A bijection of [0, n): position to cluster. The seed's stride is made coprime to n. */
static uint64_t shuffled(const tf_launch *l, uint64_t index) {
  uint64_t n = cluster_count(l), stride, a, b;
  if (!l->seed || n < 3) return l->seed && n == 2 ? (index ^ (l->seed & 1)) : index;
  for (stride = l->seed * 0x9E3779B97F4A7C15u % n | 1;; stride++) {
    for (a = stride, b = n; b;) {
      uint64_t r = a % b;
      a = b;
      b = r;
    }
    if (a == 1) break;
  }
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)(((wide)index * stride + l->seed) % n);
}

/* The first warp with live threads, and where its first one stands; between rounds every lane is parked. */
static tf_warp *where(tf_cluster *k, const tf_insn **in, unsigned *lane) {
  *in = NULL;
  *lane = 0;
  for (uint32_t i = 0; i < k->count; i++)
    for (uint32_t j = 0; j < k->ctas[i]->warp_count; j++) {
      tf_warp *w = &k->ctas[i]->warps[j];
      if (!w->live) continue;
      *lane = (unsigned)__builtin_ctz(w->live);
      const tf_func *f = w->lane_frame[*lane]->func;
      if (w->lane_pc[*lane] < f->count) *in = &f->code[w->lane_pc[*lane]];
      return w;
    }
  return &k->ctas[0]->warps[0];
}

static bool cancelled(const tf_launch *l) {
  return (l->cancel && atomic_load(l->cancel)) || (l->cancel_all && __atomic_load_n(l->cancel_all, __ATOMIC_RELAXED));
}

/* Budget and cancellation, looked at between rounds. */
static void supervise(tf_worker *worker, tf_cluster *k, uint64_t *reported) {
  tf_launch *l = worker->launch;
  uint64_t total = atomic_fetch_add(&l->executed, worker->executed - *reported) + worker->executed - *reported;
  *reported = worker->executed;
  bool over = l->budget && total > l->budget, cancel = cancelled(l);
  if (!over && !cancel) return;
  const tf_insn *in;
  unsigned lane;
  tf_warp *w = where(k, &in, &lane);
  if (over)
    tf_find(w, in, lane, TF_FIND_budget, 0, 0, "the launch used up its budget of %llu warp instructions",
            (unsigned long long)l->budget);
  if (cancel) tf_find(w, in, lane, TF_FIND_cancelled, 0, 0, "the launch was cancelled");
}

static bool stopped(const tf_launch *l) {
  return atomic_load_explicit(&l->stop, memory_order_relaxed);
}

const char *tf_launch_buffer_name(const tf_launch *l, const tf_alloc *a) {
  const tf_func *f = l->entry;
  if (a->label) return a->label;
  for (uint32_t i = 0; i < f->param_count; i++) {
    uint64_t value;
    if (f->params[i].bytes != 8 || f->params[i].offset + 8 > l->param_bytes) continue;
    memcpy(&value, l->params + f->params[i].offset, 8);
    if (value - a->lo < a->bytes) return f->ptx->params[i]->name;
  }
  return NULL;
}

void tf_launch_no_memory(tf_launch *l) {
  pthread_mutex_lock(&l->report->lock);
  l->report->failed = l->report->trapped = true;
  l->no_memory = true;
  pthread_mutex_unlock(&l->report->lock);
  atomic_store(&l->stop, true);
}

static void run_to_end(tf_worker *worker, uint64_t index, uint64_t *reported) {
  tf_launch *l = worker->launch;
  tf_cluster *k = tf_cluster_start(worker, shuffled(l, index));
  if (!k) {
    tf_launch_no_memory(l);
    return;
  }
  for (;;) {
    tf_round r = tf_cluster_round(k);
    if (r == TF_ROUND_DONE || stopped(l)) break;
    if (r != TF_ROUND_READY) tf_cluster_report_hang(k, r == TF_ROUND_STUCK ? "deadlock" : "livelock");
    supervise(worker, k, reported);
  }
  tf_cluster_free(k);
}

static void *run_parallel(void *user) {
  tf_worker *worker = user;
  tf_launch *l = worker->launch;
  uint64_t n = cluster_count(l), reported = 0;
  while (!stopped(l)) {
    uint64_t index = atomic_fetch_add(&l->next_cluster, 1);
    if (index >= n) break;
    run_to_end(worker, index, &reported);
  }
  return NULL;
}

typedef struct resident {
  tf_cluster **list;
  size_t count, cap, limit;
  uint64_t next, total;
  size_t idle; /* clusters in a row that could not move */
} resident;

static bool admit(tf_worker *worker, resident *r) {
  if (!tf_grow((void **)&r->list, &r->cap, r->count + 1, sizeof *r->list)) return false;
  tf_cluster *k = tf_cluster_start(worker, shuffled(worker->launch, r->next));
  if (!k) return false;
  r->list[r->count++] = k;
  r->next++;
  return true;
}

/* One turn of a resident cluster; returns whether it has ended. */
static bool give_turn(tf_worker *worker, resident *r, size_t at, uint64_t *reported) {
  tf_round round = TF_ROUND_READY;
  uint64_t progress = worker->progress;
  for (int i = 0; i < ROUNDS_PER_TURN && round == TF_ROUND_READY && !stopped(worker->launch); i++)
    round = tf_cluster_round(r->list[at]);
  supervise(worker, r->list[at], reported);
  bool idle = round == TF_ROUND_STUCK || round == TF_ROUND_SPINNING;
  r->idle = idle && worker->progress == progress ? r->idle + 1 : 0;
  return round == TF_ROUND_DONE;
}

static void report_hang(resident *r) {
  for (size_t i = 0; i < r->count; i++)
    tf_cluster_report_hang(r->list[i], "deadlock");
}

static void run_ordered(tf_worker *worker, resident *r) {
  tf_launch *l = worker->launch;
  uint64_t reported = 0;
  size_t at = 0;
  while ((r->count || r->next < r->total) && !stopped(l)) {
    if (r->count == 0 && !admit(worker, r)) {
      tf_launch_no_memory(l);
      return;
    }
    if (at >= r->count) {
      at = 0;
      /* Everyone had a turn and is still there: the next ones may be what they wait for. */
      if (r->next < r->total && r->count < r->limit && !admit(worker, r)) r->limit = r->count;
    }
    if (give_turn(worker, r, at, &reported)) {
      tf_cluster_free(r->list[at]);
      memmove(&r->list[at], &r->list[at + 1], (r->count - at - 1) * sizeof *r->list);
      r->count--;
      r->idle = 0;
    } else
      at++;
    bool all_in = r->next == r->total || r->count >= r->limit;
    if (r->count && all_in && r->idle >= 2 * r->count) report_hang(r);
  }
}

static void run_on_one(tf_worker *worker) {
  tf_launch *l = worker->launch;
  uint64_t per_cluster = l->grid_count / cluster_count(l);
  uint64_t limit = (uint64_t)tf_sim_occupancy(l->entry, l->block_count, l->dynamic_shared) *
                   l->device->profile->multiprocessors / per_cluster;
  resident r = {.limit = limit ? limit : 1, .total = cluster_count(l)};
  run_ordered(worker, &r);
  for (size_t i = 0; i < r.count; i++)
    tf_cluster_free(r.list[i]);
  free(r.list);
}

static bool is_ordered(const tf_launch *l) {
  const tf_sim_options *o = &l->device->options;
  bool global = l->entry->global_order && !o->force_parallel;
  return global || l->race || l->adversarial || l->cooperative || o->threads == 1 || cluster_count(l) == 1;
}

static unsigned worker_count(const tf_launch *l) {
  unsigned n = l->device->options.threads ? l->device->options.threads : l->device->cores;
  if (n > 256) n = 256;
  return is_ordered(l) ? 1 : n > cluster_count(l) ? (unsigned)cluster_count(l) : n;
}

/* Initialises the workers of a launch. */
static bool start_workers(tf_launch *l, tf_worker *workers, unsigned n) {
  bool ok = true;
  for (unsigned i = 0; i < n; i++) {
    workers[i].launch = l;
    for (unsigned k = 0; k < TF_CACHE_WAYS; k++)
      workers[i].cache[k].lo = 1; /* empty */
    if (l->count) ok = tf_count_worker_begin(&workers[i]) && ok;
  }
  return ok;
}

/* Runs the launch on the workers, one thread each; worker 0 is this thread. */
static void run_all(tf_launch *l, tf_worker *workers, pthread_t *threads, unsigned n) {
  unsigned started = 1;
  while (started < n && pthread_create(&threads[started], NULL, run_parallel, &workers[started]) == 0)
    started++;
  if (is_ordered(l))
    run_on_one(&workers[0]);
  else
    run_parallel(&workers[0]);
  for (unsigned i = 1; i < started; i++)
    (void)pthread_join(threads[i], NULL);
}

static bool sum_up(tf_launch *l, tf_worker *workers, unsigned n, tf_sim_report *out) {
  if (l->count) return tf_count_launch_end(l, workers, n, out);
  for (unsigned i = 0; i < n; i++)
    out->counters.warp_instructions += workers[i].executed;
  return true;
}

static tf_status run_workers(tf_launch *l, tf_sim_report *out) {
  unsigned n = worker_count(l);
  tf_worker *workers = aligned_alloc(64, round_up(n * sizeof *workers, 64));
  pthread_t *threads = calloc(n, sizeof *threads);
  if (workers) memset(workers, 0, n * sizeof *workers);
  bool ok = workers && threads && start_workers(l, workers, n);
  if (ok) run_all(l, workers, threads, n);
  ok = ok && sum_up(l, workers, n, out);
  for (unsigned i = 0; workers && i < n; i++) {
    tf_count_worker_end(&workers[i]);
    tf_spares_free(&workers[i].spares);
  }
  free(workers);
  free(threads);
  return ok ? TF_OK : TF_OUT_OF_MEMORY;
}

/* Cooperative launches on a device take turns, so one workspace serves them all. */
static bool take_workspace(tf_launch *l) {
  tf_alloc **workspace = &l->device->workspace;
  enum { BYTES = 4096 };
  if (!*workspace && tf_memory_alloc(&l->device->memory, BYTES, false, "grid workspace", workspace) != TF_OK)
    return false;
  (*workspace)->variable = true;
  memset((*workspace)->host, 0, BYTES);
  (void)tf_written_set(*workspace, 0, BYTES);
  l->workspace = (*workspace)->lo;
  return true;
}

static tf_status launch_locked(const tf_sim_function *f, const tf_sim_launch_config *c, char *message, size_t size,
                               tf_sim_report *out) {
  tf_device *device = f->module->device;
  const tf_sim_options *o = &device->options;
  tf_report report;
  tf_launch l = {.device = device, .module = f->module, .entry = f, .checks = o->checks | TF_SIM_CHECK_MEM};
  l.count = o->counters;
  l.seed = o->seed;
  l.adversarial = o->adversarial;
  l.budget = o->budget;
  l.cancel_all = o->cancel;
  l.report = &report;
  tf_status status = configure(&l, f, c, message, size);
  if (status != TF_OK) return status;
  if (l.cooperative && !take_workspace(&l)) return TF_OUT_OF_MEMORY;
  l.id = ++device->launches;
  tf_report_init(&report);
  if (tf_check_launch_begin(&l) && (!l.count || tf_count_launch_begin(&l)))
    status = run_workers(&l, out);
  else
    l.no_memory = true;
  tf_view_finish(&l);
  tf_check_launch_end(&l);
  tf_count_launch_free(&l);
  tf_report_finish(&report, out);
  if (l.no_memory) status = TF_OUT_OF_MEMORY;
  if (status == TF_OK) status = out->status;
  out->status = status;
  if (status != TF_OK && message && size)
    (void)snprintf(message, size, "%s",
                   l.no_memory  ? "the host has not enough memory for this launch"
                   : out->count ? out->findings[0].text
                                : "the launch failed");
  return status;
}

tf_status tf_sim_launch(const tf_sim_function *f, const tf_sim_launch_config *config, char *message,
                        size_t message_size, tf_sim_report *report) {
  tf_sim_report local = {0};
  if (message && message_size) *message = '\0';
  pthread_mutex_lock(&f->module->device->lock);
  tf_status status = launch_locked(f, config, message, message_size, &local);
  pthread_mutex_unlock(&f->module->device->lock);
  if (report)
    *report = local;
  else
    tf_sim_report_free(&local);
  return status;
}
