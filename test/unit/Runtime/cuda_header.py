"""The toolkit's cuda.h and stub library against ours, as far as the compiler cannot compare them: that nothing is missing.

    cuda_header.py CUDA.H CONSTANTS.def LIBTFSIM.so [STUB]

Every enumerator of the enums that answer questions has its row, and libtfsim.so has the symbols of the stub, no fewer and no
more (but for its own tf_sim_…), so that every program that links finds them all.
"""
import re
import subprocess
import sys

header, constants, library, *stub = sys.argv[1:]
ENUMS = {"CUresult": "RESULT", "CUdevice_attribute": "DEVICE_ATTRIBUTE", "CUfunction_attribute": "FUNC_ATTRIBUTE",
         "CUjit_option": "JIT_OPTION", "CUlaunchAttributeID": "LAUNCH_ATTRIBUTE", "CUpointer_attribute": "POINTER_ATTRIBUTE"}
text = re.sub(r"/\*.*?\*/|//[^\n]*", "", open(header).read(), flags=re.S)
table = open(constants).read()
faults = []
for enum, kind in ENUMS.items():
    body = re.search(r"typedef enum \w+\s*\{([^}]*)\}\s*" + enum + r"\s*;", text)[1]
    names = re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"^\s*#.*$", "", body, flags=re.M))
    rows = set(re.findall(rf"^TF_CUDA_{kind}\((\w+),", table, re.M))
    missing = [n for n in names if n not in rows and not re.search(r"_MAX$|NUM_OPTIONS$", n)]
    faults += [f"{enum}: {name} has no row" for name in missing]
    print(f"{enum}: {len(names)} enumerators")


def symbols(path):
    listed = subprocess.run(["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in listed.splitlines() if line.split()[2].startswith("cu")}


if stub:
    ours, theirs = symbols(library), symbols(stub[0])
    faults += [f"libtfsim.so lacks {name}" for name in sorted(theirs - ours)]
    faults += [f"libtfsim.so has {name}, which is no symbol of the driver" for name in sorted(ours - theirs)]
    print(f"{len(theirs)} symbols of the stub")
print("\n".join(faults))
sys.exit(bool(faults))
