// Calls through a table of device functions, a different one per lane, and virtual calls.
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int minus(int x) { return -x; }
typedef int (*function)(int);
__device__ function table[3] = {twice, square, minus};

struct Shape { __device__ virtual int area(int) const = 0; };
struct Box : Shape { __device__ int area(int s) const override { return s * s; } };
struct Bar : Shape { __device__ int area(int s) const override { return s + 5; } };

extern "C" __global__ void call(const int *x, int *y, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  Box box;
  Bar bar;
  const Shape *shape = i % 2 ? (const Shape *)&box : (const Shape *)&bar;
  y[i] = table[i % 3](x[i]) + shape->area(i);
}
