/* Loading the driver table from a shared library, and the texts of the driver's results. Both are generated: the table
 * and the stand-ins from DriverAPI.def, the texts from CudaConstants.def. */
#include "Runtime/Driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TF_DRIVER_DEFAULT_LIBRARY "libcuda.so.1"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  static CUresult missing_##member params {                                                                            \
    return TF_CUDA_ERROR_MISSING_FUNCTION;                                                                             \
  }
#include "Runtime/DriverAPI.def"
#pragma GCC diagnostic pop

/* ISO C has no conversion from an object pointer to a function pointer; POSIX says that the bits are the same. */
static void store_symbol(void *library, const char *symbol, void *member) {
  void *address = dlsym(library, symbol);
  memcpy(member, &address, sizeof address);
}

static void load_symbols(void *library, tf_driver *table) {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) store_symbol(library, #symbol, &table->member);
#include "Runtime/DriverAPI.def"
}

void tf_driver_fill_missing(tf_driver *out) {
#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  if (!out->member) out->member = missing_##member;
#include "Runtime/DriverAPI.def"
}

static void close_library(tf_driver *driver) {
  dlclose(driver->state);
}

static const char *library_path(const char *path) {
  if (path) return path;
  const char *named = getenv("TF_CUDA_DRIVER");
  return named && *named ? named : TF_DRIVER_DEFAULT_LIBRARY;
}

tf_status tf_driver_open(const char *path, tf_driver *out, char *message, size_t message_size) {
  const char *name = library_path(path);
  /* A driver has threads and state of threads that outlive us: it stays in the process, a second opening costs nothing. */
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *why = dlerror();
    snprintf(message, message_size, "cannot load the CUDA driver: %s", why ? why : name);
    return TF_IO;
  }
  tf_driver table = {.state = library, .close = close_library};
  load_symbols(library, &table);
  if (!table.cuInit || !table.cuDeviceGetCount) {
    snprintf(message, message_size, "%s is no CUDA driver: it has no symbol %s", name,
             table.cuInit ? "cuDeviceGetCount" : "cuInit");
    dlclose(library);
    return TF_IO;
  }
  tf_driver_fill_missing(&table);
  *out = table;
  return TF_OK;
}

void tf_driver_close(tf_driver *driver) {
  if (driver->close) driver->close(driver);
  memset(driver, 0, sizeof *driver);
}

const char *tf_cuda_result_name(CUresult result) {
  switch (result) {
#define TF_CUDA_RESULT(name, value, text)                                                                              \
  case name:                                                                                                           \
    return #name;
#include "Runtime/CudaConstants.def"
  }
  return "CUDA_ERROR_???";
}

const char *tf_cuda_result_text(CUresult result) {
  switch (result) {
#define TF_CUDA_RESULT(name, value, text)                                                                              \
  case name:                                                                                                           \
    return text;
#include "Runtime/CudaConstants.def"
  }
  return result == TF_CUDA_ERROR_MISSING_FUNCTION ? "the driver library has no such function" : "unknown error code";
}
