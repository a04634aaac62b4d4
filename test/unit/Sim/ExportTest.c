/* libtfsim.so under a program that knows nothing but the driver's symbols: it is opened like libcuda.so.1, and every
 * symbol that DriverAPI.def names must be there. The path of the library is the test's first argument. */
#include "Runtime/CudaTypes.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *symbol(const char *name) {
  void *at = dlsym(library, name);
  ck_assert_msg(at != NULL, "no symbol %s", name);
  return at;
}

#define LOAD(type, variable, name)                                                                                     \
  __typeof__(type) variable;                                                                                           \
  do {                                                                                                                 \
    void *at_ = symbol(name);                                                                                          \
    memcpy(&variable, &at_, sizeof at_);                                                                               \
  } while (0)

START_TEST(all_symbols) {
#define TF_DRIVER_FN(member, name, title, since, params, args) symbol(#name);
#include "Runtime/DriverAPI.def"
}
END_TEST

/* Names for a default stream per thread and older names are the same functions; what the device does not have says so. */
START_TEST(other_symbols) {
#define TF_DRIVER_PT(name, suffix) ck_assert_ptr_eq(symbol(#name #suffix), symbol(#name));
#define TF_DRIVER_OLD(name, older) ck_assert_ptr_eq(symbol(#older), symbol(#name));
#define TF_DRIVER_OTHER(name)                                                                                          \
  do {                                                                                                                 \
    LOAD(CUresult (*)(void), missing, #name);                                                                          \
    ck_assert_int_eq(missing(), CUDA_ERROR_NOT_SUPPORTED);                                                             \
  } while (0);
#include "Sim/Driver/ExportNames.def"
}
END_TEST

/* tilefoundry/SimDriver.h */
START_TEST(failures_on_purpose) {
  LOAD(int (*)(const char *), set_rules, "tf_sim_fail_calls");
  LOAD(unsigned long long (*)(const char *), calls, "tf_sim_count_calls");
  LOAD(CUresult(*)(int *), version, "cuDriverGetVersion");
  int v;
  ck_assert_int_eq(set_rules("cuDriverGetVersion:2=CUDA_ERROR_NO_DEVICE"), 0);
  ck_assert_int_eq(version(&v), CUDA_SUCCESS);
  ck_assert_int_eq(version(&v), CUDA_ERROR_NO_DEVICE);
  ck_assert_int_eq(version(&v), CUDA_SUCCESS);
  ck_assert_uint_eq(calls("cuDriverGetVersion"), 3);
  ck_assert_uint_eq(calls(NULL), 3);
  ck_assert_int_eq(set_rules("what"), CUDA_ERROR_INVALID_VALUE);
  ck_assert_uint_eq(calls(NULL), 3);
  ck_assert_int_eq(set_rules(NULL), 0);
  ck_assert_uint_eq(calls(NULL), 0);
  ck_assert_int_eq(version(&v), CUDA_SUCCESS);
}
END_TEST

START_TEST(a_program) {
  static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg "
                            ".b64 %rd<4>; .reg .b32 %r<3>;\n"
                            "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, "
                            "%rd1, %rd2; mad.lo.u32 %r2, %r1, %r1, 3;\n"
                            "st.global.u32 [%rd3], %r2; ret; }\n";
  LOAD(CUresult(*)(unsigned), init, "cuInit");
  LOAD(CUresult(*)(CUcontext *, unsigned, CUdevice), create, "cuCtxCreate_v2");
  LOAD(CUresult(*)(CUdeviceptr *, size_t), alloc, "cuMemAlloc_v2");
  LOAD(CUresult(*)(CUmodule *, const void *), load, "cuModuleLoadData");
  LOAD(CUresult(*)(CUfunction *, CUmodule, const char *), get, "cuModuleGetFunction");
  LOAD(CUresult(*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,
                   void **),
       launch, "cuLaunchKernel");
  LOAD(CUresult(*)(void *, CUdeviceptr, size_t), back, "cuMemcpyDtoH_v2");
  LOAD(CUresult(*)(int *, int *, CUdevice), capability, "cuDeviceComputeCapability");
  CUcontext context;
  CUdeviceptr p;
  CUmodule module;
  CUfunction f;
  unsigned out[64];
  int major, minor;
  ck_assert_int_eq(init(0), CUDA_SUCCESS);
  ck_assert_int_eq(capability(&major, &minor, 0), CUDA_SUCCESS);
  ck_assert_int_eq(major * 10 + minor, 75);
  ck_assert_int_eq(create(&context, 0, 0), CUDA_SUCCESS);
  ck_assert_int_eq(alloc(&p, sizeof out), CUDA_SUCCESS);
  ck_assert_int_eq(load(&module, ptx), CUDA_SUCCESS);
  ck_assert_int_eq(get(&f, module, "k"), CUDA_SUCCESS);
  void *params[] = {&p};
  ck_assert_int_eq(launch(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL), CUDA_SUCCESS);
  ck_assert_int_eq(back(out, p, sizeof out), CUDA_SUCCESS);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_uint_eq(out[i], i * i + 3);
}
END_TEST

int main(int argc, char **argv) {
  setenv("TF_SIM_DEVICE", "sm_75", 1);
  library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  Suite *s = suite_create("Sim library");
  TCase *c = tcase_create("library");
  tcase_add_test(c, all_symbols);
  tcase_add_test(c, other_symbols);
  tcase_add_test(c, failures_on_purpose);
  tcase_add_test(c, a_program);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  if (library) srunner_run_all(r, CK_NORMAL);
  int failed = !library || srunner_ntests_failed(r);
  srunner_free(r);
  return failed;
}
