/* Compile and run in one process: text -> module -> executable -> loaded -> called. The second start finds the executable on disk.
 *
 *   cc saxpy.c $(pkg-config --cflags --libs tilefoundry tilefoundry-runtime) -o saxpy
 *   ./saxpy              on the first CUDA device, or on the simulated one where there is none
 *
 * The compiler and the runtime are two libraries. What goes from one to the other is PTX, the manifest, which says how the
 * kernels want to be launched, and machine code of host functions. A program that only launches needs the second one alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Runtime.h>
#include <tilefoundry/TileFoundry.h>

enum { ROWS = 3, COLUMNS = 512, COUNT = ROWS * COLUMNS };

static const char source[] =
    "S = DimVar('S', 1, 65536)\n"
    "\n"
    "@prim_func(target=CudaTarget('sm_80'))\n"
    "def saxpy(a: Tensor[(), 'f32'], x: Tensor[(S, 512), 'f32'], y: Tensor[(S, 512), 'f32']) -> None:\n"
    "    with Mesh((Topology('cta', S), Topology('thread', 128)), Layout(shape=(S, 128)), ('row', 't')) as m:\n"
    "        own = ShardLayout(layout=Layout(shape=(S, 128, 4)), attrs=(Split(0), Split(1)), mesh=m)\n"
    "        r = T.alloc_tensor(TensorType(shape=(S, 512), dtype=DType.f32, layout=own, storage=StorageKind.RMEM))\n"
    "        T.copy(T.tensor_view(x, layout=own), r)\n"
    "        T.binary(r, a, r, kind='mul')\n"
    "        T.binary(r, T.tensor_view(y, layout=own), r, kind='add')\n"
    "        T.copy(r, T.tensor_view(y, layout=own))\n";

/* ---- Compiling: messages are in the context ---- */

static int complain(tf_context *context) {
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++)
    fputs(tf_diagnostic_render(context, tf_context_diagnostic(context, i)), stderr);
  return 1;
}

static tf_status compile(tf_context *context, tf_executable **out) {
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  const tf_module *module;
  tf_status status = tf_parse(context, "saxpy.tir", source, strlen(source), &parse, &module);
  return status == TF_OK ? tf_executable_create(module, &lower, NULL, out) : status;
}

/* ---- Running: the first failure and its message are in the runtime object ---- */

static DLTensor matrix(void *data, DLDevice device, int64_t *shape) {
  return (DLTensor){.data = data, .device = device, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = shape};
}

static tf_status call(tf_runtime *rt, const tf_entry *entry, void *x, void *y) {
  tf_device_info info;
  tf_status status = tf_device_get_info(rt, &info);
  if (status != TF_OK) return status;
  printf("on %s\n", info.name);
  int64_t shape[] = {ROWS, COLUMNS};
  DLTensor tx = matrix(x, info.device, shape), ty = matrix(y, info.device, shape);
  tf_argument arguments[] = {{TF_ARGUMENT_FLOAT, {.f = 2.5}},
                             {TF_ARGUMENT_TENSOR, {.tensor = &tx}},
                             {TF_ARGUMENT_TENSOR, {.tensor = &ty}}};
  return tf_entry_call(entry, NULL, arguments, 3);
}

static tf_status run(tf_runtime *rt, const tf_executable *executable, const float *x, float *y) {
  tf_program_source program_source = TF_PROGRAM_SOURCE_INIT;
  program_source.name = "saxpy";
  tf_executable_source(executable, &program_source);

  tf_program *program = NULL;
  const tf_entry *entry = NULL;
  void *dx = NULL, *dy = NULL;
  size_t bytes = COUNT * sizeof *x;
  tf_status status = tf_device_open(rt, "auto", NULL);
  if (status == TF_OK) status = tf_program_load(rt, &program_source, &program);
  if (status == TF_OK) status = tf_program_entry(program, NULL, &entry);
  if (status == TF_OK) status = tf_device_alloc(rt, bytes, &dx);
  if (status == TF_OK) status = tf_device_alloc(rt, bytes, &dy);
  if (status == TF_OK) status = tf_device_copy_in(rt, dx, x, bytes, NULL);
  if (status == TF_OK) status = tf_device_copy_in(rt, dy, y, bytes, NULL);
  if (status == TF_OK) status = call(rt, entry, dx, dy);
  if (status == TF_OK) status = tf_device_copy_out(rt, y, dy, bytes, NULL);
  if (dx) tf_device_free(rt, dx);
  if (dy) tf_device_free(rt, dy);
  tf_program_unload(program);
  return status;
}

/* ---- Together ---- */

static int compute(const float *x, float *y) {
  tf_context *context;
  tf_runtime *rt;
  tf_executable *executable = NULL;
  if (tf_context_create(&context) != TF_OK) return 1;
  int failed = compile(context, &executable) != TF_OK && complain(context);
  tf_context_destroy(context); /* the executable needs neither it nor the module */
  if (!failed && tf_runtime_create(&rt) == TF_OK) {
    failed = run(rt, executable, x, y) != TF_OK;
    if (failed) fprintf(stderr, "%s\n", tf_runtime_message(rt));
    tf_runtime_destroy(rt);
  }
  tf_executable_destroy(executable);
  return failed;
}

int main(void) {
  static float x[COUNT], y[COUNT];
  for (int i = 0; i < COUNT; i++) {
    x[i] = (float)(i % 97) - 31;
    y[i] = (float)i / 8;
  }
  if (compute(x, y)) return 1;
  for (int i = 0; i < COUNT; i++) /* every value is exact in float */
    if (y[i] != 2.5f * ((float)(i % 97) - 31) + (float)i / 8) {
      fprintf(stderr, "y[%d] is %g\n", i, (double)y[i]);
      return 1;
    }
  printf("%d values of a*x + y are right\n", COUNT);
  return 0;
}
