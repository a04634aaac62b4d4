// Recursive device functions with different depths per lane.
__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ __noinline__ void hanoi(int n, int from, int to, int via, int *moves) {
  if (n == 0) return;
  hanoi(n - 1, from, via, to, moves);
  *moves = *moves * 3 + from - to;
  hanoi(n - 1, via, to, from, moves);
}

extern "C" __global__ void recurse(int *out) {
  int t = threadIdx.x, moves = 0;
  hanoi(t % 7, 0, 2, 1, &moves);
  out[t] = ackermann(t % 3, t % 5) * 100000 + moves % 1000;
}
