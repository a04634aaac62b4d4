/* Driver tables: opening and closing, and each table's own entry points; see State.h. */
#include "Sim/Driver/State.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The open tables, by slot. The lock guards opening and closing; a call on a table that is being closed is the caller's
 * fault, as with any handle. */
static struct {
  pthread_mutex_t lock;
  tf_sim_state *open[TF_SIM_SLOTS];
  unsigned long long generations;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
  tf_sim_state *now;
  tf_sim_stack stacks[TF_SIM_SLOTS];
} thread;

tf_sim_state *tf_sim_now(void) {
  return thread.now;
}

tf_sim_stack *tf_sim_context_stack(void) {
  tf_sim_stack *s = &thread.stacks[thread.now->slot];
  if (s->generation != thread.now->generation) *s = (tf_sim_stack){.generation = thread.now->generation};
  return s;
}

CUcontext tf_sim_context(void) {
  const tf_sim_stack *s = tf_sim_context_stack();
  return s->depth ? s->list[s->depth - 1] : NULL;
}

/* One set of entry points per slot: `slot_3_cuMemAlloc` enters table 3. A call may come from inside another table's
 * (host functions do that), so the previous table is put back. */
#define ENTRY(slot, member, params, args)                                                                              \
  static CUresult slot_##slot##_##member params {                                                                      \
    tf_sim_state *before_ = thread.now;                                                                                \
    thread.now = registry.open[slot];                                                                                  \
    CUresult result_ = tf_sim_inject(TF_SIM_CALL_##member);                                                            \
    if (result_ == CUDA_SUCCESS) result_ = tf_sim_##member args;                                                       \
    thread.now = before_;                                                                                              \
    return result_;                                                                                                    \
  }
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(0, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(1, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(2, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(3, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(4, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(5, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(6, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(7, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(8, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(9, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(10, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(11, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(12, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(13, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(14, member, params, args)
#include "Runtime/DriverAPI.def"
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ENTRY(15, member, params, args)
#include "Runtime/DriverAPI.def"

static const tf_driver tables[TF_SIM_SLOTS] = {
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_0_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_1_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_2_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_3_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_4_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_5_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_6_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_7_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_8_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_9_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_10_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_11_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_12_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_13_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_14_##member,
#include "Runtime/DriverAPI.def"
    },
    {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) .member = slot_15_##member,
#include "Runtime/DriverAPI.def"
    },
};

static tf_status take_slot(tf_sim_state *s) {
  tf_status status = TF_OUT_OF_MEMORY;
  pthread_mutex_lock(&registry.lock);
  for (unsigned i = 0; i < TF_SIM_SLOTS && status != TF_OK; i++) {
    if (registry.open[i]) continue;
    registry.open[i] = s;
    s->slot = i;
    s->generation = ++registry.generations;
    status = TF_OK;
  }
  pthread_mutex_unlock(&registry.lock);
  return status;
}

static void destroy(tf_sim_state *s) {
  tf_sim_state *before = thread.now;
  thread.now = s;
  tf_sim_free_captures(s);
  tf_sim_free_graphs(s);
  tf_sim_free_objects(s);
  tf_sim_free_streams(s, NULL);
  tf_sim_free_modules(s, NULL);
  tf_sim_free_hosts(s, NULL);
  tf_sim_free_links(s);
  tf_sim_free_pools(s);
  tf_sim_free_contexts(s);
  tf_sim_device_destroy(s->device);
  thread.now = before;
  tf_sim_free_counters(s);
  free(s->fault);
  (void)pthread_mutex_destroy(&s->lock);
  free(s);
}

static void close_table(tf_driver *driver) {
  tf_sim_state *s = driver->state;
  pthread_mutex_lock(&registry.lock);
  registry.open[s->slot] = NULL;
  pthread_mutex_unlock(&registry.lock);
  destroy(s);
}

/* Where kernels' printf goes unless the options say otherwise: standard output, as with the real driver. */
static void print_to_stdout(void *user, const char *text, size_t length) {
  (void)user;
  (void)fwrite(text, 1, length, stdout);
  (void)fflush(stdout);
}

tf_status tf_sim_driver_open(const char *profile, const tf_sim_options *options, tf_driver *out) {
  tf_sim_options o = options ? *options : (tf_sim_options){0};
  if (!o.print) o.print = print_to_stdout;
  if (!tf_sim_profile_find(profile)) return TF_UNSUPPORTED;
  tf_sim_state *s = calloc(1, sizeof *s);
  if (!s) return TF_OUT_OF_MEMORY;
  (void)pthread_mutex_init(&s->lock, NULL);
  s->counting = o.counters;
  s->lists_leaks = o.checks & TF_SIM_CHECK_MEM;
  tf_status status = tf_sim_device_create(profile, &o, &s->device);
  if (status == TF_OK) status = take_slot(s);
  if (status != TF_OK) {
    destroy(s);
    return status;
  }
  s->profile = tf_sim_device_profile(s->device);
  *out = tables[s->slot];
  out->state = s;
  out->close = close_table;
  out->is_sim = 1;
  out->take_fault = tf_sim_take_fault;
  return TF_OK;
}

tf_status tf_sim_driver_poison(const tf_driver *driver, CUdeviceptr address, size_t bytes) {
  const tf_sim_state *s = driver->state;
  return tf_sim_poison(s->device, address, bytes);
}

/* The functions by name; of several with one name the newest that `version` knows. *old: there are only newer ones. */
static void *find_symbol(const tf_sim_state *s, const char *name, int version, bool *old) {
  static const struct {
    const char *name;
    int since;
    size_t offset;
  } rows[] = {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) {#name, since, offsetof(tf_driver, member)},
#include "Runtime/DriverAPI.def"
  };
  void *function = NULL;
  int best = -1;
  *old = false;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(rows[i].name, name) != 0) continue;
    if (rows[i].since > version) *old = true;
    if (rows[i].since > version || rows[i].since <= best) continue;
    best = rows[i].since;
    memcpy(&function, (const char *)&tables[s->slot] + rows[i].offset, sizeof function);
  }
  if (function) *old = false;
  return function;
}

/* Streams are empty when a call returns, so the functions for a default stream per thread are the same ones. */
CUresult tf_sim_cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status) {
  bool old;
  if (!symbol || !function || version < 0 || version > TF_SIM_VERSION) return CUDA_ERROR_INVALID_VALUE;
  if (flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  *function = find_symbol(tf_sim_now(), symbol, version, &old);
  if (status)
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
              : old     ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}

/* The older form has no status, so it says by its result that there is no such function. */
CUresult tf_sim_cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags) {
  CUresult r = tf_sim_cuGetProcAddress_v2(symbol, function, version, flags, NULL);
  return r == CUDA_SUCCESS && !*function ? CUDA_ERROR_NOT_FOUND : r;
}

CUresult tf_sim_cuProfilerStart(void) {
  return tf_sim_ready();
}
CUresult tf_sim_cuProfilerStop(void) {
  return tf_sim_ready();
}
