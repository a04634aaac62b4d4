# RUN: %python %s %tf-run %t
"""A product for performance: three stages of asynchronous copies into swizzled tiles, operands straight from shared memory,
run-time M, N and K. Right under several schedules, and free of bank conflicts."""
import json
import subprocess
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(41)

KERNEL = """from tilefoundry import *

M = DimVar("M", 1, 65)  # in tiles
N = DimVar("N", 1, 65)
K = DimVar("K", 3, 513)
BM = 128
BN = 128
BK = 32
STAGES = 3

atom = T.cuda.mma.atom(op=T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN)
tile = T.cuda.mma.tile(atom, (BM, BN, BK), (2, 2))


@prim_func(target=CudaTarget("sm_80"))
def matmul(a: Tensor[(128 * M, 32 * K), "bf16"], b: Tensor[(32 * K, 128 * N), "bf16"], c: Tensor[(128 * M, 128 * N), "f32"]) -> None:
    with Mesh((Topology("cta", M * N),), Layout(shape=(M, N), strides=(N, 1)), ("m", "n")) as grid:
        with tile.required_scope as block:
            a_tiles = T.alloc_tensor(TensorType(shape=(STAGES, BM, BK), dtype=DType.bf16, layout=ComposedLayout(Swizzle(2, 3, 3), 0, Layout(shape=(STAGES, BM, BK), strides=(BM * BK, BK, 1))), storage=StorageKind.SMEM))
            b_tiles = T.alloc_tensor(TensorType(shape=(STAGES, BK, BN), dtype=DType.bf16, layout=ComposedLayout(Swizzle(3, 3, 4), 0, Layout(shape=(STAGES, BK, BN), strides=(BK * BN, BN, 1))), storage=StorageKind.SMEM))
            acc = T.alloc_tensor(TensorType(shape=(BM, BN), dtype=DType.f32, layout=tile.C, storage=StorageKind.RMEM))
            row = T.coord(grid.m) * BM
            col = T.coord(grid.n) * BN
            T.fill(acc, 0.0)
            for s in range(STAGES - 1):
                T.copy_async(
                    T.tensor_view(a, row, s * BK, shape=(BM, BK), layout=T.spread(block, (BM, BK), 8)),
                    T.tensor_view(a_tiles, s, 0, 0, shape=(BM, BK), layout=T.spread(block, (BM, BK), 8)),
                )
                T.copy_async(
                    T.tensor_view(b, s * BK, col, shape=(BK, BN), layout=T.spread(block, (BK, BN), 8)),
                    T.tensor_view(b_tiles, s, 0, 0, shape=(BK, BN), layout=T.spread(block, (BK, BN), 8)),
                )
                T.cp_async_commit()
            for k in range(K):
                T.cp_async_wait(STAGES - 2)
                T.sync(block)
                n = k + STAGES - 1
                if n < K:
                    T.copy_async(
                        T.tensor_view(a, row, n * BK, shape=(BM, BK), layout=T.spread(block, (BM, BK), 8)),
                        T.tensor_view(a_tiles, n % STAGES, 0, 0, shape=(BM, BK), layout=T.spread(block, (BM, BK), 8)),
                    )
                    T.copy_async(
                        T.tensor_view(b, n * BK, col, shape=(BK, BN), layout=T.spread(block, (BK, BN), 8)),
                        T.tensor_view(b_tiles, n % STAGES, 0, 0, shape=(BK, BN), layout=T.spread(block, (BK, BN), 8)),
                    )
                T.cp_async_commit()
                T.mma(acc, T.tensor_view(a_tiles, k % STAGES, 0, 0, shape=(BM, BK)), T.tensor_view(b_tiles, k % STAGES, 0, 0, shape=(BK, BN)), atom=tile)
            T.copy(acc, T.tensor_view(c, row, col, shape=(BM, BN)))
"""

for m, n, k in ((1, 1, 3), (2, 1, 5), (1, 2, 8)):
    a = rng.integers(-7, 8, (128 * m, 32 * k)).astype(np.float32)
    b = rng.integers(-7, 8, (32 * k, 128 * n)).astype(np.float32)
    for options in ((), ("--seed=5",)):
        check.run(KERNEL, {"a": a, "b": b}, {"c": (a @ b, 0, 0)}, options)

# Each warp moves 512 bytes with every request to shared memory, ldmatrix.x4 and 16-byte cp.async: four ways, if no bank is
# asked twice. Registers stay registers.
counted = subprocess.run([sys.argv[1], "--counters=json", "--dim=M=1", "--dim=N=1", "--dim=K=4", "--arg=a=random:1", "--arg=b=random:2",
                          str(check.scratch / "kernel.tir")], capture_output=True, text=True, check=True)
total = json.loads(counted.stdout)["total"]["counters"]
warps, tiles = 4, 4
assert total["shared_requests"] == warps * tiles * (2 * 8 + 8), total
assert total["shared_ways"] == 4 * total["shared_requests"], total
assert total["local_requests"] == 0 and total["mma"] == warps * tiles * 2 * 32, total
