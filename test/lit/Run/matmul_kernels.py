# RUN: %python %s %tf-run %t
"""The pipelined products: bf16, f16, i8, e4m3; whole tiles, and any sizes at tile - 1, tile, tile + 1; K shorter than the ring of
stages; one-hot operands; free of bank conflicts."""
import json
import subprocess
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(61)


def integers(shape, dtype=np.float32, limit=7):
    return rng.integers(-limit, limit + 1, shape).astype(dtype)


for m, n, k in ((1, 1, 1), (1, 2, 2), (2, 1, 3), (1, 1, 8)):
    for define, dtype in ([], np.float32), (["-DF16=1"], np.float16):
        a, b = integers((128 * m, 32 * k), dtype), integers((32 * k, 128 * n), dtype)
        want = a.astype(np.float32) @ b.astype(np.float32)
        for options in ([], ["--seed=3"]) if k == 3 else ([],):
            check.run("matmul_pipeline.tir", {"a": a, "b": b}, {"c": (want, 0, 0)}, define + options)

# Random values: f32 sums of K products, each within a rounding of the sum of magnitudes.
a, b = tfcheck.bf16(rng.standard_normal((128, 256))), tfcheck.bf16(rng.standard_normal((256, 128)))
exact = a.astype(np.float64) @ b.astype(np.float64)
got = check.run("matmul_pipeline.tir", {"a": a, "b": b}, {"c": (exact, 1e-2, 1e-3)})["c"]
assert (np.abs(got - exact) <= 256 * 2.0**-24 * (np.abs(a).astype(np.float64) @ np.abs(b))).all()

# Every size around the tile; rows of a multiple of 8 take the asynchronous copies, others ordinary ones.
for vec, shapes in ((8, ((1, 8, 8), (127, 120, 24), (128, 136, 32), (129, 128, 40), (5, 264, 104))),
                    (1, ((1, 1, 1), (127, 129, 31), (129, 127, 33), (130, 5, 67)))):
    for m, n, k in shapes:
        a, b = integers((m, k)), integers((k, n))
        check.run("matmul_any.tir", {"a": a, "b": b}, {"c": (a @ b, 0, 0)}, [f"-DVEC={vec}"])

for m, n, k in ((1, 1, 1), (1, 2, 2), (2, 1, 4)):
    a, b = integers((128 * m, 64 * k), np.int8, 127), integers((128 * n, 64 * k), np.int8, 127)
    check.run("matmul_i8.tir", {"a": a, "b": b}, {"c": (a.astype(np.int32) @ b.astype(np.int32).T, 0, 0)})
    a, b = integers((128 * m, 64 * k)), integers((128 * n, 64 * k))
    check.run("matmul_fp8.tir", {"a": a, "b": b}, {"c": (a @ b.T, 0, 0)})

for i, k, j in ((3, 17, 90), (127, 63, 0), (64, 40, 127)):
    for source, dtype, transposed in (("matmul_pipeline.tir", np.float32, False), ("matmul_i8.tir", np.int8, True), ("matmul_fp8.tir", np.float32, True)):
        a, b, c = np.zeros((128, 64), dtype), np.zeros((64, 128), dtype), np.zeros((128, 128), np.int32 if dtype == np.int8 else np.float32)
        a[i, k], b[k, j], c[i, j] = 3, 5, 15
        check.run(source, {"a": a, "b": np.ascontiguousarray(b.T) if transposed else b}, {"c": (c, 0, 0)})

# One way for each of the four 8-lane phases of a 16-byte request: no bank is asked twice.
for source in ("matmul_pipeline.tir", "matmul_i8.tir", "matmul_fp8.tir"):
    counted = subprocess.run([sys.argv[1], "--counters=json", "--dim=M=1", "--dim=N=1", "--dim=K=4", "--arg=a=random:1", "--arg=b=random:2",
                              str(check.kernels / source)], capture_output=True, text=True, check=True)
    total = json.loads(counted.stdout)["total"]["counters"]
    assert total["shared_ways"] == 4 * total["shared_requests"] > 0 and total["local_requests"] == 0, (source, total)
