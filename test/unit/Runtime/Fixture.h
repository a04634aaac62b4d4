/* A runtime on the fake driver with Inputs/everything.json loaded, and tensors for its entries. */
#ifndef TF_TEST_FIXTURE_H
#define TF_TEST_FIXTURE_H

#include "FakeDriver.h"
#include "Inputs.h"

#include "Runtime/RuntimeImpl.h"

static tf_runtime *rt;
static tf_program *program;

static inline tf_status load_text(const char *manifest, tf_program **out) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.name = "t.ptx";
  source.image = "ptx text";
  source.image_size = 8;
  source.manifest = manifest;
  source.manifest_size = manifest ? strlen(manifest) : 0;
  return tf_program_load(rt, &source, out);
}

static inline void open_runtime(void) {
  ck_assert_int_eq(tf_runtime_create(&rt), TF_OK);
  tf_driver table = fake_table();
  ck_assert_msg(tf_device_attach(rt, &table, -1) == TF_OK, "%s", tf_runtime_message(rt));
}

static inline void setup(void) {
  fake_reset();
  fake_set_current(NULL);
  open_runtime();
  rt->info.compute = 90; /* some of its launches take that */
  char *text = input_text("everything.json");
  ck_assert_msg(load_text(text, &program) == TF_OK, "%s", tf_runtime_message(rt));
  free(text);
}

/* Everything is given back, whatever a test did. */
static inline void teardown(void) {
  tf_program_unload(program);
  tf_runtime_destroy(rt);
  ck_assert_int_eq(fake.live_modules, 0);
  ck_assert_int_eq(fake.live_memory, 0);
  ck_assert_int_eq(fake.retained, 0);
  ck_assert_int_eq(fake.closed, 1);
  ck_assert_ptr_null(fake_current());
}

static inline const tf_entry *entry_of(const char *name) {
  const tf_entry *entry = NULL;
  ck_assert_msg(tf_program_entry(program, name, &entry) == TF_OK, "%s", tf_runtime_message(rt));
  return entry;
}

static inline tf_kernel *kernel_of(const char *name) {
  tf_kernel *kernel = NULL;
  ck_assert_msg(tf_program_kernel(program, name, &kernel) == TF_OK, "%s", tf_runtime_message(rt));
  return kernel;
}

/* A tensor on cuda:0 at an address that is never dereferenced. */
typedef struct test_tensor {
  DLTensor t;
  int64_t shape[4], strides[4];
} test_tensor;

static inline void tensor_at(test_tensor *x, uint64_t address, int code, int bits, int rank, int64_t e0, int64_t e1) {
  *x = (test_tensor){.shape = {e0, e1}};
  x->t = (DLTensor){.data = (void *)(uintptr_t)address,
                    .device = {kDLCUDA, 0},
                    .ndim = rank,
                    .dtype = {(uint8_t)code, (uint8_t)bits, 1},
                    .shape = x->shape};
}

/* The tensors of the entry "barrier": m of (rows, columns) bf16 in rows of 20, and three bytes of the host. */
static inline void barrier_tensors(test_tensor *m, uint64_t address, int64_t rows, int64_t columns, test_tensor *host) {
  fake.clusters = 1;
  rt->info.cluster_launch = true;
  tensor_at(m, address, kDLBfloat, 16, 2, rows, columns);
  if (rows) {
    m->t.strides = m->strides;
    m->strides[0] = 20;
    m->strides[1] = 1;
  }
  tensor_at(host, 0x30001, kDLUInt, 8, 1, 3, 0);
  host->t.device.device_type = kDLCPU;
}

static inline tf_argument of_tensor(const test_tensor *x) {
  return (tf_argument){.kind = TF_ARGUMENT_TENSOR, .value.tensor = &x->t};
}

static inline tf_argument of_int(int64_t v) {
  return (tf_argument){.kind = TF_ARGUMENT_INT, .value.i = v};
}

static inline tf_argument of_float(double v) {
  return (tf_argument){.kind = TF_ARGUMENT_FLOAT, .value.f = v};
}

#define ck_message(text) ck_assert_str_eq(tf_runtime_message(rt), text)

#endif
