/* Linked with nothing: libcuda.so.1 is opened at run time, cuGetProcAddress is the only symbol that is looked up in it, and
 * it gives all others, by name and version. */
#include <cuda.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifndef CUDA_CB
#define CUDA_CB
#endif
#undef cuGetProcAddress

typedef CUresult (*get_proc)(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status);

static struct {
  get_proc get;
  CUresult (*get_error_name)(CUresult error, const char **name);
  CUresult (*init)(unsigned flags);
  CUresult (*version)(int *version);
  CUresult (*retain)(CUcontext *ctx, CUdevice dev);
  CUresult (*release)(CUdevice dev);
  CUresult (*set_current)(CUcontext ctx);
  CUresult (*alloc)(CUdeviceptr *ptr, size_t bytes);
  CUresult (*release_memory)(CUdeviceptr ptr);
  CUresult (*set)(CUdeviceptr ptr, unsigned value, size_t count);
  CUresult (*fetch)(void *to, CUdeviceptr from, size_t bytes);
} cu;

static int status;

static int failed(const char *what, CUresult result) {
  const char *name = "?";
  if (result == CUDA_SUCCESS) return 0;
  if (cu.get_error_name) (void)cu.get_error_name(result, &name);
  fprintf(stderr, "proc_address.c: %s: %s (%d)\n", what, name, (int)result);
  return status = 1;
}

static int find(const char *name, int version, void *member) {
  void *function = NULL;
  CUdriverProcAddressQueryResult found;
  if (failed(name, cu.get(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found))) return 0;
  if (!function || found != CU_GET_PROC_ADDRESS_SUCCESS) {
    fprintf(stderr, "proc_address.c: no %s\n", name);
    status = 1;
    return 0;
  }
  memcpy(member, &function, sizeof function);
  return 1;
}

static int find_all(void) {
  return find("cuGetErrorName", 6000, &cu.get_error_name) && find("cuInit", 2000, &cu.init) &&
         find("cuDriverGetVersion", 2020, &cu.version) && find("cuDevicePrimaryCtxRetain", 7000, &cu.retain) &&
         find("cuDevicePrimaryCtxRelease", 11000, &cu.release) && find("cuCtxSetCurrent", 4000, &cu.set_current) &&
         find("cuMemAlloc", 3020, &cu.alloc) && find("cuMemFree", 3020, &cu.release_memory) &&
         find("cuMemsetD32", 3020, &cu.set) && find("cuMemcpyDtoH", 3020, &cu.fetch);
}

/* A name that does not exist, and one that is younger than the version asked for. */
static int find_none(void) {
  void *function = &function;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  CUresult r = cu.get("cuDoesNotExist", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  if (failed("cuDoesNotExist", r)) return 0;
  if (function || found != CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) return status = 1, 0;
  r = cu.get("cuLaunchKernelEx", &function, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  if (failed("cuLaunchKernelEx", r)) return 0;
  if (function || found != CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) return status = 1, 0;
  return 1;
}

static void use(void) {
  CUcontext ctx;
  CUdeviceptr x = 0;
  int version = 0;
  unsigned got[8] = {0};
  if (failed("cuDriverGetVersion", cu.version(&version)) || failed("cuInit", cu.init(0))) return;
  if (failed("cuDevicePrimaryCtxRetain", cu.retain(&ctx, 0))) return;
  if (!failed("cuCtxSetCurrent", cu.set_current(ctx)) && !failed("cuMemAlloc", cu.alloc(&x, sizeof got))) {
    int bad = failed("cuMemsetD32", cu.set(x, 0xC0FFEE, 8)) || failed("cuMemcpyDtoH", cu.fetch(got, x, sizeof got));
    if (!bad && got[7] != 0xC0FFEE) status = 1;
  }
  if (x) (void)failed("cuMemFree", cu.release_memory(x));
  (void)failed("cuDevicePrimaryCtxRelease", cu.release(0));
  if (!status) printf("driver %d.%d by cuGetProcAddress alone\n", version / 1000, version % 1000 / 10);
}

int main(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;
  if (!library) return fprintf(stderr, "proc_address.c: %s\n", dlerror()), 1;
  symbol = dlsym(library, "cuGetProcAddress_v2");
  if (!symbol) return fprintf(stderr, "proc_address.c: no cuGetProcAddress_v2\n"), 1;
  memcpy(&cu.get, &symbol, sizeof symbol);
  if (find_all() && find_none()) use();
  return status;
}
