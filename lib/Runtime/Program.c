/* Loading and unloading programs: manifest, module, and one kernel object per kernel of the manifest. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/Capture.h"
#include "Runtime/Cubin.h"
#include "Support/Options.h"

#define LOG_SIZE 8192

/* ---- The module -------------------------------------------------------------------------------------------------- */

static bool is_text(const void *image, size_t size) {
  return size < 4 || memcmp(image,
                            "\x7f"
                            "ELF",
                            4) != 0;
}

/* What kept the driver from the module, in its own words: of the log that has some. */
typedef struct jit_logs {
  char error[LOG_SIZE], info[LOG_SIZE];
} jit_logs;

static CUresult load_logged(tf_program *p, const void *image, jit_logs *logs) {
  void *size = (void *)(uintptr_t)(LOG_SIZE - 1);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_GENERATE_LINE_INFO};
  void *values[] = {logs->error, size, logs->info, size, (void *)(uintptr_t)1};
  *logs = (jit_logs){.error = ""};
  CUresult result = p->runtime->driver.cuModuleLoadDataEx(&p->module, image, 5, options, values);
  logs->error[LOG_SIZE - 1] = logs->info[LOG_SIZE - 1] = '\0';
  if (result != CUDA_SUCCESS) p->module = NULL;
  return result;
}

/* The versions, where they are what is wrong. */
static void add_versions(const tf_runtime *rt, CUresult result, const char *ptx, char *text, size_t size) {
  const char *version = ptx ? strstr(ptx, ".version") : NULL;
  size_t used = strlen(text);
  if (result != CUDA_ERROR_UNSUPPORTED_PTX_VERSION || !version) return;
  version += strlen(".version");
  version += strspn(version, " \t");
  snprintf(text + used, size - used,
           "\n  the PTX is of version %.*s, the driver of CUDA %d.%d: a newer driver, or ptxas or "
           "nvJitLink of a newer toolkit, would read it",
           (int)strcspn(version, " \t\r\n"), version, rt->driver_version / 1000, rt->driver_version % 1000 / 10);
}

static tf_status load_image(tf_program *p, const char *image, bool text) {
  tf_runtime *rt = p->runtime;
  jit_logs logs;
  CUresult result = load_logged(p, image, &logs);
  if (result == CUDA_SUCCESS) return TF_OK;
  if (tf_cuda_is_device_fault(result) || result == TF_CUDA_ERROR_MISSING_FUNCTION)
    return tf_runtime_check(rt, result, "cuModuleLoadDataEx");
  char explained[LOG_SIZE + 1024];
  tf_jit_explain(*logs.error ? logs.error : logs.info, text ? image : NULL, explained, sizeof explained);
  add_versions(rt, result, text ? image : NULL, explained, sizeof explained);
  return tf_runtime_fail(rt, result == CUDA_ERROR_OUT_OF_MEMORY ? TF_OUT_OF_MEMORY : TF_DRIVER,
                         "%s: the device %s refused the module: %s (%s)%s", p->name, rt->name,
                         tf_cuda_result_text(result), tf_cuda_result_name(result), explained);
}

/* Machine code that the source brings. False if there is none or the device does not take it: it gets the PTX then. */
static bool load_given_cubin(tf_program *p, const tf_program_source *source) {
  tf_runtime *rt = p->runtime;
  if (!source->cubin || rt->driver.is_sim) return false;
  bool accepted = rt->driver.cuModuleLoadDataEx(&p->module, source->cubin, 0, NULL, NULL) == CUDA_SUCCESS;
  if (!accepted) p->module = NULL;
  return accepted;
}

/* Machine code that was made without the driver's help. False if there is none or the driver refuses it; it gets the PTX
 * then, and if something else is wrong it says so again. */
static bool load_cubin(tf_program *p, const char *ptx) {
  tf_runtime *rt = p->runtime;
  tf_cubin cubin;
  if (rt->driver.is_sim || !tf_cubin_of_ptx(ptx, rt->info.compute, &cubin)) return false;
  bool accepted = rt->driver.cuModuleLoadDataEx(&p->module, cubin.bytes, 0, NULL, NULL) == CUDA_SUCCESS;
  if (!accepted) p->module = NULL;
  tf_cubin_close(&cubin, accepted);
  return accepted;
}

/* The driver wants PTX NUL-terminated; the caller's text need not be. */
static tf_status load_source(tf_program *p, const tf_program_source *source) {
  if (load_given_cubin(p, source)) return TF_OK;
  char *image = malloc(source->image_size + 1);
  if (!image) return tf_runtime_fail(p->runtime, TF_OUT_OF_MEMORY, "%s: out of memory", p->name);
  memcpy(image, source->image, source->image_size);
  image[source->image_size] = '\0';
  bool text = is_text(image, source->image_size);
  tf_status status = text && load_cubin(p, image) ? TF_OK : load_image(p, image, text);
  free(image);
  return status;
}

/* Also while a stream is being captured, of which loading is no part. */
static tf_status load_module(tf_program *p, const tf_program_source *source) {
  CUstreamCaptureMode mode;
  tf_status status = tf_capture_permit(p->runtime, &mode);
  return status == TF_OK ? tf_capture_restore(p->runtime, mode, load_source(p, source)) : status;
}

static void unload_module(tf_program *p) {
  CUstreamCaptureMode mode;
  tf_runtime *rt = p->runtime;
  bool permitted = tf_capture_permit(rt, &mode) == TF_OK;
  tf_status status = TF_CALL(rt, cuModuleUnload, p->module);
  if (permitted) (void)tf_capture_restore(rt, mode, status);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static tf_status init_kernel(tf_program *p, tf_kernel *k, const char *ptx_name) {
  tf_runtime *rt = p->runtime;
  k->program = p;
  CUresult result = rt->driver.cuModuleGetFunction(&k->function, p->module, ptx_name);
  if (result == CUDA_ERROR_NOT_FOUND)
    return tf_runtime_fail(rt, TF_INVALID_ARGUMENT, "%s: the module has no kernel '%s'", p->name, ptx_name);
  tf_status status = tf_runtime_check(rt, result, "cuModuleGetFunction");
  if (status == TF_OK)
    status = TF_CALL(rt, cuFuncGetAttribute, &k->static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k->function);
  if (status == TF_OK)
    status = TF_CALL(rt, cuFuncGetAttribute, &k->max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k->function);
  return status;
}

/* Machine code is for exactly the manifest's entries, in their order: it names kernels and entries by number. */
static tf_status init_code(tf_program *p, const tf_program_source *source) {
  if (!source->entries) return TF_OK;
  const tf_manifest *m = p->manifest;
  bool same = source->entry_count == m->entry_count;
  for (unsigned i = 0; i < source->entry_count && same; i++) {
    same = strcmp(source->entries[i].name, m->entries[i].signature.name) == 0;
    p->entries[i].function = source->entries[i].function;
  }
  if (same) return TF_OK;
  return tf_runtime_fail(p->runtime, TF_INVALID_ARGUMENT,
                         "%s: the machine code is for another module: its entries are not the manifest's", p->name);
}

static tf_status init_manifest(tf_program *p, const tf_program_source *source) {
  char name[sizeof p->name + 16], message[512];
  snprintf(name, sizeof name, "%s manifest", p->name);
  tf_status status =
      tf_manifest_read(name, source->manifest, source->manifest_size, &p->manifest, message, sizeof message);
  if (status != TF_OK) return tf_runtime_fail(p->runtime, status, "%s", message);
  p->kernels = calloc(p->manifest->kernel_count + 1, sizeof *p->kernels);
  p->entries = calloc(p->manifest->entry_count + 1, sizeof *p->entries);
  if (!p->kernels || !p->entries) return tf_runtime_fail(p->runtime, TF_OUT_OF_MEMORY, "%s: out of memory", p->name);
  for (unsigned i = 0; i < p->manifest->entry_count; i++)
    p->entries[i] = (tf_entry){.program = p, .manifest = &p->manifest->entries[i]};
  return init_code(p, source);
}

static tf_status init_kernels(tf_program *p) {
  for (unsigned i = 0; p->manifest && i < p->manifest->kernel_count; i++) {
    const tf_mkernel *m = &p->manifest->kernels[i];
    p->kernels[i].manifest = m;
    p->kernels[i].name = m->signature.name;
    tf_status status = init_kernel(p, &p->kernels[i], m->ptx_name);
    if (status != TF_OK) return status;
  }
  return TF_OK;
}

static bool read_source(const tf_program_source *s, tf_program_source *out) {
  *out = (tf_program_source)TF_PROGRAM_SOURCE_INIT;
  if (!tf_options_read(out, sizeof *out, s)) return false;
  return out->image && out->image_size && (!out->entries || out->manifest);
}

static tf_status load_all(tf_program *p, const tf_program_source *source) {
  tf_status status = source->manifest ? init_manifest(p, source) : TF_OK;
  if (status == TF_OK) status = load_module(p, source);
  return status == TF_OK ? init_kernels(p) : status;
}

tf_status tf_program_load(tf_runtime *runtime, const tf_program_source *source, tf_program **out) {
  if (!runtime || !out) return TF_INVALID_ARGUMENT;
  tf_program_source known;
  if (!read_source(source, &known))
    return tf_runtime_fail(runtime, TF_INVALID_ARGUMENT,
                           "a program source without an image, or with machine code and no manifest");
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status != TF_OK) return status;
  tf_program *p = calloc(1, sizeof *p);
  if (!p) status = tf_runtime_fail(runtime, TF_OUT_OF_MEMORY, "out of memory");
  if (p) {
    p->runtime = runtime;
    snprintf(p->name, sizeof p->name, "%s", known.name ? known.name : "<program>");
    status = load_all(p, &known);
  }
  status = tf_context_leave(runtime, pushed, status);
  if (status == TF_OK)
    *out = p;
  else
    tf_program_unload(p);
  return status;
}

static void free_bare_kernels(tf_program *p) {
  while (p->bare) {
    tf_kernel *k = p->bare;
    p->bare = k->next;
    free((char *)(uintptr_t)k->name);
    free(k);
  }
}

void tf_program_unload(tf_program *program) {
  if (!program) return;
  tf_runtime *rt = program->runtime;
  tf_recent_forget_program(rt, program);
  bool pushed = false;
  if (program->module && tf_context_enter(rt, &pushed) == TF_OK) unload_module(program);
  (void)tf_context_leave(rt, pushed, TF_OK);
  free_bare_kernels(program);
  free(program->kernels);
  free(program->entries);
  tf_manifest_free(program->manifest);
  free(program);
}

/* ---- Looking up -------------------------------------------------------------------------------------------------- */

static void list_entries(const tf_program *p, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  for (unsigned i = 0; i < p->manifest->entry_count && used < size; i++) {
    int n = snprintf(text + used, size - used, "%s'%s'", i ? ", " : "", p->manifest->entries[i].signature.name);
    used += n > 0 ? (size_t)n : 0;
  }
}

tf_status tf_program_entry(tf_program *program, const char *name, const tf_entry **out) {
  if (!program || !out) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = program->runtime;
  const tf_manifest *m = program->manifest;
  if (!m)
    return tf_runtime_fail(rt, TF_INVALID_ARGUMENT, "%s: without a manifest a module has no entries", program->name);
  for (unsigned i = 0; i < m->entry_count; i++)
    if (name ? strcmp(m->entries[i].signature.name, name) == 0 : &m->entries[i] == m->default_entry) {
      *out = &program->entries[i];
      return TF_OK;
    }
  char list[256];
  list_entries(program, list, sizeof list);
  const char *said = *list ? list : "none";
  if (name)
    return tf_runtime_fail(rt, TF_INVALID_ARGUMENT, "%s: no entry '%s'; there are: %s", program->name, name, said);
  return tf_runtime_fail(rt, TF_INVALID_ARGUMENT, "%s: the module names no default entry; there are: %s", program->name,
                         said);
}

static tf_kernel *find_bare(tf_program *p, const char *name) {
  pthread_mutex_lock(&p->runtime->lock);
  tf_kernel *k = p->bare;
  while (k && strcmp(k->name, name) != 0)
    k = k->next;
  pthread_mutex_unlock(&p->runtime->lock);
  return k;
}

/* A kernel that no manifest describes; two threads may both make one of the same name, which does no harm. */
static tf_status add_bare(tf_program *p, const char *name, tf_kernel **out) {
  tf_runtime *rt = p->runtime;
  bool pushed;
  tf_status status = tf_context_enter(rt, &pushed);
  if (status != TF_OK) return status;
  tf_kernel *k = calloc(1, sizeof *k);
  char *copy = strdup(name);
  if (!k || !copy) status = tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "out of memory");
  if (status == TF_OK) status = init_kernel(p, k, name);
  status = tf_context_leave(rt, pushed, status);
  if (status != TF_OK) {
    free(k);
    free(copy);
    return status;
  }
  k->name = copy;
  pthread_mutex_lock(&rt->lock);
  k->next = p->bare;
  p->bare = k;
  pthread_mutex_unlock(&rt->lock);
  *out = k;
  return TF_OK;
}

tf_status tf_program_kernel(tf_program *program, const char *name, tf_kernel **out) {
  if (!program || !name || !out) return TF_INVALID_ARGUMENT;
  const tf_manifest *m = program->manifest;
  for (unsigned i = 0; m && i < m->kernel_count; i++)
    if (strcmp(m->kernels[i].signature.name, name) == 0 || strcmp(m->kernels[i].ptx_name, name) == 0) {
      *out = &program->kernels[i];
      return TF_OK;
    }
  tf_kernel *bare = find_bare(program, name);
  if (!bare) return add_bare(program, name, out);
  *out = bare;
  return TF_OK;
}

/* ---- Entries' descriptions --------------------------------------------------------------------------------------- */

const char *tf_entry_name(const tf_entry *entry) {
  return entry ? entry->manifest->signature.name : NULL;
}

unsigned tf_entry_parameter_count(const tf_entry *entry) {
  return entry ? entry->manifest->signature.declared_count : 0;
}

tf_parameter_info tf_entry_parameter(const tf_entry *entry, unsigned index) {
  if (index >= tf_entry_parameter_count(entry)) return (tf_parameter_info){0};
  const tf_msignature *s = &entry->manifest->signature;
  const tf_mparam *p = &s->params[index];
  return (tf_parameter_info){.name = p->name,
                             .dtype = tf_element_name(p->element),
                             .is_scalar = p->kind == TF_MPARAM_SCALAR,
                             .is_const = p->kind == TF_MPARAM_CONST_TENSOR,
                             .is_host = p->host,
                             .rank = p->rank,
                             .is_output = index + s->output_count >= s->declared_count};
}
