// mbarrier: a producer warp fills stages by bulk copies, a consumer warp waits for the transaction count.
#include <cuda/barrier>
#include <cuda/ptx>
#include <cstdint>
namespace ptx = cuda::ptx;

extern "C" __global__ void pipeline(const int *x, int *y, int steps) {
  __shared__ __align__(128) int stage[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x, lane = t % 32;
  if (t == 0)
    for (int i = 0; i < 2; i++) ptx::mbarrier_init(&full[i], 1), ptx::mbarrier_init(&empty[i], 32);
  __syncthreads();
  if (t < 32) {
    if (lane == 0)
      for (int i = 0; i < steps; i++) {
        int s = i % 2;
        if (i >= 2)
          while (!ptx::mbarrier_try_wait_parity(&empty[s], (i / 2 - 1) % 2)) {}
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 256);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage[s], x + i * 64, 256, &full[s]);
      }
  } else {
    int sum = 0;
    for (int i = 0; i < steps; i++) {
      int s = i % 2;
      while (!ptx::mbarrier_try_wait_parity(&full[s], i / 2 % 2)) {}
      sum = sum * 3 + stage[s][lane] - stage[s][63 - lane];
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &empty[s]);
    }
    y[lane] = sum;
  }
}
