/* Devices: their life, their instruction table, and the memory calls of the API. */
#include "Sim/Module.h"
#include "Sim/Written.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const class_names[TF_CLASS_COUNT + 1] = {
    [TF_CLASS_INT] = "integer",     [TF_CLASS_FLOAT] = "float",     [TF_CLASS_DOUBLE] = "double",
    [TF_CLASS_HALF] = "half",       [TF_CLASS_CONVERT] = "convert", [TF_CLASS_MOVE] = "move",
    [TF_CLASS_MEMORY] = "memory",   [TF_CLASS_ATOMIC] = "atomic",   [TF_CLASS_CONTROL] = "control",
    [TF_CLASS_BARRIER] = "barrier", [TF_CLASS_WARP] = "warp",       [TF_CLASS_MATRIX] = "matrix",
    [TF_CLASS_COPY] = "async copy", [TF_CLASS_SPECIAL] = "special",
};

const char *tf_sim_class_name(unsigned index) {
  return index < TF_CLASS_COUNT ? class_names[index] : NULL;
}

typedef struct keyed_row {
  const tf_row *row;
  size_t order;
} keyed_row;

static int by_opcode(const void *a, const void *b) {
  const keyed_row *x = a, *y = b;
  int c = strcmp(x->row->opcode, y->row->opcode);
  return c ? c : x->order < y->order ? -1 : 1;
}

static bool index_rows(tf_device *d, bool baseline) {
  size_t count = 0, n = 0;
  const tf_family *const *families = tf_families(baseline);
  for (size_t f = 0; families[f]; f++)
    count += families[f]->count;
  keyed_row *keyed = calloc(count, sizeof *keyed);
  d->rows = calloc(count, sizeof(const tf_row *));
  for (size_t f = 0; keyed && d->rows && families[f]; f++)
    for (size_t i = 0; i < families[f]->count; i++, n++)
      keyed[n] = (keyed_row){&families[f]->rows[i], n};
  if (keyed) qsort(keyed, n, sizeof *keyed, by_opcode);
  for (size_t i = 0; i < n; i++)
    d->rows[i] = keyed[i].row;
  d->row_count = n;
  free(keyed);
  return n == count;
}

static void set_options(tf_device *d, const tf_sim_options *options) {
  d->options = options ? *options : (tf_sim_options){0};
  d->memory.track_init = d->options.checks & TF_SIM_CHECK_INIT;
  d->memory.noisy = d->options.adversarial;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  d->cores = cores > 0 ? (unsigned)cores : 1;
}

tf_status tf_sim_device_create(const char *profile, const tf_sim_options *options, tf_sim_device **out) {
  const tf_sim_profile *p = tf_sim_profile_find(profile);
  if (!p) return TF_INVALID_ARGUMENT;
  tf_device *d = calloc(1, sizeof *d);
  if (!d) return TF_OUT_OF_MEMORY;
  d->profile = p;
  tf_memory_init(&d->memory, options && options->memory ? options->memory : p->memory_bytes);
  set_options(d, options);
  (void)pthread_mutex_init(&d->lock, NULL);
  if (!index_rows(d, d->options.baseline)) {
    tf_sim_device_destroy(d);
    return TF_OUT_OF_MEMORY;
  }
  *out = d;
  return TF_OK;
}

void tf_sim_device_destroy(tf_sim_device *d) {
  if (!d) return;
  while (d->modules)
    tf_sim_module_unload(d->modules);
  tf_memory_destroy(&d->memory);
  (void)pthread_mutex_destroy(&d->lock);
  free(d->code);
  free(d->rows);
  free(d);
}

const tf_sim_profile *tf_sim_device_profile(const tf_sim_device *d) {
  return d->profile;
}

tf_status tf_sim_alloc(tf_sim_device *d, uint64_t bytes, uint64_t *out) {
  tf_alloc *a;
  pthread_mutex_lock(&d->lock);
  tf_status s = tf_memory_alloc(&d->memory, bytes, false, NULL, &a);
  if (s == TF_OK) *out = a->lo;
  pthread_mutex_unlock(&d->lock);
  return s;
}

tf_status tf_sim_free(tf_sim_device *d, uint64_t address) {
  pthread_mutex_lock(&d->lock);
  tf_alloc *a = tf_memory_below(&d->memory, address);
  tf_status s = a && a->variable ? TF_INVALID_ARGUMENT : tf_memory_free(&d->memory, address);
  pthread_mutex_unlock(&d->lock);
  return s;
}

tf_status tf_sim_renew(tf_sim_device *d, uint64_t address) {
  pthread_mutex_lock(&d->lock);
  tf_status s = tf_memory_renew(&d->memory, address);
  pthread_mutex_unlock(&d->lock);
  return s;
}

tf_status tf_sim_map_host(tf_sim_device *d, void *host, uint64_t bytes) {
  pthread_mutex_lock(&d->lock);
  tf_status s = tf_memory_map(&d->memory, host, bytes);
  pthread_mutex_unlock(&d->lock);
  return s;
}

/* Locked host view of a device range; null (unlocked) when it is not all live. Unlock after use. */
static tf_alloc *lock_range(tf_device *d, uint64_t address, uint64_t bytes) {
  pthread_mutex_lock(&d->lock);
  tf_alloc *a = tf_memory_find(&d->memory, address, bytes);
  if (!a) pthread_mutex_unlock(&d->lock);
  return a;
}

void tf_sim_own(tf_sim_device *d, uint64_t address, const void *owner) {
  tf_alloc *a = lock_range(d, address, 1);
  if (!a) return;
  a->owner = owner;
  pthread_mutex_unlock(&d->lock);
}

const void *tf_sim_owner(tf_sim_device *d, uint64_t address) {
  tf_alloc *a = lock_range(d, address, 1);
  if (!a) return NULL;
  const void *owner = a->owner;
  pthread_mutex_unlock(&d->lock);
  return owner;
}

void tf_sim_free_owned(tf_sim_device *d, const void *owner) {
  pthread_mutex_lock(&d->lock);
  for (size_t i = 0; i < d->memory.count; i++) {
    tf_alloc *a = d->memory.list[i];
    if (!a->freed && a->owner == owner) (void)tf_memory_free(&d->memory, a->lo);
  }
  pthread_mutex_unlock(&d->lock);
}

static void mark_written(tf_alloc *a, uint64_t address, uint64_t bytes) {
  (void)tf_written_set(a, address - a->lo, bytes);
}

tf_status tf_sim_read(tf_sim_device *d, void *to, uint64_t from, uint64_t bytes) {
  if (bytes == 0) return TF_OK;
  tf_alloc *a = lock_range(d, from, bytes);
  if (!a) return TF_INVALID_ARGUMENT;
  memcpy(to, a->host + (from - a->lo), bytes);
  pthread_mutex_unlock(&d->lock);
  return TF_OK;
}

tf_status tf_sim_write(tf_sim_device *d, uint64_t to, const void *from, uint64_t bytes) {
  if (bytes == 0) return TF_OK;
  tf_alloc *a = lock_range(d, to, bytes);
  if (!a) return TF_INVALID_ARGUMENT;
  memcpy(a->host + (to - a->lo), from, bytes);
  mark_written(a, to, bytes);
  pthread_mutex_unlock(&d->lock);
  return TF_OK;
}

tf_status tf_sim_copy(tf_sim_device *d, uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0) return TF_OK;
  tf_alloc *a = lock_range(d, to, bytes);
  if (!a) return TF_INVALID_ARGUMENT;
  tf_alloc *b = tf_memory_find(&d->memory, from, bytes);
  if (b) {
    memmove(a->host + (to - a->lo), b->host + (from - b->lo), bytes);
    tf_written_copy(a, to - a->lo, b, from - b->lo, bytes);
  }
  pthread_mutex_unlock(&d->lock);
  return b ? TF_OK : TF_INVALID_ARGUMENT;
}

tf_status tf_sim_memset(tf_sim_device *d, uint64_t to, uint32_t value, unsigned width, uint64_t count) {
  if (width != 1 && width != 2 && width != 4) return TF_INVALID_ARGUMENT;
  if (count == 0) return TF_OK;
  if (count > UINT64_MAX / width || to % width) return TF_INVALID_ARGUMENT;
  tf_alloc *a = lock_range(d, to, count * width);
  if (!a) return TF_INVALID_ARGUMENT;
  char *p = a->host + (to - a->lo);
  if (width == 1)
    memset(p, (int)(value & 0xFF), count);
  else
    for (uint64_t i = 0; i < count; i++)
      memcpy(p + i * width, &value, width);
  mark_written(a, to, count * width);
  pthread_mutex_unlock(&d->lock);
  return TF_OK;
}

tf_status tf_sim_poison(tf_sim_device *d, uint64_t to, uint64_t bytes) {
  if (bytes == 0) return TF_OK;
  tf_alloc *a = lock_range(d, to, bytes);
  if (!a) return TF_INVALID_ARGUMENT;
  tf_memory_noise(a->host + (to - a->lo), bytes, to);
  tf_written_clear(a, to - a->lo, bytes);
  pthread_mutex_unlock(&d->lock);
  return TF_OK;
}

tf_status tf_sim_range(tf_sim_device *d, uint64_t address, uint64_t *base, uint64_t *bytes) {
  tf_alloc *a = lock_range(d, address, 1);
  if (!a) return TF_INVALID_ARGUMENT;
  *base = a->lo;
  *bytes = a->bytes;
  pthread_mutex_unlock(&d->lock);
  return TF_OK;
}

void tf_sim_memory_info(tf_sim_device *d, uint64_t *free_bytes, uint64_t *total_bytes) {
  pthread_mutex_lock(&d->lock);
  *free_bytes = d->memory.limit - d->memory.used;
  *total_bytes = d->memory.limit;
  pthread_mutex_unlock(&d->lock);
}

/* The program's own, not yet freed, and that owner's; null: anybody's. */
static bool is_live(const tf_alloc *a, const void *owner) {
  return !a->freed && !a->variable && !a->external && (!owner || a->owner == owner);
}

uint64_t tf_sim_live_allocations(tf_sim_device *d, const void *owner, uint64_t *bytes) {
  uint64_t count = 0, sum = 0;
  pthread_mutex_lock(&d->lock);
  for (size_t i = 0; i < d->memory.count; i++) {
    if (!is_live(d->memory.list[i], owner)) continue;
    count++;
    sum += d->memory.list[i]->bytes;
  }
  pthread_mutex_unlock(&d->lock);
  if (bytes) *bytes = sum;
  return count;
}

bool tf_sim_live_allocation(tf_sim_device *d, const void *owner, uint64_t index, uint64_t *address, uint64_t *bytes) {
  const tf_alloc *found = NULL;
  pthread_mutex_lock(&d->lock);
  for (size_t i = 0; i < d->memory.count && !found; i++)
    if (is_live(d->memory.list[i], owner) && index-- == 0) found = d->memory.list[i];
  if (found) {
    *address = found->lo;
    *bytes = found->bytes;
  }
  pthread_mutex_unlock(&d->lock);
  return found != NULL;
}
