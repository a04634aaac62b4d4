/* The linker and libraries, over modules.
 *
 * Linking PTX means putting texts together: the first keeps its header (.version, .target, .address_size), the others lose
 * theirs; the "cubin" is the text. What one text declares .extern another may define. A library is a module that is loaded
 * in the current context, a kernel one of its functions. */
#include "Sim/Driver/State.h"

#include "Sim/Pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TF_SIM_KNOWN(CUlinkState, links, link)

/* ---- The linker ----------------------------------------------------------------------------------------------------- */

static void free_link(CUlinkState l) {
  free(l->text);
  free(l);
}

void tf_sim_free_links(tf_sim_state *s) {
  while (s->links) {
    CUlinkState next = s->links->next;
    free_link(s->links);
    s->links = next;
  }
}

CUresult tf_sim_cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!state || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
  CUlinkState l = calloc(1, sizeof *l);
  if (!l) return CUDA_ERROR_OUT_OF_MEMORY;
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) l->error_log = values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      l->error_size = (size_t)(uintptr_t)values[i];
      l->error_used = &values[i];
    }
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || options[i] == CU_JIT_WALL_TIME) values[i] = NULL;
  }
  if (l->error_used) *l->error_used = NULL;
  pthread_mutex_lock(&s->lock);
  l->next = s->links;
  s->links = l;
  pthread_mutex_unlock(&s->lock);
  *state = l;
  return CUDA_SUCCESS;
}

static CUresult complain(CUlinkState l, CUresult result, const char *message) {
  if (l->error_log && l->error_size) {
    (void)snprintf(l->error_log, l->error_size, "%s", message);
    if (l->error_used) *l->error_used = (void *)(uintptr_t)strlen(l->error_log);
  }
  return result;
}

static CUresult check_link(CUlinkState state) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  return state && links_has(tf_sim_now(), state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static bool append(CUlinkState l, const char *text, size_t length) {
  if (!tf_grow((void **)&l->text, &l->cap, l->length + length + 2, 1)) return false;
  memcpy(l->text + l->length, text, length);
  l->length += length;
  l->text[l->length++] = '\n';
  l->text[l->length] = '\0';
  return true;
}

/* A function that one text declares .extern and another defines is one function of the joined text, declared first. */
static void join_functions(char *text) {
  for (char *at = text; (at = strstr(at, ".extern")) != NULL; at++) {
    char *next = at + strlen(".extern");
    if (*next == ' ' && strncmp(next + strspn(next, " \t"), ".func", 5) == 0) memcpy(at, ".visible", 8);
  }
}

/* Overwrites the header's directives with blanks, so that lines keep their numbers. */
static void blank_header(char *text) {
  static const char *const directives[] = {".version", ".target", ".address_size"};
  for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
    char *at = strstr(text, directives[i]);
    for (; at && *at && *at != '\n'; at++)
      *at = ' ';
  }
}

CUresult tf_sim_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                              unsigned count, CUjit_option *options, void **values) {
  (void)name, (void)options, (void)values;
  CUresult r = check_link(state);
  if (r != CUDA_SUCCESS) return r;
  if (!data || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
  if (type > CU_JIT_INPUT_NVVM) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_JIT_INPUT_PTX)
    return complain(state, type == CU_JIT_INPUT_NVVM ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "the simulated device links PTX texts only");
  size_t length = strnlen(data, size), before = state->length;
  if (!append(state, data, length)) return CUDA_ERROR_OUT_OF_MEMORY;
  join_functions(state->text + before);
  if (state->inputs++) blank_header(state->text + before);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                              CUjit_option *options, void **values) {
  size_t bytes = 0;
  CUresult r = check_link(state);
  if (r != CUDA_SUCCESS) return r;
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  char *text = tf_sim_read_file(path, &bytes);
  if (!text) return CUDA_ERROR_FILE_NOT_FOUND;
  r = tf_sim_cuLinkAddData(state, type, text, bytes, path, count, options, values);
  free(text);
  return r;
}

/* Loads the text once to find its errors. */
CUresult tf_sim_cuLinkComplete(CUlinkState state, void **image, size_t *size) {
  char message[1024] = "";
  tf_sim_module *module;
  CUresult r = check_link(state);
  if (r != CUDA_SUCCESS) return r;
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  if (!state->inputs) return complain(state, CUDA_ERROR_INVALID_IMAGE, "nothing to link");
  tf_status status =
      tf_sim_module_load(tf_sim_now()->device, state->text, state->length, message, sizeof message, &module);
  if (status == TF_OUT_OF_MEMORY) return CUDA_ERROR_OUT_OF_MEMORY;
  if (status != TF_OK) return complain(state, CUDA_ERROR_INVALID_PTX, message);
  tf_sim_module_unload(module);
  *image = state->text;
  if (size) *size = state->length + 1;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuLinkDestroy(CUlinkState state) {
  tf_sim_state *s = tf_sim_now();
  if (!state || !links_has(s, state)) return CUDA_ERROR_INVALID_HANDLE;
  pthread_mutex_lock(&s->lock);
  for (CUlinkState *at = &s->links; *at; at = &(*at)->next)
    if (*at == state) {
      *at = state->next;
      break;
    }
  pthread_mutex_unlock(&s->lock);
  free_link(state);
  return CUDA_SUCCESS;
}

/* ---- Libraries ------------------------------------------------------------------------------------------------------ */

#define MODULE(library)  ((CUmodule)(void *)(library))
#define FUNCTION(kernel) ((CUfunction)(void *)(kernel))

CUresult tf_sim_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options, void **values,
                                  unsigned count, CUlibraryOption *library_options, void **library_values,
                                  unsigned library_count) {
  if (!library || (library_count && (!library_options || !library_values))) return CUDA_ERROR_INVALID_VALUE;
  return tf_sim_cuModuleLoadDataEx((CUmodule *)(void *)library, code, count, options, values);
}

CUresult tf_sim_cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                                      unsigned count, CUlibraryOption *library_options, void **library_values,
                                      unsigned library_count) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  char *text = tf_sim_read_file(path, NULL);
  if (!text) return CUDA_ERROR_FILE_NOT_FOUND;
  CUresult r =
      tf_sim_cuLibraryLoadData(library, text, options, values, count, library_options, library_values, library_count);
  free(text);
  return r;
}

CUresult tf_sim_cuLibraryUnload(CUlibrary library) {
  return tf_sim_cuModuleUnload(MODULE(library));
}
CUresult tf_sim_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  return tf_sim_cuModuleGetFunction((CUfunction *)(void *)kernel, MODULE(library), name);
}
CUresult tf_sim_cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
  return tf_sim_cuModuleGetFunctionCount(count, MODULE(library));
}
CUresult tf_sim_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library) {
  return tf_sim_cuModuleEnumerateFunctions((CUfunction *)(void *)kernels, count, MODULE(library));
}
CUresult tf_sim_cuLibraryGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name) {
  return tf_sim_cuModuleGetGlobal(ptr, bytes, MODULE(library), name);
}

CUresult tf_sim_cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  unsigned count;
  CUresult r = tf_sim_cuModuleGetFunctionCount(&count, MODULE(library));
  if (r != CUDA_SUCCESS) return r;
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  *module = MODULE(library);
  return CUDA_SUCCESS;
}

/* PTX has no managed variables. */
CUresult tf_sim_cuLibraryGetManaged(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name) {
  CUresult r = tf_sim_cuLibraryGetGlobal(ptr, bytes, library, name);
  return r == CUDA_SUCCESS ? CUDA_ERROR_NOT_FOUND : r;
}

/* ---- Kernels ---------------------------------------------------------------------------------------------------------- */

CUresult tf_sim_cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  CUresult r = tf_sim_check_function(FUNCTION(kernel));
  if (r != CUDA_SUCCESS) return r;
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  *function = FUNCTION(kernel);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  return tf_sim_cuFuncGetModule((CUmodule *)(void *)library, FUNCTION(kernel));
}
CUresult tf_sim_cuKernelGetName(const char **name, CUkernel kernel) {
  return tf_sim_cuFuncGetName(name, FUNCTION(kernel));
}
CUresult tf_sim_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes) {
  return tf_sim_cuFuncGetParamInfo(FUNCTION(kernel), index, offset, bytes);
}
CUresult tf_sim_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice dev) {
  CUresult r = tf_sim_check_device(dev);
  return r == CUDA_SUCCESS ? tf_sim_cuFuncGetAttribute(value, attribute, FUNCTION(kernel)) : r;
}
CUresult tf_sim_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice dev) {
  CUresult r = tf_sim_check_device(dev);
  return r == CUDA_SUCCESS ? tf_sim_cuFuncSetAttribute(FUNCTION(kernel), attribute, value) : r;
}
CUresult tf_sim_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
  CUresult r = tf_sim_check_device(dev);
  return r == CUDA_SUCCESS ? tf_sim_cuFuncSetCacheConfig(FUNCTION(kernel), config) : r;
}
