/* The driver table from a shared library: versioned symbols, missing ones, wrong files; the texts of results. */
#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "Harness.h"
#include "Runtime/Driver.h"

static char message[256];

START_TEST(versioned_symbols) {
  tf_driver d;
  ck_assert_msg(tf_driver_open(TF_TEST_STUB_DRIVER, &d, message, sizeof message) == TF_OK, "%s", message);
  int count = 0;
  CUdeviceptr ptr = 0;
  ck_assert_int_eq(d.cuInit(0), CUDA_SUCCESS);
  ck_assert_int_eq(d.cuDeviceGetCount(&count), CUDA_SUCCESS);
  ck_assert_int_eq(count, 3);
  ck_assert_int_eq(d.cuMemAlloc(&ptr, 5), CUDA_SUCCESS);
  ck_assert_uint_eq(ptr, 1005); /* the stub's cuMemAlloc_v2; its old cuMemAlloc gives 5 */
  tf_driver_close(&d);
  ck_assert_ptr_null(d.state);
}
END_TEST

START_TEST(missing_symbols_fail_when_called) {
  tf_driver d;
  ck_assert_int_eq(tf_driver_open(TF_TEST_STUB_DRIVER, &d, message, sizeof message), TF_OK);
  ck_assert_int_eq(d.cuMemFree(0), TF_CUDA_ERROR_MISSING_FUNCTION);
  ck_assert_int_eq(d.cuLaunchKernelEx(NULL, NULL, NULL, NULL), TF_CUDA_ERROR_MISSING_FUNCTION);
#define TF_DRIVER_FN(member, symbol, name, since, params, args) ck_assert_msg(d.member != NULL, #member);
#include "Runtime/DriverAPI.def"
  tf_driver_close(&d);
}
END_TEST

START_TEST(environment_names_the_library) {
  tf_driver d;
  setenv("TF_CUDA_DRIVER", TF_TEST_STUB_DRIVER, 1);
  ck_assert_int_eq(tf_driver_open(NULL, &d, message, sizeof message), TF_OK);
  tf_driver_close(&d);
  setenv("TF_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  ck_assert_int_eq(tf_driver_open(NULL, &d, message, sizeof message), TF_IO);
  ck_assert_ptr_nonnull(strstr(message, "/nonexistent/libcuda.so.1"));
  unsetenv("TF_CUDA_DRIVER");
}
END_TEST

/* A driver stays in the process: its threads outlive the table. */
START_TEST(library_stays) {
  tf_driver d;
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(tf_driver_open(TF_TEST_STUB_DRIVER, &d, message, sizeof message), TF_OK);
    tf_driver_close(&d);
  }
  void *library = dlopen(TF_TEST_STUB_DRIVER, RTLD_NOW | RTLD_NOLOAD);
  ck_assert_ptr_nonnull(library);
  dlclose(library);
}
END_TEST

START_TEST(no_driver) {
  tf_driver d = {.is_sim = 7};
  ck_assert_int_eq(tf_driver_open("libm.so.6", &d, message, sizeof message), TF_IO);
  ck_assert_str_eq(message, "libm.so.6 is no CUDA driver: it has no symbol cuInit");
  ck_assert_int_eq(d.is_sim, 7);
}
END_TEST

/* Those of the toolkit's header, where it is there, and our own. */
const char *tf_test_wrong_header_handle(void) __attribute__((weak));
const char *tf_test_wrong_handle(void);

START_TEST(handles) {
  ck_assert_ptr_null(tf_test_wrong_handle());
  if (tf_test_wrong_header_handle) ck_assert_ptr_null(tf_test_wrong_header_handle());
}
END_TEST

START_TEST(texts) {
  ck_assert_str_eq(tf_cuda_result_name(CUDA_ERROR_INVALID_PTX), "CUDA_ERROR_INVALID_PTX");
  ck_assert_str_eq(tf_cuda_result_text(CUDA_ERROR_OUT_OF_MEMORY), "out of memory");
  ck_assert_str_eq(tf_cuda_result_name((CUresult)12345), "CUDA_ERROR_???");
  ck_assert_str_eq(tf_cuda_result_text((CUresult)12345), "unknown error code");
  ck_assert_str_eq(tf_cuda_result_text(TF_CUDA_ERROR_MISSING_FUNCTION), "the driver library has no such function");
}
END_TEST

int main(void) {
  TCase *c = tcase_create("driver");
  tcase_add_test(c, versioned_symbols);
  tcase_add_test(c, missing_symbols_fail_when_called);
  tcase_add_test(c, environment_names_the_library);
  tcase_add_test(c, library_stays);
  tcase_add_test(c, no_driver);
  tcase_add_test(c, handles);
  tcase_add_test(c, texts);
  return run_case("driver", c);
}
