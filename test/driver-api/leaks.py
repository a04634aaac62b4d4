"""The mem checker lists what a program never freed, when its context ends or itself: leaks.py VECTOR_ADD

vector_add allocates three arrays; a call that gives something back is made to fail."""
import os
import re
import subprocess
import sys


def run(**environment):
    done = subprocess.run([sys.argv[1]], capture_output=True, text=True, env=os.environ | {"TF_SIM_LOG": "-"} | environment)
    found = re.search(r"^mem: leak: (\d+) allocations? of (\d+) bytes in all w\w+ never freed\n((?:  0x[0-9a-f]+: \d+ bytes\n)*)", done.stderr, re.M)
    return found and (int(found.group(1)), int(found.group(2)), [int(n) for n in re.findall(r": (\d+) bytes", found.group(3))])


assert run(TF_SIM_CHECKS="mem") is None
assert run(TF_SIM_FAIL="cuMemFree:2") is None  # nobody asked
count, total, (size,) = run(TF_SIM_CHECKS="all", TF_SIM_FAIL="cuMemFree:2")  # found when the context ends
assert (count, total) == (1, size) and size > 0, (count, total, size)
assert run(TF_SIM_CHECKS="mem", TF_SIM_FAIL="cuMemFree:1+") == (3, 3 * size, [size] * 3)
assert run(TF_SIM_CHECKS="mem", TF_SIM_FAIL="cuMemFree:1+,cuCtxDestroy:1") == (3, 3 * size, [size] * 3)  # when the program does
