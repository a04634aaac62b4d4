/* Without TileFoundry's runtime: PTX and manifest of tf-llc, launched with bare CUDA driver calls.
 *
 *   tf-llc saxpy.tir -o saxpy.ptx && tf-llc --emit=manifest saxpy.tir -o saxpy.json
 *   cc launch.c $(pkg-config --cflags --libs jansson) -ldl -o launch
 *   ./launch saxpy.ptx saxpy.json
 *
 * What the manifest tells a host about a kernel, and what this program does with it:
 *
 *   ptx_name                     the function to ask the module for
 *   parameters, in PTX's order   scalars by value, tensors as pointers, then hidden i32 extents ("of" parameter, "axis")
 *   default_grid, default_block  expressions over extents; here {"var": "S"}, and numbers
 *   shared.dynamic_bytes         dynamic shared memory of the launch
 *
 * libcuda.so.1 is opened at run time; where there is none, libtfsim.so has the same symbols over the simulated device. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum { ROWS = 5, COLUMNS = 512, COUNT = ROWS * COLUMNS };

/* ---- The driver: the few functions that are needed ---- */

typedef struct driver {
  int (*init)(unsigned flags);
  int (*device_get)(int *device, int ordinal);
  int (*context_retain)(void **context, int device);
  int (*context_set)(void *context);
  int (*module_load)(void **module, const void *image);
  int (*module_function)(void **function, void *module, const char *name);
  int (*mem_alloc)(uint64_t *pointer, size_t bytes);
  int (*mem_free)(uint64_t pointer);
  int (*copy_in)(uint64_t device, const void *host, size_t bytes);
  int (*copy_out)(void *host, uint64_t device, size_t bytes);
  int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                unsigned shared, void *stream, void **parameters, void **extra);
} driver;

static void need(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "launch: %s failed\n", what);
  exit(1);
}

static void find(void *library, const char *symbol, void *member) {
  void *address = dlsym(library, symbol);
  need(address != NULL, symbol);
  memcpy(member, &address, sizeof address);
}

static driver open_driver(void) {
  driver d;
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) library = dlopen("libtfsim.so", RTLD_NOW);
  need(library != NULL, "opening libcuda.so.1 or libtfsim.so");
  find(library, "cuInit", &d.init);
  find(library, "cuDeviceGet", &d.device_get);
  find(library, "cuDevicePrimaryCtxRetain", &d.context_retain);
  find(library, "cuCtxSetCurrent", &d.context_set);
  find(library, "cuModuleLoadData", &d.module_load);
  find(library, "cuModuleGetFunction", &d.module_function);
  find(library, "cuMemAlloc_v2", &d.mem_alloc);
  find(library, "cuMemFree_v2", &d.mem_free);
  find(library, "cuMemcpyHtoD_v2", &d.copy_in);
  find(library, "cuMemcpyDtoH_v2", &d.copy_out);
  find(library, "cuLaunchKernel", &d.launch);
  return d;
}

/* ---- Files ---- */

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  need(file != NULL, path);
  char *text = calloc(1, 1 << 20);
  need(text && fread(text, 1, (1 << 20) - 1, file) > 0, path);
  fclose(file);
  return text;
}

static const char *string_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  need(text != NULL, key);
  return text;
}

/* ---- The launch ---- */

/* An extent: a number, or the one DimVar of this kernel, whose value is the number of rows. */
static unsigned extent(const json_t *e) {
  return json_is_integer(e) ? (unsigned)json_integer_value(e) : ROWS;
}

typedef struct arguments {
  float a;
  uint64_t x, y, out;
  int32_t rows;
} arguments;

/* The address of the value that a parameter of the manifest wants. */
static void *value_of(const json_t *parameter, arguments *args) {
  const char *name = string_of(parameter, "name");
  if (strcmp(string_of(parameter, "kind"), "hidden_shape") == 0) return &args->rows;
  if (strcmp(name, "a") == 0) return &args->a;
  if (strcmp(name, "x") == 0) return &args->x;
  return strcmp(name, "y") == 0 ? &args->y : &args->out;
}

static void launch(const driver *d, void *module, const json_t *kernel, arguments *args) {
  void *function, *values[16];
  const json_t *list = json_object_get(kernel, "parameters"), *grid = json_object_get(kernel, "default_grid"),
               *block = json_object_get(kernel, "default_block");
  need(json_array_size(list) <= 16, "reading the manifest");
  for (size_t i = 0; i < json_array_size(list); i++)
    values[i] = value_of(json_array_get(list, i), args);
  unsigned g[3], b[3];
  for (size_t i = 0; i < 3; i++) {
    g[i] = extent(json_array_get(grid, i));
    b[i] = extent(json_array_get(block, i));
  }
  unsigned shared = (unsigned)json_integer_value(json_object_get(json_object_get(kernel, "shared"), "dynamic_bytes"));
  need(d->module_function(&function, module, string_of(kernel, "ptx_name")) == 0, "cuModuleGetFunction");
  need(d->launch(function, g[0], g[1], g[2], b[0], b[1], b[2], shared, NULL, values, NULL) == 0, "cuLaunchKernel");
}

static void *start(const driver *d, const char *ptx) {
  void *context, *module;
  int device;
  need(d->init(0) == 0, "cuInit");
  need(d->device_get(&device, 0) == 0, "cuDeviceGet");
  need(d->context_retain(&context, device) == 0, "cuDevicePrimaryCtxRetain");
  need(d->context_set(context) == 0, "cuCtxSetCurrent");
  need(d->module_load(&module, ptx) == 0, "cuModuleLoadData");
  return module;
}

static void compute(const driver *d, const char *ptx, const json_t *kernel, const float *x, const float *y, float *out) {
  size_t bytes = COUNT * sizeof *x;
  arguments args = {.a = -3.25f, .rows = ROWS};
  void *module = start(d, ptx);
  need(d->mem_alloc(&args.x, bytes) == 0 && d->mem_alloc(&args.y, bytes) == 0 && d->mem_alloc(&args.out, bytes) == 0,
       "cuMemAlloc");
  need(d->copy_in(args.x, x, bytes) == 0 && d->copy_in(args.y, y, bytes) == 0, "cuMemcpyHtoD");
  launch(d, module, kernel, &args);
  need(d->copy_out(out, args.out, bytes) == 0, "cuMemcpyDtoH"); /* waits for the launch */
  need(d->mem_free(args.x) == 0 && d->mem_free(args.y) == 0 && d->mem_free(args.out) == 0, "cuMemFree");
}

int main(int argc, char **argv) {
  static float x[COUNT], y[COUNT], out[COUNT];
  if (argc != 3) return fprintf(stderr, "usage: launch saxpy.ptx saxpy.json\n"), 2;
  for (int i = 0; i < COUNT; i++) {
    x[i] = (float)(i % 101) - 40;
    y[i] = (float)i / 4;
  }
  char *ptx = read_text(argv[1]);
  json_t *manifest = json_load_file(argv[2], 0, NULL);
  need(manifest != NULL, argv[2]);
  driver d = open_driver();
  compute(&d, ptx, json_array_get(json_object_get(manifest, "kernels"), 0), x, y, out);
  for (int i = 0; i < COUNT; i++) /* every value is exact in float */
    need(out[i] == -3.25f * ((float)(i % 101) - 40) + (float)i / 4, "comparing the result");
  printf("%d values of a*x + y are right\n", COUNT);
  json_decref(manifest);
  free(ptx);
  return 0;
}
