# RUN: %python %s %tf-run %docs %t
"""tf-run --counters on the matrix product, against numbers worked out from its shapes; the JSON against its schema; the schema
and the man page against the table of counters.

kernels/matmul.tir: a CTA of 4 warps owns 64 x 64 of c and walks k in steps of 32. In a step it copies a 64 x 32 and a 32 x 64
tile of bf16 to shared memory, 8 elements (16 bytes) a thread and access, and each warp multiplies its 32 x 32 part. Its tiles are
swizzled; without that, as it is also run here, the matrix loads meet bank conflicts.
"""
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

tool, docs = sys.argv[1], pathlib.Path(sys.argv[2])
root = docs.parent
KERNEL = root / "kernels/matmul.tir"
PLAIN = pathlib.Path(sys.argv[3]) / "matmul.tir"
PLAIN.parent.mkdir(parents=True, exist_ok=True)
PLAIN.write_text(re.sub(r" layout=ComposedLayout\(Swizzle.*?\)\), storage", " storage", KERNEL.read_text()))
schema = json.loads((docs / "counters.schema.json").read_text())
table = dict(re.findall(r'^COUNTER\((\w+), "(.*)"\)$', (root / "lib/Sim/Counters.def").read_text(), re.M))
BM = BN = 64
BK = 32
WARPS, LANES, SECTOR = 4, 32, 32


def run(*options, kernel=KERNEL):
    command = [tool, "--device=sim", *options, "--arg=a=random:1", "--arg=b=random:2", str(kernel)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def ldmatrix_ways(row_bytes, swizzle):
    """Turns of the banks for 8 rows of 16 bytes at a distance of row_bytes: rows that begin in the same bank take turns.
    swizzle: bits of the number of the row pair (or row) that are xored into the number of the 16 bytes."""
    units = [row * row_bytes // 16 for row in range(8)]
    banks = [(unit ^ unit >> 3 & (1 << swizzle) - 1) % 8 for unit in units]
    return max(banks.count(bank) for bank in banks)


def expected(m, n, k, swizzles):
    """The counters by line of work: (global requests, sectors), (shared requests, passes, ways), mma."""
    ctas, steps = (m // BM) * (n // BN), k // BK
    copies = BM * BK // 8 // LANES  # warp accesses per tile: 16 bytes a lane; b's tile has as many elements
    # Rows of a's tile are 64 bytes, of b's 128: whole sectors, so an access of 512 bytes touches 16.
    loads = ctas * steps * copies
    # Consecutive lanes write consecutive 16 bytes: 4 passes, no conflict.
    parts = 32 // 16 * (32 // 16)  # 16 x 16 parts of a warp's 32 x 32 share of a tile, one ldmatrix.x4 each
    reads = ctas * steps * WARPS * parts
    mma = ctas * steps * (BM // 16) * (BN // 8) * (BK // 16)
    # A lane holds 2 neighbours of c (8 bytes), 4 lanes one sector, a warp 8 rows of them.
    stores = ctas * BM * BN // 2 // LANES
    return {
        "a": (loads, 16 * loads, loads, 4 * loads, 4 * loads),
        "b": (loads, 16 * loads, loads, 4 * loads, 4 * loads),
        "a to registers": (0, 0, reads, 4 * reads, 4 * reads * ldmatrix_ways(2 * BK, swizzles[0])),
        "b to registers": (0, 0, reads, 4 * reads, 4 * reads * ldmatrix_ways(2 * BN, swizzles[1])),
        "c": (stores, 8 * stores, 0, 0, 0),
    }, mma, ctas * steps * 2


LINES = {"a": r"tensor_view\(a, row", "b": r"tensor_view\(b, k", "a to registers": r"copy\(a_tile, a_frag",
         "b to registers": r"copy\(b_tile, b_frag", "c": r"copy\(acc,"}
KEYS = ("global_requests", "global_sectors", "shared_requests", "shared_passes", "shared_ways")
source = KERNEL.read_text().splitlines()


def check_product(m, n, k, kernel, swizzles):
    report = json.loads(run("--counters=json", f"-DM={m}", f"-DN={n}", f"-DK={k}", kernel=kernel))
    jsonschema.validate(report, schema)
    launch = report["launches"][0]
    work, mma, barriers = expected(m, n, k, swizzles)
    counters = launch["counters"]
    assert counters["mma"] == mma and counters["mma_flops"] == 2 * m * n * k
    assert launch["matrix"] == [{"name": "m16n8k16 f32.bf16.bf16.f32", "count": mma, "flops": 2 * m * n * k}]
    assert counters["barriers"] == barriers, (counters["barriers"], barriers)
    for name, counts in work.items():
        numbers = [i for i, text in enumerate(source, 1) if re.search(LINES[name], text)]
        if source[numbers[0] - 2].endswith("("):  # a call over several lines stands on its first
            numbers = [numbers[0] - 1]
        rows = [l["counters"] for l in launch["lines"] if l["line"] == numbers[0]]
        got = tuple(sum(row[key] for row in rows) for key in KEYS)
        assert got == counts, (name, got, counts)
    sums = [sum(counts[i] for counts in work.values()) for i in range(5)]
    assert [counters[key] for key in KEYS] == sums, (launch, sums)
    assert counters["sectors_per_request"] == float(f"{sums[1] / sums[0]:.6g}")
    assert counters["conflict"] == float(f"{sums[4] / sums[3]:.6g}")
    # Every tile of a is read by the CTAs of one row of tiles, every tile of b by those of one column.
    a, b, c = launch["buffers"]
    assert a["bytes_read"] == 2 * m * k * (n // BN) and a["sectors_read"] == 2 * m * k // SECTOR and not a["bytes_written"]
    assert b["bytes_read"] == 2 * n * k * (m // BM) and b["sectors_read"] == 2 * n * k // SECTOR
    assert c["bytes_written"] == 4 * m * n and c["sectors_written"] == 4 * m * n // SECTOR and not c["bytes_read"]
    estimate = launch["estimate"]
    assert estimate["flops"] == 2 * m * n * k and estimate["dram_bytes"] == 2 * m * k + 2 * n * k + 4 * m * n
    assert estimate["bound"] == "shared"  # ways at 1 a clock against 4096 operations of an mma at 2048 a clock
    assert estimate["multiprocessors"] == (m // BM) * (n // BN)
    for key in table:
        assert report["total"]["counters"][key] == counters[key] == report["kernels"][0]["counters"][key]


def check_repeats():
    """Ten launches: ten records, sums of ten, one group in the table."""
    text = run("--counters=json", "--repeat=10")
    report = json.loads(text[text.index("{"):])
    assert len(report["launches"]) == 10 and report["kernels"][0]["launches"] == 10 and report["launches_left_out"] == 0
    assert report["total"]["counters"]["mma"] == 10 * report["launches"][3]["counters"]["mma"]
    lines = report["kernels"][0]["lines"]
    assert [l["counters"]["mma"] for l in lines] == [10 * l["counters"]["mma"] for l in report["launches"][9]["lines"]]
    shown = run("--counters", "--repeat=10")
    assert "launches 1 to 10, matmul: grid 4x1x1, block 128x1x1" in shown and "bound by shared" in shown, shown
    assert re.search(r"m16n8k16 f32\.bf16\.bf16\.f32 +20480 +83886080", shown), shown
    assert re.search(r"matmul\.tir:43 +20480 ", shown), shown


def check_documents():
    counters = schema["definitions"]["counters"]["properties"]
    page = (docs / "man/tf-run.1").read_text().replace("\\-", "-")
    for name, text in table.items():
        assert counters[name]["description"] == text, name
        assert name in page, f"tf-run.1 lacks {name}"
    assert set(counters) == set(table) | {"sectors_per_request", "conflict"}
    for name in re.findall(r'^RESOURCE\(\w+, "([^"]+)"', (root / "lib/Sim/Resources.def").read_text(), re.M):
        assert name in page, f"tf-run.1 lacks {name}"


assert (ldmatrix_ways(2 * BK, 0), ldmatrix_ways(2 * BN, 0)) == (4, 8)
assert (ldmatrix_ways(2 * BK, 2), ldmatrix_ways(2 * BN, 3)) == (1, 1)
for shape in (128, 128, 256), (192, 64, 96):
    check_product(*shape, KERNEL, (2, 3))
    check_product(*shape, PLAIN, (0, 0))
check_repeats()
check_documents()
