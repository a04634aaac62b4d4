/* The runtime object: the first error, and what a failed driver call says to the user. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/RuntimeImpl.h"

static const char no_memory_text[] = "out of memory (and none for a message)";

tf_status tf_runtime_create(tf_runtime **out) {
  if (!out) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = calloc(1, sizeof *rt);
  if (!rt) return TF_OUT_OF_MEMORY;
  bool locks = pthread_mutex_init(&rt->lock, NULL) == 0;
  if (locks && pthread_mutex_init(&rt->unit_lock, NULL) != 0) {
    pthread_mutex_destroy(&rt->lock);
    locks = false;
  }
  if (!locks) {
    free(rt);
    return TF_OUT_OF_MEMORY;
  }
  rt->barrier_epoch = 1;
  *out = rt;
  return TF_OK;
}

static void free_message(tf_runtime *rt) {
  if (rt->message != no_memory_text) free(rt->message);
  rt->message = NULL;
}

void tf_runtime_destroy(tf_runtime *runtime) {
  if (!runtime) return;
  tf_units_unload(runtime);
  tf_device_detach(runtime);
  free_message(runtime);
  pthread_mutex_destroy(&runtime->unit_lock);
  pthread_mutex_destroy(&runtime->lock);
  free(runtime);
}

tf_status tf_runtime_status(const tf_runtime *runtime) {
  if (!runtime) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = (tf_runtime *)(uintptr_t)runtime; /* only the lock is written */
  pthread_mutex_lock(&rt->lock);
  tf_status status = rt->status;
  pthread_mutex_unlock(&rt->lock);
  return status;
}

const char *tf_runtime_message(const tf_runtime *runtime) {
  if (!runtime) return "";
  tf_runtime *rt = (tf_runtime *)(uintptr_t)runtime;
  pthread_mutex_lock(&rt->lock);
  const char *message = rt->message ? rt->message : "";
  pthread_mutex_unlock(&rt->lock);
  return message;
}

void tf_runtime_clear_error(tf_runtime *runtime) {
  if (!runtime) return;
  pthread_mutex_lock(&runtime->lock);
  free_message(runtime);
  runtime->status = TF_OK;
  pthread_mutex_unlock(&runtime->lock);
}

tf_status tf_runtime_fail(tf_runtime *rt, tf_status status, const char *format, ...) {
  pthread_mutex_lock(&rt->lock);
  if (rt->status == TF_OK) {
    rt->status = status;
    va_list args;
    va_start(args, format);
    if (vasprintf(&rt->message, format, args) < 0) rt->message = (char *)(uintptr_t)no_memory_text;
    va_end(args);
  }
  pthread_mutex_unlock(&rt->lock);
  return status;
}

/* ---- Recent launches --------------------------------------------------------------------------------------------- */

unsigned tf_recent_add(tf_runtime *rt, const tf_kernel *kernel, CUstream stream) {
  pthread_mutex_lock(&rt->lock);
  unsigned number = rt->recent_next++;
  tf_recent_launch *slot = &rt->recent[number % TF_RECENT_LAUNCHES];
  if (slot->kernel) rt->recent_dropped++;
  *slot = (tf_recent_launch){kernel, stream};
  pthread_mutex_unlock(&rt->lock);
  return number;
}

void tf_recent_remove(tf_runtime *rt, unsigned number) {
  pthread_mutex_lock(&rt->lock);
  if (rt->recent_next - number <= TF_RECENT_LAUNCHES) rt->recent[number % TF_RECENT_LAUNCHES].kernel = NULL;
  pthread_mutex_unlock(&rt->lock);
}

void tf_recent_forget_stream(tf_runtime *rt, CUstream stream) {
  pthread_mutex_lock(&rt->lock);
  for (unsigned i = 0; i < TF_RECENT_LAUNCHES; i++)
    if (rt->recent[i].stream == stream) rt->recent[i].kernel = NULL;
  rt->recent_dropped = 0;
  pthread_mutex_unlock(&rt->lock);
}

void tf_recent_forget_program(tf_runtime *rt, const tf_program *program) {
  pthread_mutex_lock(&rt->lock);
  for (unsigned i = 0; i < TF_RECENT_LAUNCHES; i++)
    if (rt->recent[i].kernel && rt->recent[i].kernel->program == program) rt->recent[i].kernel = NULL;
  pthread_mutex_unlock(&rt->lock);
}

/* ---- Failed driver calls ----------------------------------------------------------------------------------------- */

/* A growing message on the stack of the failing call; what does not fit is cut off. */
typedef struct report {
  char text[4096];
  size_t used;
} report;

static void TF_PRINTF(2, 3) add(report *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(r->text + r->used, sizeof r->text - r->used, format, args);
  va_end(args);
  if (n > 0) r->used += (size_t)n;
  if (r->used >= sizeof r->text) r->used = sizeof r->text - 1;
}

static const char *const abort_kinds[] = {"abort", "integer division by zero", "window outside its tensor"};

static void add_abort_sites(report *r, const tf_mkernel *k) {
  for (unsigned i = 0; i < k->abort_count; i++) {
    const tf_mabort_site *site = &k->aborts[i];
    add(r, "\n  %s may stop at ", k->signature.name);
    if (site->loc.file) add(r, "%s:%lld: ", site->loc.file, (long long)site->loc.line);
    add(r, "%s%s%s", abort_kinds[site->kind], *site->message ? ": " : "", site->message);
  }
}

/* Names the kernels in flight, once each, and their abort sites if `with_sites`. Returns whether there are such sites.
 */
static bool add_recent(report *r, tf_runtime *rt, bool with_sites) {
  const tf_kernel *seen[TF_RECENT_LAUNCHES];
  unsigned count = 0;
  bool sites = false;
  pthread_mutex_lock(&rt->lock);
  for (unsigned i = 0; i < TF_RECENT_LAUNCHES; i++) {
    const tf_kernel *k = rt->recent[(rt->recent_next + i) % TF_RECENT_LAUNCHES].kernel;
    bool known = !k;
    for (unsigned j = 0; j < count && !known; j++)
      known = seen[j] == k;
    if (!known) seen[count++] = k;
  }
  for (unsigned i = 0; i < count; i++)
    add(r, "%s '%s'", i ? "," : "; launched and not known to have ended:", seen[i]->name);
  if (rt->recent_dropped) add(r, " and %llu earlier launches", rt->recent_dropped);
  for (unsigned i = 0; i < count; i++) {
    if (!seen[i]->manifest || !with_sites) continue;
    sites = sites || seen[i]->manifest->abort_count;
    add_abort_sites(r, seen[i]->manifest);
  }
  pthread_mutex_unlock(&rt->lock);
  return sites;
}

/* True if the simulator's account names the site's line: "(dir/file.tir:12)". */
static bool names_site(const char *account, const tf_mabort_site *site) {
  if (!site->loc.file) return false;
  const char *slash = strrchr(site->loc.file, '/');
  char place[160];
  snprintf(place, sizeof place, "%s:%lld)", slash ? slash + 1 : site->loc.file, (long long)site->loc.line);
  return strstr(account, place) != NULL;
}

/* The simulator knows the line of a trap, the manifest what the author wrote there. */
static void add_named_sites(report *r, tf_runtime *rt, const char *account) {
  pthread_mutex_lock(&rt->lock);
  for (unsigned i = 0; i < TF_RECENT_LAUNCHES; i++) {
    const tf_kernel *k = rt->recent[i].kernel;
    bool told = false;
    for (unsigned j = 0; j < i && k && !told; j++)
      told = rt->recent[j].kernel == k;
    for (unsigned j = 0; k && !told && k->manifest && j < k->manifest->abort_count; j++) {
      const tf_mabort_site *site = &k->manifest->aborts[j];
      if (names_site(account, site))
        add(r, "\n  %s:%lld: %s%s%s", site->loc.file, (long long)site->loc.line, abort_kinds[site->kind],
            *site->message ? ": " : "", site->message);
    }
  }
  pthread_mutex_unlock(&rt->lock);
}

static tf_status fail_told(tf_runtime *rt, tf_status told, const char *account) {
  report r = {.used = 0};
  add(&r, "%s", account);
  if (told == TF_TRAP) add_named_sites(&r, rt, account);
  return tf_runtime_fail(rt, told, "%s", r.text);
}

static tf_status fail_fault(tf_runtime *rt, CUresult result, const char *function) {
  tf_barrier_mark_dirty(rt);
  char account[2048];
  if (rt->driver.take_fault) {
    tf_status told = rt->driver.take_fault(&rt->driver, account, sizeof account);
    if (told != TF_OK) return fail_told(rt, told, account);
  }
  report r = {.used = 0};
  add(&r, "a kernel failed: %s (%s), seen by %s", tf_cuda_result_text(result), tf_cuda_result_name(result), function);
  bool may_be_trap = result == CUDA_ERROR_LAUNCH_FAILED || result == CUDA_ERROR_ILLEGAL_INSTRUCTION;
  bool sites = add_recent(&r, rt, may_be_trap);
  bool trap = result == CUDA_ERROR_ASSERT || (may_be_trap && sites);
  return tf_runtime_fail(rt, trap ? TF_TRAP : TF_DRIVER, "%s", r.text);
}

tf_status tf_runtime_check(tf_runtime *rt, CUresult result, const char *function) {
  if (result == CUDA_SUCCESS) return TF_OK;
  if (tf_cuda_is_device_fault(result)) return fail_fault(rt, result, function);
  if (result == TF_CUDA_ERROR_MISSING_FUNCTION)
    return tf_runtime_fail(rt, TF_UNSUPPORTED, "the CUDA driver has no function %s; a newer driver is needed",
                           function);
  tf_status status = result == CUDA_ERROR_OUT_OF_MEMORY ? TF_OUT_OF_MEMORY : TF_DRIVER;
  return tf_runtime_fail(rt, status, "%s: %s (%s)", function, tf_cuda_result_text(result), tf_cuda_result_name(result));
}
