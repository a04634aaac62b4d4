"""TF_SIM_COUNTERS: the counters of a host program against numbers worked out by hand, and the JSON against its schema.

    counters.py VECTOR_ADD SCHEMA FOLDER

vector_add launches its kernel twice over 1000 elements: 8 CTAs of 128 threads, then 4 of 256. Both times 31 warps are full and
one has 8 lanes with an element; a full warp's 128 bytes are 4 sectors, 8 lanes' 32 bytes are one.
"""
import json
import os
import pathlib
import subprocess
import sys

import jsonschema

program, schema, folder = sys.argv[1], json.loads(open(sys.argv[2]).read()), pathlib.Path(sys.argv[3])


def run(file):
    path = folder / file
    path.unlink(missing_ok=True)
    subprocess.run([program], env={**os.environ, "TF_SIM_COUNTERS": str(path), "TF_SIM_DEVICE": "sm_80"}, check=True,
                   stdout=subprocess.DEVNULL)
    return path.read_text()


report = json.loads(run("counters.json"))
jsonschema.validate(report, schema)
assert report["device"] == "sm_80" and len(report["launches"]) == 2 and report["kernels"][0]["launches"] == 2
assert [l["grid"] + l["block"] for l in report["launches"]] == [[8, 1, 1, 128, 1, 1], [4, 1, 1, 256, 1, 1]]
for launch in report["launches"]:
    counters = launch["counters"]
    assert counters["flops"] == 1000, counters
    assert counters["global_requests"] == 3 * 32 and counters["global_sectors"] == 3 * (31 * 4 + 1), counters
    assert counters["global_bytes_read"] == 8000 and counters["global_bytes_written"] == 4000, counters
    assert [b["bytes_read"] for b in launch["buffers"]] == [4000, 4000, 0]
    assert [b["sectors_written"] for b in launch["buffers"]] == [0, 0, 125]
    assert [b["name"] for b in launch["buffers"]] == ["a", "b", "c"]
    assert launch["estimate"]["dram_bytes"] == 3 * 125 * 32
    assert launch["estimate"]["multiprocessors"] == launch["grid"][0]
table = run("counters.txt")
assert "vector_add, 2 launches" in table and "launch 2, vector_add: grid 4x1x1, block 256x1x1" in table, table
