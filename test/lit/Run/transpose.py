# RUN: %python %s %tf-run %t
"""Transposed through padded shared tiles: any sizes, exact, without bank conflicts."""
import json
import subprocess
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(52)
for vec, shapes in ((4, ((4, 4), (32, 32), (28, 100), (36, 64), (132, 44))), (1, ((1, 1), (1, 77), (31, 33), (97, 1), (65, 130)))):
    for shape in shapes:
        x = rng.standard_normal(shape).astype(np.float32)
        check.run("transpose.tir", {"x": x}, {"y": (x.T, 0, 0)}, [f"-DVEC={vec}"])

counted = subprocess.run([sys.argv[1], "--counters=json", "--dim=M=16", "--dim=N=24", "--arg=x=random:1",
                          str(check.kernels / "transpose.tir")], capture_output=True, text=True, check=True)
total = json.loads(counted.stdout)["total"]["counters"]
assert total["shared_requests"] == total["shared_ways"] == 2 * 3 * 8 * 8, total  # 6 tiles, 8 warps, 4 stores and 4 loads
