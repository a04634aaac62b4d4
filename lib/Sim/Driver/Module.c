/* Modules and functions: PTX text in, errors into the caller's JIT log. */
#include "Sim/Driver/State.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TF_SIM_KNOWN(CUmodule, modules, module)

/* The caller's error log among the JIT options. */
typedef struct jit_log {
  char *text;
  size_t size;
  void **size_option; /* receives the bytes written */
} jit_log;

/* Options that return something are set; nothing is compiled, so there is nothing to inform about and no time to tell. */
static jit_log find_log(unsigned count, const CUjit_option *options, void **values) {
  jit_log log = {0};
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) log.text = values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      log.size = (size_t)(uintptr_t)values[i];
      log.size_option = &values[i];
    }
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || options[i] == CU_JIT_WALL_TIME) values[i] = NULL;
  }
  return log;
}

/* An information log of the caller's is a string afterwards, too: an empty one. */
static void empty_info_log(unsigned count, const CUjit_option *options, void *const *values) {
  char *text = NULL;
  size_t size = 0;
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == CU_JIT_INFO_LOG_BUFFER) text = values[i];
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) size = (size_t)(uintptr_t)values[i];
  }
  if (text && size) *text = '\0';
}

static void write_log(const jit_log *log, const char *message) {
  size_t n = 0;
  if (log->text && log->size) {
    (void)snprintf(log->text, log->size, "%s", message);
    n = strlen(log->text);
  }
  if (log->size_option) *log->size_option = (void *)(uintptr_t)n;
}

static CUresult load_result(tf_status status, const char *message) {
  if (status == TF_OUT_OF_MEMORY) return CUDA_ERROR_OUT_OF_MEMORY;
  if (status == TF_UNSUPPORTED && strstr(message, "PTX version")) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  if (status == TF_UNSUPPORTED && strstr(message, "cannot run code for")) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  return CUDA_ERROR_INVALID_PTX;
}

static CUresult list_functions(CUmodule m) {
  while (tf_sim_module_entry(m->module, m->count))
    m->count++;
  m->functions = calloc(m->count + 1u, sizeof *m->functions);
  if (!m->functions) return CUDA_ERROR_OUT_OF_MEMORY;
  for (unsigned i = 0; i < m->count; i++) {
    CUfunction f = &m->functions[i];
    f->module = m;
    f->function = tf_sim_module_entry(m->module, i);
    tf_sim_function_info_get(f->function, &f->info);
    f->max_dynamic = (int)(m->driver->profile->shared_per_block - f->info.static_shared);
    f->carveout = -1;
  }
  return CUDA_SUCCESS;
}

static void destroy_module(CUmodule m) {
  tf_sim_module_unload(m->module);
  free(m->functions);
  free(m);
}

static CUresult load_text(CUmodule *out, const char *text, size_t length, const jit_log *log) {
  tf_sim_state *s = tf_sim_now();
  char message[1024] = "";
  CUmodule m = calloc(1, sizeof *m);
  if (!m) return CUDA_ERROR_OUT_OF_MEMORY;
  m->driver = s;
  m->context = tf_sim_context();
  tf_status status = tf_sim_module_load(s->device, text, length, message, sizeof message, &m->module);
  write_log(log, message);
  CUresult r = status == TF_OK ? list_functions(m) : load_result(status, message);
  if (r != CUDA_SUCCESS) {
    destroy_module(m);
    return r;
  }
  pthread_mutex_lock(&s->lock);
  m->next = s->modules;
  s->modules = m;
  pthread_mutex_unlock(&s->lock);
  *out = m;
  return CUDA_SUCCESS;
}

/* Binaries have a magic number that no text begins with: ELF, and NVIDIA's fat binary container and its wrapper. */
static bool is_binary(const void *image) {
  static const unsigned char magics[][4] = {{0x7F, 'E', 'L', 'F'}, {0x50, 0xED, 0x55, 0xBA}, {0xB1, 0x43, 0x62, 0x46}};
  for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
    if (strncmp(image, (const char *)magics[i], 4) == 0) return true;
  return false;
}

CUresult tf_sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                                   void **values) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!module || !image || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
  if (count > 64) return CUDA_ERROR_INVALID_VALUE;
  empty_info_log(count, options, values);
  jit_log log = find_log(count, options, values);
  if (is_binary(image)) {
    static const char message[] = "the simulated device runs PTX text, not machine code: load the PTX (nvcc -ptx, "
                                  "tf-llc --emit=ptx) in place of this cubin or fat binary";
    write_log(&log, message);
    if (tf_sim_now()->told) tf_sim_now()->told(message);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return load_text(module, image, strlen(image), &log);
}

CUresult tf_sim_cuModuleLoadData(CUmodule *module, const void *image) {
  return tf_sim_cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult tf_sim_cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return tf_sim_cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

char *tf_sim_read_file(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
  rewind(f);
  char *text = size >= 0 ? calloc(1, (size_t)size + 5) : NULL;
  if (text && fread(text, 1, (size_t)size, f) != (size_t)size) {
    free(text);
    text = NULL;
  }
  (void)fclose(f);
  if (text && bytes) *bytes = (size_t)size;
  return text;
}

CUresult tf_sim_cuModuleLoad(CUmodule *module, const char *path) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!module || !path) return CUDA_ERROR_INVALID_VALUE;
  char *text = tf_sim_read_file(path, NULL);
  if (!text) return CUDA_ERROR_FILE_NOT_FOUND;
  r = tf_sim_cuModuleLoadData(module, text);
  free(text);
  return r;
}

static CUresult check_module(CUmodule module, const void *result) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&s->lock);
  bool found = module && modules_has(s, module);
  pthread_mutex_unlock(&s->lock);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Gone even if the context is poisoned; the result says that it is. */
CUresult tf_sim_cuModuleUnload(CUmodule module) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  CUmodule *at = &s->modules;
  while (*at && *at != module)
    at = &(*at)->next;
  bool found = module && *at;
  if (found) *at = module->next;
  pthread_mutex_unlock(&s->lock);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  CUresult sticky = module->context->sticky;
  destroy_module(module);
  return sticky;
}

void tf_sim_free_modules(tf_sim_state *s, CUcontext of) {
  for (CUmodule *at = &s->modules; *at;) {
    CUmodule m = *at;
    if (of && m->context != of) {
      at = &m->next;
      continue;
    }
    *at = m->next;
    destroy_module(m);
  }
}

CUresult tf_sim_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  CUresult r = check_module(module, function);
  if (r != CUDA_SUCCESS) return r;
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < module->count; i++)
    if (strcmp(module->functions[i].info.name, name) == 0) {
      *function = &module->functions[i];
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult tf_sim_cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
  CUresult r = check_module(module, count);
  if (r == CUDA_SUCCESS) *count = module->count;
  return r;
}

CUresult tf_sim_cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module) {
  CUresult r = check_module(module, functions);
  for (unsigned i = 0; r == CUDA_SUCCESS && i < count && i < module->count; i++)
    functions[i] = &module->functions[i];
  return r;
}

CUresult tf_sim_cuModuleGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name) {
  uint64_t address, size;
  CUresult r = check_module(module, name);
  if (r != CUDA_SUCCESS) return r;
  if (!tf_sim_module_global(module->module, name, &address, &size)) return CUDA_ERROR_NOT_FOUND;
  if (ptr) *ptr = address;
  if (bytes) *bytes = size;
  return CUDA_SUCCESS;
}

/* A function of a module that is loaded. */
CUresult tf_sim_check_function(CUfunction f) {
  tf_sim_state *s = tf_sim_now();
  bool found = false;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  pthread_mutex_lock(&s->lock);
  for (CUmodule m = s->modules; f && m && !found; m = m->next)
    found = (uintptr_t)f - (uintptr_t)m->functions < m->count * sizeof *m->functions;
  pthread_mutex_unlock(&s->lock);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult check_function(CUfunction f, const void *result) {
  CUresult r = tf_sim_check_function(f);
  if (r != CUDA_SUCCESS) return r;
  return result ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult function_value(CUfunction f, CUfunction_attribute attribute, int *value) {
  const tf_sim_function_info *i = &f->info;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = (int)i->max_threads;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = (int)i->static_shared;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    *value = (int)i->const_bytes;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = (int)i->local_bytes;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = (int)i->registers;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = (int)i->ptx_target;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = (int)f->module->driver->profile->sm;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = f->max_dynamic;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *value = f->carveout;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    *value = f->non_portable_cluster;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    *value = (int)i->required_cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    *value = 0;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult tf_sim_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  CUresult r = check_function(function, value);
  return r == CUDA_SUCCESS ? function_value(function, attribute, value) : r;
}

CUresult tf_sim_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  CUresult r = check_function(function, &value);
  if (r != CUDA_SUCCESS) return r;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
    uint64_t room = function->module->driver->profile->shared_optin - function->info.static_shared;
    if (value < 0 || (uint64_t)value > room) return CUDA_ERROR_INVALID_VALUE;
    function->max_dynamic = value;
    return CUDA_SUCCESS;
  }
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    function->carveout = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    function->non_portable_cluster = value;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult tf_sim_cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  CUresult r = check_function(function, &config);
  return r != CUDA_SUCCESS ? r : config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult tf_sim_cuFuncGetModule(CUmodule *module, CUfunction function) {
  CUresult r = check_function(function, module);
  if (r == CUDA_SUCCESS) *module = function->module;
  return r;
}

CUresult tf_sim_cuFuncGetName(const char **name, CUfunction function) {
  CUresult r = check_function(function, name);
  if (r == CUDA_SUCCESS) *name = function->info.name;
  return r;
}

CUresult tf_sim_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
  uint64_t at, size;
  CUresult r = check_function(function, offset);
  if (r != CUDA_SUCCESS) return r;
  if (index > UINT32_MAX || !tf_sim_function_param(function->function, (uint32_t)index, &at, &size))
    return CUDA_ERROR_INVALID_VALUE;
  *offset = at;
  if (bytes) *bytes = size;
  return CUDA_SUCCESS;
}

/* Functions are decoded when their module is loaded. */
CUresult tf_sim_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
  CUresult r = check_function(function, state);
  if (r == CUDA_SUCCESS) *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return r;
}

CUresult tf_sim_cuFuncLoad(CUfunction function) {
  return tf_sim_check_function(function);
}

CUresult tf_sim_cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  CUresult r = tf_sim_check_function(function);
  if (r != CUDA_SUCCESS) return r;
  return config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
