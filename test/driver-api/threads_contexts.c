/* Several threads: each with a context of its own that it makes, pushes and pops, and all of them in the primary context
 * with streams of their own. */
#include "host.h"

#include <pthread.h>

/* x[i] = x[i] * 3 + add, 50 times over */
static const char ptx[] =
    PTX_HEAD ".visible .entry churn(.param .u64 x, .param .u32 add, .param .u32 n) {\n" PTX_INDEX
             "ld.param.u64 %rd1, [x]; ld.param.u32 %r5, [add]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
             "ld.global.u32 %r6, [%rd1]; mov.u32 %r7, 0;\nagain: mad.lo.u32 %r6, %r6, 3, %r5; add.u32 %r7, %r7, 1;\n"
             "setp.lt.u32 %p2, %r7, 50; @%p2 bra again; st.global.u32 [%rd1], %r6; ret; }\n";

enum { THREADS = 4, N = 200 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned expected(unsigned start, unsigned add) {
  for (int i = 0; i < 50; i++)
    start = start * 3 + add;
  return start;
}

/* The work of a thread in whatever context is current. */
static int work(unsigned number) {
  CUmodule module = NULL;
  CUfunction f;
  CUstream stream = NULL;
  CUdeviceptr x = 0;
  unsigned n = N, add = number + 1, got[N];
  int bad = 0;
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    CUresult result_ = (call);                                                                                         \
    if (result_ == CUDA_SUCCESS) break;                                                                                \
    pthread_mutex_lock(&lock);                                                                                         \
    report(#call, result_, __FILE__, __LINE__);                                                                        \
    pthread_mutex_unlock(&lock);                                                                                       \
    bad = 1;                                                                                                           \
  } while (0)
  TRY(cuModuleLoadData(&module, ptx));
  if (!bad) TRY(cuModuleGetFunction(&f, module, "churn"));
  if (!bad) TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  if (!bad) TRY(cuMemAlloc(&x, sizeof got));
  if (!bad) TRY(cuMemsetD32Async(x, number, N, stream));
  void *params[] = {&x, &add, &n};
  for (int i = 0; i < 2 && !bad; i++)
    TRY(cuLaunchKernel(f, 2, 1, 1, 128, 1, 1, 0, stream, params, NULL));
  if (!bad) TRY(cuMemcpyDtoHAsync(got, x, sizeof got, stream));
  if (!bad) TRY(cuStreamSynchronize(stream));
  for (unsigned i = 0; i < N && !bad; i++)
    bad = got[i] != expected(expected(number, add), add);
  if (x) TRY(cuMemFree(x));
  if (stream) TRY(cuStreamDestroy(stream));
  if (module) TRY(cuModuleUnload(module));
  return bad;
}

typedef struct worker {
  pthread_t thread;
  unsigned number;
  CUcontext primary;
  int bad;
} worker;

static void *run(void *user) {
  worker *w = user;
  CUcontext mine = NULL, popped = NULL, now = NULL;
  int bad = 0;
  TRY(CREATE_CONTEXT(&mine, 0, 0));
  if (!bad) bad |= work(w->number);
  if (mine) TRY(cuCtxPopCurrent(&popped));
  if (!bad) TRY(cuCtxGetCurrent(&now));
  if (!bad && (popped != mine || now)) bad = 1;
  if (!bad) TRY(cuCtxPushCurrent(w->primary)); /* shared by all threads */
  if (!bad) {
    bad |= work(w->number + 10);
    TRY(cuCtxPopCurrent(NULL));
  }
  if (mine) TRY(cuCtxDestroy(mine));
  w->bad = bad;
  return NULL;
}

int main(void) {
  worker workers[THREADS] = {0};
  CUcontext primary = NULL;
  unsigned flags;
  int started = 0, active = 0;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  for (; started < THREADS; started++) {
    workers[started].number = (unsigned)started;
    workers[started].primary = primary;
    REQUIRE(pthread_create(&workers[started].thread, NULL, run, &workers[started]) == 0);
  }
done:
  for (int i = 0; i < started; i++)
    pthread_join(workers[i].thread, NULL);
  for (int i = 0; i < started; i++)
    if (workers[i].bad) status = 1;
  if (primary) RELEASE(cuDevicePrimaryCtxRelease(0));
  if (primary) RELEASE(cuDevicePrimaryCtxGetState(0, &flags, &active));
  if (active) status = 1;
  if (!status) printf("%d threads, %d contexts\n", THREADS, THREADS + 1);
  return status;
}
