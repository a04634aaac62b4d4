/* Entries called on a stream that is being captured: the graphs run again and again on new inputs, on the simulated device
 * with all checkers, and the results are held against plain C. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/TileFoundry.h>

#include "Harness.h"
#include "Runtime/RuntimeImpl.h"

#undef fail /* of Check */

enum { N = 70, ROUNDS = 4 };

#define MAIN(name, parameters) "    @prim_func(target=CpuTarget())\n    def " name "(" parameters ") -> None:\n"
#define ON_HOST(name)          name ": Tensor[(N,), 'i32', None, host]"
#define TEMPORARY(name, where) "        " name " = T.alloc_tensor(TensorType((N,), 'i32', None, " where "))\n"

/* clang-format off */
static const char text[] =
    "N = DimVar('N', 1, 4096)\n"
    "@module(entry='plain')\n"
    "class Graphs:\n"
    "    @prim_func(target=CudaTarget('sm_80'))\n"
    "    def add(x: Tensor[(N,), 'i32'], n: Tensor[(), 'i32']) -> None:\n"
    "        with Mesh((Topology('cta', ceildiv(N, 32)), Topology('thread', 32)), Layout((ceildiv(N, 32), 32)), ('c', 't')) as m:\n"
    "            i = T.coord(m.c) * 32 + T.coord(m.t)\n"
    "            if i < N:\n"
    "                T.store(x, T.load(x, i) + n, i)\n"
    "    @prim_func(target=CudaTarget('sm_80'))\n"
    "    def turn(a: Tensor[(4, 32), 'i32']) -> None:\n"
    "        with Mesh((Topology('cta', 4),), Layout(shape=(4,)), ('c',)) as grid:\n"
    "            with Mesh((Topology('thread', 32),), Layout(shape=(32,)), ('t',)) as block:\n"
    "                c = T.coord(grid.c)\n"
    "                t = T.coord(block.t)\n"
    "                v = T.load(a, (c + 1) % 4, t)\n"
    "                T.sync(grid)\n"
    "                T.store(a, v, c, t)\n"
    /* Launches alone, which the manifest's plan runs too. */
    MAIN("plain", "x: Tensor[(N,), 'i32'], n: Tensor[(), 'i32']")
    "        add(x, n)\n"
    "        add(x, 3)\n"
    "        launch(add, x, n, grid=(ceildiv(N, 32),), block=32)\n"
    /* In, through temporaries in a loop and another entry, and out. */
    MAIN("around", ON_HOST("x") ", n: Tensor[(), 'i32'], " ON_HOST("y"))
    TEMPORARY("t", "gmem")
    "        T.copy(x, t)\n"
    "        for i in range(n):\n"
    "            u = T.alloc_tensor(TensorType((N,), 'i32', None, gmem))\n"
    "            T.copy(t, u)\n"
    "            plain(u, i)\n"
    "            T.copy(u, t)\n"
    "        T.copy(t, y)\n"
    /* A temporary of the host, filled, overwritten from the device, stored to, and read by the device. */
    MAIN("staged", ON_HOST("x") ", n: Tensor[(), 'i32'], " ON_HOST("y"))
    TEMPORARY("t", "gmem") TEMPORARY("h", "host")
    "        T.fill(h, 100)\n"
    "        T.copy(h, t)\n"
    "        add(t, n)\n"
    "        T.copy(t, y)\n"
    "        T.copy(x, t)\n"
    "        T.copy(t, h)\n"
    "        T.store(h, n * 2, 1)\n"
    "        T.copy(h, t)\n"
    "        T.copy(T.tensor_view(t, 0, shape=(3,)), T.tensor_view(y, N - 3, shape=(3,)))\n"
    /* Windows: rows with gaps, clipped ones, fills of both memories. */
    MAIN("windows", "x: Tensor[(6, 10), 'i32', None, host], y: Tensor[(6, 10), 'i32', None, host]")
    "        a = T.alloc_tensor(TensorType((6, 10), 'i32', None, gmem))\n"
    "        T.fill(a, 7)\n"
    "        T.fill(y, -1)\n"
    "        T.copy(T.tensor_view(x, 1, 2, shape=(3, 5)), T.tensor_view(a, 2, 4, shape=(3, 5)))\n"
    "        T.copy(T.tensor_view(a, 0, 3, shape=(5, 6)), T.tensor_view(y, 1, 1, shape=(5, 6)))\n"
    "        T.copy(T.tensor_view(a, 4, 8, shape=(3, 4), clip=55), T.tensor_view(y, 0, 6, shape=(3, 4)))\n"
    /* A barrier over the grid, three times in one call. */
    MAIN("turned", "a: Tensor[(4, 32), 'i32']")
    "        turn(a)\n"
    "        turn(a)\n"
    "        turn(a)\n"
    /* What the host reads: before the graph writes it, and after. */
    MAIN("early", ON_HOST("x") ", " ON_HOST("y"))
    TEMPORARY("t", "gmem")
    "        T.copy(x, t)\n"
    "        add(t, T.load(x, 0))\n"
    "        T.copy(t, y)\n"
    MAIN("late", ON_HOST("x") ", n: Tensor[(), 'i32'], " ON_HOST("y"))
    TEMPORARY("t", "gmem")
    "        T.copy(x, t)\n"
    "        T.copy(T.tensor_view(t, 2, shape=(4,)), T.tensor_view(y, 2, shape=(4,)))\n"
    "        add(t, T.load(y, n))\n"
    MAIN("stops", ON_HOST("x"))
    TEMPORARY("t", "gmem")
    "        T.copy(x, t)\n"
    "        add(t, 1)\n"
    "        T.abort('enough')\n"
    "    @prim_func(target=CpuTarget(), output_count=2)\n"
    "    def given(x: Tensor[(N,), 'i32', None, host], n: Tensor[(), 'i32'], y: Tensor[(N,), 'i32'], z: Tensor[(N,), 'i32', None, host]) -> None:\n"
    "        T.copy(x, y)\n"
    "        add(y, n)\n"
    "        T.copy(y, z)\n";
/* clang-format on */

static tf_context *context;
static tf_runtime *rt;
static tf_host_code *code;
static tf_program *program;
static tf_stream stream;
static const char *ptx, *manifest;
static const tf_driver *d;

#define OK(call) ck_assert_msg((call) == TF_OK, #call ": %s", tf_runtime_message(rt))
#define CU(call) ck_assert_int_eq(call, CUDA_SUCCESS)

static void load(tf_program **out) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.name = "graphs";
  source.image = ptx;
  source.image_size = strlen(ptx);
  source.manifest = manifest;
  source.manifest_size = strlen(manifest);
  source.entries = tf_host_code_entries(code, &source.entry_count);
  OK(tf_program_load(rt, &source, out));
}

static void setup(void) {
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  const tf_module *module;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_parse(context, "graphs.tir", text, strlen(text), &parse, &module), TF_OK);
  ck_assert_int_eq(tf_emit_ptx(module, &lower, &ptx), TF_OK);
  ck_assert_int_eq(tf_emit_manifest(module, &lower, &manifest), TF_OK);
  ck_assert_int_eq(tf_host_code_create(module, &lower, &code), TF_OK);
  ck_assert_int_eq(tf_runtime_create(&rt), TF_OK);
  options.sim_checks = "all";
  OK(tf_device_open(rt, "sim:sm_80", &options));
  load(&program);
  OK(tf_stream_create(rt, &stream));
  d = &rt->driver;
  CU(d->cuCtxPushCurrent(rt->context));
}

static void teardown(void) {
  CUcontext popped;
  CU(d->cuCtxPopCurrent(&popped));
  OK(tf_stream_destroy(rt, stream));
  tf_program_unload(program);
  tf_runtime_destroy(rt);
  tf_host_code_destroy(code);
  tf_context_destroy(context);
}

/* ---- Tensors and calls ------------------------------------------------------------------------------------------- */

typedef struct tensor {
  DLTensor t;
  int64_t shape[2];
} tensor;

static tensor make(void *data, int64_t rows, int64_t columns) {
  return (tensor){.t = {.data = data, .ndim = columns ? 2 : 1, .dtype = {kDLInt, 32, 1}}, .shape = {rows, columns}};
}

static tf_argument of(tensor *t, bool host) {
  t->t.device = (DLDevice){host ? kDLCPU : kDLCUDA, 0};
  t->t.shape = t->shape;
  return (tf_argument){.kind = TF_ARGUMENT_TENSOR, .value.tensor = &t->t};
}

static tf_argument number(int64_t n) {
  return (tf_argument){.kind = TF_ARGUMENT_INT, .value.i = n};
}

static tf_status call_on(tf_stream s, tf_program *p, const char *name, const tf_argument *arguments, unsigned count) {
  const tf_entry *entry = NULL;
  OK(tf_program_entry(p, name, &entry));
  return tf_entry_call(entry, s, arguments, count);
}

#define CALL(name, ...)                                                                                                \
  call_on(stream, program, name, (tf_argument[]){__VA_ARGS__},                                                         \
          sizeof((tf_argument[]){__VA_ARGS__}) / sizeof(tf_argument))

static int32_t seed;

static void randomize(int32_t *x, int count) {
  for (int i = 0; i < count; i++)
    x[i] = (int32_t)((uint32_t)(seed = (int32_t)((uint32_t)seed * 1664525u + 1013904223u)) >> 8) - 8000000;
}

static size_t free_bytes(void) {
  size_t available, total;
  CU(d->cuMemGetInfo(&available, &total));
  return available;
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

static CUgraph graph;
static CUgraphExec exec;

static void begin(CUstreamCaptureMode mode) {
  CU(d->cuStreamBeginCapture((CUstream)stream, mode));
}

static void end(void) {
  CU(d->cuStreamEndCapture((CUstream)stream, &graph));
  CU(d->cuGraphInstantiate(&exec, graph, 0));
}

static void run(void) {
  CU(d->cuGraphLaunch(exec, (CUstream)stream));
  OK(tf_stream_synchronize(rt, stream));
}

static void drop(void) {
  CU(d->cuGraphExecDestroy(exec));
  CU(d->cuGraphDestroy(graph));
}

static unsigned count_nodes(CUgraphNodeType type) {
  CUgraphNode nodes[256];
  CUgraphNodeType got;
  size_t count = 256;
  unsigned found = 0;
  CU(d->cuGraphGetNodes(graph, nodes, &count));
  for (size_t i = 0; i < count; i++) {
    CU(d->cuGraphNodeGetType(nodes[i], &got));
    found += got == type;
  }
  return found;
}

START_TEST(launches) {
  int32_t in[N], out[N];
  void *x;
  OK(tf_device_alloc(rt, sizeof in, &x));
  tensor t = make(x, N, 0);
  begin((CUstreamCaptureMode)_i);
  OK(CALL("plain", of(&t, false), number(5)));
  end();
  ck_assert_uint_eq(count_nodes(CU_GRAPH_NODE_TYPE_KERNEL), 3);
  for (int round = 0; round < ROUNDS; round++) {
    randomize(in, N);
    OK(tf_device_copy_in(rt, x, in, sizeof in, stream));
    run();
    OK(tf_device_copy_out(rt, out, x, sizeof out, stream));
    for (int i = 0; i < N; i++)
      ck_assert_int_eq(out[i], in[i] + 13);
  }
  drop();
  OK(tf_device_free(rt, x));
}
END_TEST

/* Host memory in and out, temporaries of a loop, another entry. */
START_TEST(host_copies) {
  int32_t in[N], out[N];
  tensor x = make(in, N, 0), y = make(out, N, 0);
  size_t before = free_bytes();
  memset(out, 0x5a, sizeof out);
  begin((CUstreamCaptureMode)_i);
  OK(CALL("around", of(&x, true), number(3), of(&y, true)));
  for (int i = 0; i < N; i++)
    ck_assert_int_eq(out[i], 0x5a5a5a5a); /* nothing has run */
  end();
  ck_assert_uint_eq(count_nodes(CU_GRAPH_NODE_TYPE_MEM_ALLOC), 4);
  ck_assert_uint_eq(count_nodes(CU_GRAPH_NODE_TYPE_MEM_FREE), 4);
  ck_assert_uint_eq(count_nodes(CU_GRAPH_NODE_TYPE_MEMCPY), 8);
  ck_assert_uint_eq(count_nodes(CU_GRAPH_NODE_TYPE_KERNEL), 9);
  for (int round = 0; round < ROUNDS; round++) {
    randomize(in, N);
    run();
    for (int i = 0; i < N; i++)
      ck_assert_int_eq(out[i], in[i] + 2 * (0 + 1 + 2) + 9);
    ck_assert_uint_eq(free_bytes(), before);
  }
  drop();
}
END_TEST

START_TEST(host_temporaries) {
  int32_t in[N], out[N];
  tensor x = make(in, N, 0), y = make(out, N, 0);
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  OK(CALL("staged", of(&x, true), number(-4), of(&y, true)));
  end();
  ck_assert_uint_eq(count_nodes(CU_GRAPH_NODE_TYPE_HOST), 2);
  CU(d->cuGraphDestroy(graph)); /* the executable graph has what it needs */
  graph = NULL;
  for (int round = 0; round < ROUNDS; round++) {
    randomize(in, N);
    memset(out, 0x5a, sizeof out);
    run();
    for (int i = 0; i < N - 3; i++)
      ck_assert_int_eq(out[i], 96);
    ck_assert_int_eq(out[N - 3], in[0]);
    ck_assert_int_eq(out[N - 2], -8);
    ck_assert_int_eq(out[N - 1], in[2]);
  }
  CU(d->cuGraphExecDestroy(exec));
}
END_TEST

static void windows_of(int32_t (*x)[10], int32_t (*y)[10]) {
  int32_t a[6][10];
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 10; c++)
      a[r][c] = 7, y[r][c] = -1;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 5; c++)
      a[r + 2][c + 4] = x[r + 1][c + 2];
  for (int r = 0; r < 5; r++)
    for (int c = 0; c < 6; c++)
      y[r + 1][c + 1] = a[r][c + 3];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++)
      y[r][c + 6] = r + 4 < 6 && c + 8 < 10 ? a[r + 4][c + 8] : 55;
}

START_TEST(windows) {
  int32_t in[6][10], out[6][10], want[6][10];
  tensor x = make(in, 6, 10), y = make(out, 6, 10);
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  OK(CALL("windows", of(&x, true), of(&y, true)));
  end();
  for (int round = 0; round < ROUNDS; round++) {
    randomize(&in[0][0], 60);
    memset(out, 0x5a, sizeof out);
    run();
    windows_of(in, want);
    ck_assert_mem_eq(out, want, sizeof out);
  }
  drop();
}
END_TEST

/* A prepared call, run three times into one graph, with other addresses and another scalar in between; setters afterwards
 * change nothing in the graph. */
START_TEST(prepared_calls) {
  int32_t in[3][N], out[3][N], elsewhere[N];
  const tf_entry *entry = NULL;
  tf_prepared_call *call = NULL;
  tensor x = make(in[0], N, 0), y = make(out[0], N, 0);
  OK(tf_program_entry(program, "around", &entry));
  OK(tf_entry_prepare(entry, (tf_argument[]){of(&x, true), number(0), of(&y, true)}, 3, &call));
  begin((CUstreamCaptureMode)_i);
  for (int k = 0; k < 3; k++) {
    tf_argument rounds = number(k + 1);
    OK(tf_prepared_call_set_pointers(call, 2, (unsigned[]){0, 2}, (void *[]){in[k], out[k]}));
    OK(tf_prepared_call_set_scalar(call, 1, &rounds));
    OK(tf_prepared_call_run(call, stream));
  }
  end();
  OK(tf_prepared_call_set_pointers(call, 2, (unsigned[]){0, 2}, (void *[]){elsewhere, elsewhere}));
  for (int round = 0; round < ROUNDS; round++) {
    randomize(in[0], 3 * N);
    memset(out, 0x5a, sizeof out);
    run();
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < N; i++)
        ck_assert_int_eq(out[k][i], in[k][i] + (k + 1) * k + 3 * (k + 1));
  }
  drop();
  tf_prepared_call_destroy(call);
}
END_TEST

/* Two calls in one graph, of kernels that bring their counters; the graph beside plain launches on another stream. */
START_TEST(grid_barriers) {
  int32_t in[4][32], out[4][32], other[4][32];
  void *a, *b;
  tf_stream second;
  OK(tf_stream_create(rt, &second));
  OK(tf_device_alloc(rt, sizeof in, &a));
  OK(tf_device_alloc(rt, sizeof in, &b));
  tensor t = make(a, 4, 32), u = make(b, 4, 32);
  tf_argument argument = of(&u, false);
  memset(in, 0, sizeof in);
  OK(tf_device_copy_in(rt, b, in, sizeof in, second));
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  OK(CALL("turned", of(&t, false)));
  OK(call_on(second, program, "turned", &argument, 1)); /* its counters are allocated now, which the capture survives */
  OK(CALL("turned", of(&t, false)));
  end();
  ck_assert_uint_eq(count_nodes(CU_GRAPH_NODE_TYPE_KERNEL), 6);
  for (int round = 0; round < ROUNDS; round++) {
    randomize(&in[0][0], 128);
    OK(tf_device_copy_in(rt, a, in, sizeof in, stream));
    OK(tf_device_copy_in(rt, b, in, sizeof in, second));
    run();
    OK(call_on(second, program, "turned", &argument, 1));
    OK(tf_device_copy_out(rt, out, a, sizeof out, stream));
    OK(tf_device_copy_out(rt, other, b, sizeof out, second));
    for (int c = 0; c < 4; c++) {
      ck_assert_mem_eq(out[c], in[(c + 6) % 4], sizeof in[c]);
      ck_assert_mem_eq(other[c], in[(c + 3) % 4], sizeof in[c]);
    }
  }
  drop();
  OK(tf_device_free(rt, a));
  OK(tf_device_free(rt, b));
  OK(tf_stream_destroy(rt, second));
}
END_TEST

/* ---- While a stream is being captured ---------------------------------------------------------------------------- */

/* Loading, allocating, outputs that the runtime makes: no part of the graph, and no harm to it. */
START_TEST(other_calls) {
  int32_t in[N];
  tf_program *another = NULL;
  void *memory = NULL;
  DLTensor y = {0}, z = {0};
  tensor x = make(in, N, 0);
  begin((CUstreamCaptureMode)_i);
  load(&another);
  OK(tf_device_alloc(rt, 64, &memory));
  OK(tf_device_free(rt, memory));
  const tf_argument arguments[] = {of(&x, true),
                                   number(9),
                                   {.kind = TF_ARGUMENT_OUTPUT, .value.output = &y},
                                   {.kind = TF_ARGUMENT_OUTPUT, .value.output = &z}};
  OK(call_on(stream, another, "given", arguments, 4));
  end();
  ck_assert_uint_eq(count_nodes(CU_GRAPH_NODE_TYPE_KERNEL), 1);
  for (int round = 0; round < ROUNDS; round++) {
    randomize(in, N);
    run();
    for (int i = 0; i < N; i++)
      ck_assert_int_eq(((int32_t *)z.data)[i], in[i] + 9);
  }
  drop();
  OK(tf_tensor_free(rt, &y));
  OK(tf_tensor_free(rt, &z));
  tf_program_unload(another);
}
END_TEST

/* The host reads what no node writes: the value at the time of the call. */
START_TEST(loads) {
  int32_t in[N], out[N];
  tensor x = make(in, N, 0), y = make(out, N, 0);
  randomize(in, N);
  int32_t first = in[0];
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  OK(CALL("early", of(&x, true), of(&y, true)));
  OK(CALL("late", of(&x, true), number(1), of(&y, true)));
  OK(CALL("late", of(&x, true), number(6), of(&y, true)));
  for (int n = 2; n < 6; n += 3) {
    ck_assert_int_eq(CALL("late", of(&x, true), number(n), of(&y, true)), TF_UNSUPPORTED);
    ck_assert_msg(strstr(tf_runtime_message(rt), "late: y: load: the stream is being captured"), "%s",
                  tf_runtime_message(rt));
    tf_runtime_clear_error(rt);
  }
  end();
  randomize(in, N);
  run();
  for (int i = 6; i < N; i++)
    ck_assert_int_eq(out[i], in[i] + first);
  drop();
}
END_TEST

/* Refusals end neither the capture nor the runtime, and what they captured before gives its memory back. */
START_TEST(refusals) {
  int32_t in[N], out[N];
  tensor x = make(in, N, 0), y = make(out, N, 0);
  void *memory;
  OK(tf_device_alloc(rt, sizeof in, &memory));
  size_t before = free_bytes();
  begin((CUstreamCaptureMode)_i);
  const char *said[5] = {"tf_stream_synchronize: the stream is being captured",
                         "tf_device_copy_in: the stream is being", "tf_device_copy_out: the stream is being captured",
                         "enough", "graphs cannot own memory here"};
  for (int k = 0; k < 5; k++) {
    rt->graph_memory = k != 4;
    tf_status status = k == 0   ? tf_stream_synchronize(rt, stream)
                       : k == 1 ? tf_device_copy_in(rt, memory, in, sizeof in, stream)
                       : k == 2 ? tf_device_copy_out(rt, out, memory, sizeof out, stream)
                       : k == 3 ? CALL("stops", of(&x, true))
                                : CALL("around", of(&x, true), number(1), of(&y, true));
    ck_assert_int_eq(status, k == 3 ? TF_TRAP : TF_UNSUPPORTED);
    ck_assert_msg(strstr(tf_runtime_message(rt), said[k]), "%s", tf_runtime_message(rt));
    tf_runtime_clear_error(rt);
  }
  tensor a = make(memory, 4, 32);
  ck_assert_int_eq(CALL("turned", of(&a, false)), TF_UNSUPPORTED);
  ck_assert_msg(strstr(tf_runtime_message(rt), "a kernel with a grid barrier cannot be captured"), "%s",
                tf_runtime_message(rt));
  tf_runtime_clear_error(rt);
  rt->graph_memory = true;
  OK(CALL("around", of(&x, true), number(2), of(&y, true)));
  end();
  randomize(in, N);
  run();
  for (int i = 0; i < N; i++)
    ck_assert_int_eq(out[i], in[i] + 2 * (0 + 1) + 6);
  drop();
  ck_assert_uint_eq(free_bytes(), before);
  OK(tf_device_free(rt, memory));
}
END_TEST

/* A capture that was ended by something else: the driver's error, and a clean runtime. */
START_TEST(ended_captures) {
  int32_t in[N], out[N];
  tensor x = make(in, N, 0), y = make(out, N, 0);
  size_t before = free_bytes();
  begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
  OK(CALL("around", of(&x, true), number(2), of(&y, true)));
  ck_assert_int_eq(d->cuStreamSynchronize((CUstream)stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ck_assert_int_eq(CALL("staged", of(&x, true), number(2), of(&y, true)), TF_DRIVER);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"));
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(d->cuStreamEndCapture((CUstream)stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ck_assert_uint_eq(free_bytes(), before);
  randomize(in, N);
  OK(CALL("around", of(&x, true), number(1), of(&y, true))); /* at once, outside of a capture */
  for (int i = 0; i < N; i++)
    ck_assert_int_eq(out[i], in[i] + 3);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("graphs");
  tcase_set_timeout(c, 60);
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_loop_test(c, launches, 0, 3);
  tcase_add_loop_test(c, host_copies, 0, 3);
  tcase_add_test(c, host_temporaries);
  tcase_add_test(c, windows);
  tcase_add_loop_test(c, prepared_calls, 0, 3);
  tcase_add_test(c, grid_barriers);
  tcase_add_loop_test(c, other_calls, 0, 3);
  tcase_add_test(c, loads);
  tcase_add_loop_test(c, refusals, 0, 3);
  tcase_add_test(c, ended_captures);
  return run_case("graphs", c);
}
