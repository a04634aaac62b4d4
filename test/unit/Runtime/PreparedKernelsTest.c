/* Prepared calls of compiled modules on the simulated device, for random extents: what a run leaves in memory, against the same
 * loops in C and against a checked call; then with other addresses and scalars. By the manifest's plan and by machine code.
 *
 *   main    S < 70: scale by f; S < 150: scale by f + 1 and fold, by a call; else it aborts
 *   hosted  machine code only: from and to host memory, through a temporary, a loop of launches
 *
 *   scale   y[i] = x[i] * f + i        traps if f is 13
 *   fold    y[i] = 3 * y[i] + x[S - 1 - i] */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Runtime.h>
#include <tilefoundry/TileFoundry.h>

#include "Harness.h"
#include "Random.h"

enum { ROUNDS = 12, MOST = 199 };

static const char text[] =
    "S = DimVar('S', 1, 200)\n"
    "@module(entry='main')\n"
    "class Module:\n"
    "    @prim_func(target=CudaTarget('sm_80'))\n"
    "    def scale(x: ConstTensor[(S,), 'i32'], f: Tensor[(), 'i32'], y: Tensor[(S,), 'i32']) -> None:\n"
    "        with Mesh((Topology('cta', 1), Topology('thread', 32)), Layout((1, 32)), ('c', 't')) as m:\n"
    "            if f == 13:\n"
    "                T.abort('bad luck')\n"
    "            for i in range(T.coord(m.t), S, 32):\n"
    "                T.store(y, T.load(x, i) * f + i, i)\n"
    "    @prim_func(target=CudaTarget('sm_80'))\n"
    "    def fold(x: ConstTensor[(S,), 'i32'], y: Tensor[(S,), 'i32']) -> None:\n"
    "        with Mesh((Topology('cta', 1), Topology('thread', 32)), Layout((1, 32)), ('c', 't')) as m:\n"
    "            for i in range(T.coord(m.t), S, 32):\n"
    "                T.store(y, T.load(y, i) * 3 + T.load(x, S - 1 - i), i)\n"
    "    @prim_func(target=CpuTarget())\n"
    "    def both(x: ConstTensor[(S,), 'i32'], f: Tensor[(), 'i32'], y: Tensor[(S,), 'i32']) -> None:\n"
    "        scale(x, f, y)\n"
    "        fold(x, y)\n"
    "    @prim_func(target=CpuTarget())\n"
    "    def main(x: ConstTensor[(S,), 'i32'], f: Tensor[(), 'i32'], y: Tensor[(S,), 'i32']) -> None:\n"
    "        match T.dispatch('main', T.shape_of(x, 0)):\n"
    "            case DimVarRangePat('S', 1, 70):\n"
    "                scale(x, f, y)\n"
    "            case DimVarRangePat('S', 70, 150):\n"
    "                both(x, f + 1, y)\n"
    "            case _:\n"
    "                T.abort('too long')\n";

static const char hosted_text[] = "    @prim_func(target=CpuTarget())\n"
                                  "    def hosted(x: ConstTensor[(S,), 'i32', None, host], f: Tensor[(), 'i32'], y: "
                                  "Tensor[(S,), 'i32', None, host]):\n"
                                  "        t = T.alloc_tensor(TensorType((S,), 'i32', None, gmem))\n"
                                  "        u = T.alloc_tensor(TensorType((S,), 'i32', None, gmem))\n"
                                  "        T.copy(x, t)\n"
                                  "        scale(t, f, u)\n"
                                  "        for i in range(f):\n"
                                  "            fold(t, u)\n"
                                  "        T.copy(u, y)\n";

/* ---- In C -------------------------------------------------------------------------------------------------------- */

static void scale(int64_t s, const uint32_t *x, uint32_t f, uint32_t *y) {
  for (int64_t i = 0; i < s; i++)
    y[i] = x[i] * f + (uint32_t)i;
}

static void fold(int64_t s, const uint32_t *x, uint32_t *y) {
  for (int64_t i = 0; i < s; i++)
    y[i] = y[i] * 3 + x[s - 1 - i];
}

static void main_in_c(int64_t s, const uint32_t *x, uint32_t f, uint32_t *y) {
  scale(s, x, s < 70 ? f : f + 1, y);
  if (s >= 70) fold(s, x, y);
}

static void hosted_in_c(int64_t s, const uint32_t *x, uint32_t f, uint32_t *y) {
  scale(s, x, f, y);
  for (uint32_t i = 0; i < f; i++)
    fold(s, x, y);
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

static uint64_t seed = 7;
static tf_context *context;
static tf_host_code *code;
static tf_runtime *rt;
static tf_program *program;

static void compiled(tf_status status) {
  const tf_diagnostic *first = status == TF_OK ? NULL : tf_context_diagnostic(context, 0);
  ck_assert_msg(status == TF_OK, "%s", first ? tf_diagnostic_render(context, first) : tf_status_name(status));
}

static void load(const char *source_text, bool by_code) {
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  const tf_module *module;
  const char *ptx, *manifest;
  lower.debug_lines = true; /* a trap names its line, and so its message */
  compiled(tf_parse(context, "module.tir", source_text, strlen(source_text), &parse, &module));
  compiled(tf_emit_ptx(module, &lower, &ptx));
  compiled(tf_emit_manifest(module, &lower, &manifest));
  source.image = ptx;
  source.image_size = strlen(ptx);
  source.manifest = manifest;
  source.manifest_size = strlen(manifest);
  if (by_code) {
    compiled(tf_host_code_create(module, &lower, &code));
    source.entries = tf_host_code_entries(code, &source.entry_count);
  }
  ck_assert_msg(tf_program_load(rt, &source, &program) == TF_OK, "%s", tf_runtime_message(rt));
}

static void setup(void) {
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.sim_checks = "all";
  code = NULL;
  program = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_runtime_create(&rt), TF_OK);
  ck_assert_msg(tf_device_open(rt, "sim:sm_80", &options) == TF_OK, "%s", tf_runtime_message(rt));
}

static void teardown(void) {
  tf_program_unload(program);
  tf_runtime_destroy(rt);
  tf_host_code_destroy(code);
  tf_context_destroy(context);
}

static const tf_entry *entry_of(const char *name) {
  const tf_entry *entry = NULL;
  ck_assert_msg(tf_program_entry(program, name, &entry) == TF_OK, "%s", tf_runtime_message(rt));
  return entry;
}

/* ---- Arguments (x, f, y) ----------------------------------------------------------------------------------------- */

/* A vector in the entry's memory, and what it holds. */
typedef struct vector {
  uint32_t words[MOST + 1];
  void *data;
  bool on_host;
} vector;

static void ok(tf_status status) {
  ck_assert_msg(status == TF_OK, "%s", tf_runtime_message(rt));
}

static void make(vector *v, bool on_host) {
  v->on_host = on_host;
  v->data = v->words;
  if (!on_host) ok(tf_device_alloc(rt, sizeof v->words, &v->data));
}

static void drop(vector *v) {
  if (!v->on_host) ok(tf_device_free(rt, v->data));
}

static void put(vector *v, const uint32_t *words) {
  memcpy(v->words, words, sizeof v->words);
  if (!v->on_host) ok(tf_device_copy_in(rt, v->data, v->words, sizeof v->words, NULL));
}

/* All of it, so that nothing was written behind the end either. */
static void expect(vector *v, const uint32_t *words, const char *what, int64_t s) {
  if (!v->on_host) ok(tf_device_copy_out(rt, v->words, v->data, sizeof v->words, NULL));
  ck_assert_msg(memcmp(v->words, words, sizeof v->words) == 0, "%s with %d elements", what, (int)s);
}

typedef void model(int64_t s, const uint32_t *x, uint32_t f, uint32_t *y);

static void random_words(uint32_t *words) {
  for (int i = 0; i <= MOST; i++)
    words[i] = (uint32_t)random_next(&seed);
}

typedef struct call {
  const tf_entry *entry;
  DLTensor tensors[2];
  tf_argument arguments[3];
  int64_t shape[1];
} call;

static void set_up_call(call *c, const tf_entry *entry, int64_t s, const vector *x, int64_t f, const vector *y) {
  tf_device_info info;
  ok(tf_device_get_info(rt, &info));
  c->entry = entry;
  c->shape[0] = s;
  for (int i = 0; i < 2; i++)
    c->tensors[i] = (DLTensor){.data = i ? y->data : x->data,
                               .device = x->on_host ? (DLDevice){kDLCPU, 0} : info.device,
                               .ndim = 1,
                               .dtype = {kDLInt, 32, 1},
                               .shape = c->shape};
  c->arguments[0] = (tf_argument){.kind = TF_ARGUMENT_TENSOR, .value.tensor = &c->tensors[0]};
  c->arguments[1] = (tf_argument){.kind = TF_ARGUMENT_INT, .value.i = f};
  c->arguments[2] = (tf_argument){.kind = TF_ARGUMENT_TENSOR, .value.tensor = &c->tensors[1]};
}

static tf_prepared_call *prepare(call *c) {
  tf_prepared_call *prepared = NULL;
  ok(tf_entry_prepare(c->entry, c->arguments, 3, &prepared));
  memset(c, 0xa5, sizeof *c);
  return prepared;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* One prepared call: as a checked one, then on other vectors with another scalar. */
static void try_extent(const tf_entry *entry, int64_t s, vector v[4], model *in_c) {
  uint32_t x[2][MOST + 1], y[2][MOST + 1], want[MOST + 1];
  int64_t f[2] = {2 + (int64_t)random_below(&seed, 5), 7 + (int64_t)random_below(&seed, 5)};
  call c;
  for (int i = 0; i < 2; i++) {
    random_words(x[i]);
    random_words(y[i]);
    put(&v[2 * i], x[i]);
    put(&v[2 * i + 1], y[i]);
  }
  memcpy(want, y[0], sizeof want);
  in_c(s, x[0], (uint32_t)f[0], want);
  set_up_call(&c, entry, s, &v[0], f[0], &v[1]);
  ok(tf_entry_call(entry, NULL, c.arguments, 3));
  expect(&v[1], want, "a checked call", s);
  put(&v[1], y[0]);
  tf_prepared_call *prepared = prepare(&c);
  expect(&v[1], y[0], "a call that was only prepared", s);
  ok(tf_prepared_call_run(prepared, NULL));
  expect(&v[1], want, "a prepared call", s);
  ok(tf_prepared_call_set_pointers(prepared, 2, (const unsigned[]){2, 0}, (void *const[]){v[3].data, v[2].data}));
  ok(tf_prepared_call_set_scalar(prepared, 1, &(tf_argument){.kind = TF_ARGUMENT_INT, .value.i = f[1]}));
  ok(tf_prepared_call_run(prepared, NULL));
  expect(&v[1], want, "what another call wrote", s);
  in_c(s, x[1], (uint32_t)f[1], y[1]);
  expect(&v[3], y[1], "a prepared call on other vectors", s);
  tf_prepared_call_destroy(prepared);
}

static void try_extents(const char *name, bool on_host, int64_t most, model *in_c) {
  static vector v[4];
  for (int i = 0; i < 4; i++)
    make(&v[i], on_host);
  try_extent(entry_of(name), 1, v, in_c);
  try_extent(entry_of(name), most, v, in_c);
  for (int i = 0; i < ROUNDS; i++)
    try_extent(entry_of(name), 1 + (int64_t)random_below(&seed, (uint64_t)most), v, in_c);
  for (int i = 0; i < 4; i++)
    drop(&v[i]);
}

START_TEST(plan) {
  load(text, false);
  try_extents("main", false, 149, main_in_c);
}
END_TEST

START_TEST(machine_code) {
  load(text, true);
  try_extents("main", false, 149, main_in_c);
}
END_TEST

START_TEST(host_memory) {
  static char all[sizeof text + sizeof hosted_text];
  strcat(strcpy(all, text), hosted_text);
  load(all, true);
  try_extents("hosted", true, 199, hosted_in_c);
}
END_TEST

/* Aborts of the function leave the call as it was; a trap of its kernel ends the context, as on a real device. */
static void stop(bool by_code) {
  static vector v[2];
  call c;
  load(text, by_code);
  make(&v[0], false);
  make(&v[1], false);
  put(&v[0], (uint32_t[MOST + 1]){0});
  set_up_call(&c, entry_of("main"), 150, &v[0], 1, &v[1]);
  tf_prepared_call *prepared = prepare(&c);
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(tf_prepared_call_run(prepared, NULL), TF_TRAP);
    ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "main: abort: too long"));
    tf_runtime_clear_error(rt);
  }
  tf_prepared_call_destroy(prepared);
  set_up_call(&c, entry_of("main"), 69, &v[0], 12, &v[1]);
  prepared = prepare(&c);
  ok(tf_prepared_call_run(prepared, NULL));
  ok(tf_prepared_call_set_scalar(prepared, 1, &(tf_argument){.kind = TF_ARGUMENT_INT, .value.i = 13}));
  tf_status status = tf_prepared_call_run(prepared, NULL);
  if (status == TF_OK) status = tf_stream_synchronize(rt, NULL);
  ck_assert_int_eq(status, TF_TRAP);
  ck_assert_msg(strstr(tf_runtime_message(rt), "bad luck") != NULL, "%s", tf_runtime_message(rt));
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(tf_prepared_call_run(prepared, NULL), TF_TRAP);
  ck_assert_msg(strstr(tf_runtime_message(rt), "seen by cuLaunchKernel") != NULL, "%s", tf_runtime_message(rt));
  tf_prepared_call_destroy(prepared);
}

START_TEST(stops) {
  stop(_i);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("prepared kernels");
  tcase_set_timeout(c, 60);
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_test(c, plan);
  tcase_add_test(c, machine_code);
  tcase_add_test(c, host_memory);
  tcase_add_loop_test(c, stops, 0, 2);
  return run_case("prepared kernels", c);
}
