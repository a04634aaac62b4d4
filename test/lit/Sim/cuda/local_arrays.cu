// Arrays in local memory with run-time indices, structs by value, a switch with a jump table.
struct Params { int table[9]; double weight; char tag; };

extern "C" __global__ void mix(Params p, const int *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int order[16];
  for (int k = 0; k < 16; k++) order[k] = (k * 7 + x[i]) & 15;
  for (int k = 0; k < 16; k++) { // insertion by run-time positions
    int at = order[k], v = order[(at + 3) & 15];
    order[at] = v ^ k;
  }
  int sum = 0;
  for (int k = 0; k < 16; k++) {
    switch (order[k] & 7) {
    case 0: sum += 1; break;
    case 1: sum *= 3; break;
    case 2: sum -= p.table[k % 9]; break;
    case 3: sum ^= 0x55; break;
    case 4: sum += x[i]; break;
    case 5: sum = sum * 2 + 1; break;
    case 6: sum -= 9; break;
    default: sum += p.tag;
    }
  }
  y[i] = sum * p.weight;
}
