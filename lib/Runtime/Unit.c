/* Objects that were compiled ahead of time: each unit becomes a program of the runtime at the first call of one of its
 * entries, and is unloaded with the runtime.
 *
 *   NAME(runtime, stream, x, n)  ─▶ tf_compiled_call(…, &unit, index, …) ─▶ units: unit ─▶ program ─▶ tf_entry_call
 *
 * The list only grows, in front, so it is searched without a lock; loading is under one, so that a unit is loaded once. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/RuntimeImpl.h"

#define INLINE_ARGUMENTS 64

typedef struct tf_loaded_unit tf_loaded_unit;
struct tf_loaded_unit {
  const tf_compiled_unit *unit;
  tf_program *program;
  tf_loaded_unit *next;
};

static tf_program *find(tf_runtime *rt, const tf_compiled_unit *unit) {
  tf_loaded_unit *it = __atomic_load_n(&rt->units, __ATOMIC_ACQUIRE);
  while (it && it->unit != unit)
    it = it->next;
  return it ? it->program : NULL;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static tf_status check_version(tf_runtime *rt, const tf_compiled_unit *unit) {
  if (unit->version == TF_COMPILED_VERSION && unit->api_size <= sizeof(tf_compiled_api)) return TF_OK;
  return tf_runtime_fail(rt, TF_UNSUPPORTED,
                         "%s: the object was compiled for another runtime (its interface has version %" PRIu64
                         " and %" PRIu64 " bytes, this one's %d and %zu): compile it again or use a newer runtime",
                         unit->name, unit->version, unit->api_size, TF_COMPILED_VERSION, sizeof(tf_compiled_api));
}

static tf_status load(tf_runtime *rt, const tf_compiled_unit *unit, tf_program **out) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.name = unit->name;
  source.image = unit->ptx;
  source.image_size = unit->ptx_size;
  source.cubin = unit->cubin;
  source.cubin_size = unit->cubin_size;
  source.manifest = unit->manifest;
  source.manifest_size = unit->manifest_size;
  source.entries = unit->entries;
  source.entry_count = (unsigned)unit->entry_count;
  tf_status status = check_version(rt, unit);
  return status == TF_OK ? tf_program_load(rt, &source, out) : status;
}

static tf_status add(tf_runtime *rt, const tf_compiled_unit *unit, tf_program **out) {
  tf_loaded_unit *it = malloc(sizeof *it);
  if (!it) return tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "out of memory");
  tf_status status = load(rt, unit, &it->program);
  if (status != TF_OK) {
    free(it);
    return status;
  }
  it->unit = unit;
  it->next = rt->units;
  *out = it->program;
  __atomic_store_n(&rt->units, it, __ATOMIC_RELEASE);
  return TF_OK;
}

static tf_status program_of(tf_runtime *rt, const tf_compiled_unit *unit, tf_program **out) {
  *out = find(rt, unit);
  if (*out) return TF_OK;
  pthread_mutex_lock(&rt->unit_lock);
  *out = find(rt, unit); /* another thread may have been first */
  tf_status status = *out ? TF_OK : add(rt, unit, out);
  pthread_mutex_unlock(&rt->unit_lock);
  return status;
}

void tf_units_unload(tf_runtime *rt) {
  while (rt->units) {
    tf_loaded_unit *it = rt->units;
    rt->units = it->next;
    tf_program_unload(it->program);
    free(it);
  }
}

/* ---- Calling ----------------------------------------------------------------------------------------------------- */

/* `DLTensor y = {0};` leaves the tensor of an output to the runtime. */
static bool is_blank(const tf_argument *a) {
  const DLTensor *t = a->kind == TF_ARGUMENT_TENSOR ? a->value.tensor : NULL;
  return t && !t->data && !t->shape && t->ndim == 0;
}

static bool has_blank(const tf_msignature *s, const tf_argument *arguments, unsigned count) {
  for (unsigned i = s->declared_count - s->output_count; count == s->declared_count && i < count; i++)
    if (tf_mparam_is_tensor(&s->params[i]) && is_blank(&arguments[i])) return true;
  return false;
}

static tf_status call_with_blanks(const tf_entry *entry, tf_stream stream, const tf_argument *arguments,
                                  unsigned count) {
  const tf_msignature *s = &entry->manifest->signature;
  tf_argument inline_copy[INLINE_ARGUMENTS], *copy = inline_copy;
  if (count > INLINE_ARGUMENTS) copy = malloc(count * sizeof *copy);
  if (!copy) return tf_runtime_fail(entry->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
  memcpy(copy, arguments, count * sizeof *copy);
  for (unsigned i = s->declared_count - s->output_count; i < count; i++)
    if (tf_mparam_is_tensor(&s->params[i]) && is_blank(&arguments[i]))
      copy[i] =
          (tf_argument){.kind = TF_ARGUMENT_OUTPUT, .value.output = (DLTensor *)(uintptr_t)arguments[i].value.tensor};
  tf_status status = tf_entry_call(entry, stream, copy, count);
  if (copy != inline_copy) free(copy);
  return status;
}

tf_status tf_compiled_call(tf_runtime *runtime, tf_stream stream, const tf_compiled_unit *unit, unsigned entry,
                           const tf_argument *arguments, unsigned count) {
  if (!runtime || !unit || entry >= unit->entry_count || (count && !arguments)) return TF_INVALID_ARGUMENT;
  tf_program *program;
  tf_status status = program_of(runtime, unit, &program);
  if (status != TF_OK) return status;
  const tf_entry *it = &program->entries[entry];
  if (has_blank(&it->manifest->signature, arguments, count)) return call_with_blanks(it, stream, arguments, count);
  return tf_entry_call(it, stream, arguments, count);
}
