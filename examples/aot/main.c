/* Calls a host function that was compiled ahead of time. No compiler and no LLVM at run time:
 *
 *     tf-llc --emit=obj smooth.tir -o smooth.o
 *     tf-llc --emit=header smooth.tir -o smooth.h
 *     cc main.c smooth.o -ltilefoundry-runtime
 *
 * It runs on a CUDA device if there is one, else on the simulated device. */
#include <stdio.h>

#include "smooth.h"

enum { N = 1000, ROUNDS = 7 };

static DLTensor host_tensor(float *values, int64_t *shape) {
  return (DLTensor){.data = values, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
}

static int failed(tf_runtime *runtime) {
  fprintf(stderr, "%s\n", tf_runtime_message(runtime));
  tf_runtime_destroy(runtime);
  return 1;
}

/* One round as the kernel has it, operation by operation. */
static void step(const float *x, float *y) {
  for (int i = 0; i < N; i++)
    y[i] = (x[i > 0 ? i - 1 : 0] + x[i + 1 < N ? i + 1 : N - 1] + x[i]) / 3.0f;
}

int main(void) {
  static float values[N], expected[2][N];
  int64_t shape[] = {N};
  for (int i = 0; i < N; i++)
    values[i] = expected[0][i] = (float)(i * i % 101);
  for (int round = 0; round < ROUNDS; round++)
    step(expected[round % 2], expected[(round + 1) % 2]);

  tf_runtime *runtime;
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.target = SMOOTH_TARGET;
  if (tf_runtime_create(&runtime) != TF_OK) return 1;
  if (tf_device_open(runtime, "auto", &options) != TF_OK) return failed(runtime);

  DLTensor x = host_tensor(values, shape), y = {0}; /* blank: the runtime makes it */
  if (smooth(runtime, NULL, &x, ROUNDS, &y) != TF_OK) return failed(runtime);
  int wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += ((const float *)y.data)[i] != expected[ROUNDS % 2][i];
  tf_tensor_free(runtime, &y);
  printf("%d values smoothed %d times, %d wrong\n", N, ROUNDS, wrong);

  /* What does not fit is a status and a message, and nothing was launched. */
  x.dtype.bits = 64;
  if (smooth(runtime, NULL, &x, ROUNDS, &y) != TF_OK) printf("refused: %s\n", tf_runtime_message(runtime));
  tf_runtime_clear_error(runtime);
  x.dtype.bits = 32;
  if (smooth(runtime, NULL, &x, -1, &y) != TF_OK) printf("refused: %s\n", tf_runtime_message(runtime));
  tf_runtime_destroy(runtime);
  return wrong != 0;
}
