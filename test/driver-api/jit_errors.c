/* Loading what is not right, with the JIT's logs, and what is: options, files, and the errors of each kind of mistake. */
#include "host.h"

#include <unistd.h>

static const char good[] = PTX_HEAD ".visible .entry nothing() { ret; }\n";
static const char wrong[] =
    PTX_HEAD ".visible .entry k() { .reg .b32 %r;\n mov.u32 %r, 1;\n frobnicate.u32 %r;\n ret; }\n";

int main(void) {
  CUcontext ctx = NULL;
  CUmodule module = NULL, none = NULL;
  CUfunction f;
  char errors[512] = "", infos[512] = "", path[] = "/tmp/jit_errors_XXXXXX";
  FILE *file = NULL;
  bool made = false;

  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&ctx, 0, 0));

  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_MAX_REGISTERS,    CU_JIT_LOG_VERBOSE};
  void *values[] = {errors, (void *)sizeof errors, infos, (void *)sizeof infos, (void *)32, (void *)1};
  EXPECT(cuModuleLoadDataEx(&none, wrong, 6, options, values), CUDA_ERROR_INVALID_PTX);
  REQUIRE(none == NULL && strstr(errors, "frobnicate") && strstr(errors, "line 6"));
  REQUIRE((size_t)values[1] >= strlen(errors) && (size_t)values[1] <= sizeof errors);
  fprintf(stdout, "the log: %s\n", errors);

  errors[0] = 'x';
  values[1] = (void *)sizeof errors;
  values[3] = (void *)sizeof infos;
  CHECK(cuModuleLoadDataEx(&module, good, 6, options, values));
  REQUIRE(errors[0] == '\0' || (size_t)values[1] == 0);
  EXPECT(cuModuleGetFunction(&f, module, "something"), CUDA_ERROR_NOT_FOUND);
  CHECK(cuModuleGetFunction(&f, module, "nothing"));
  CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  CHECK(cuCtxSynchronize());
  CHECK(cuModuleUnload(module));
  module = NULL;

  EXPECT(cuModuleLoadData(&none, ".version 99.0\n.target sm_75\n.address_size 64\n"),
         CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT(cuModuleLoad(&none, "/nonexistent/kernel.ptx"), CUDA_ERROR_FILE_NOT_FOUND);

  int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  made = true;
  file = fdopen(descriptor, "w");
  REQUIRE(file && fputs(good, file) >= 0 && fclose(file) == 0);
  CHECK(cuModuleLoad(&module, path));
  CHECK(cuModuleGetFunction(&f, module, "nothing"));

done:
  if (made) unlink(path);
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
