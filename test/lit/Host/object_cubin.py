# REQUIRES: ptxas
# RUN: %tf-llc --emit=obj %S/../../../examples/aot/smooth.tir -o %t.o
# RUN: %tf-llc --emit=obj --no-cubin %S/../../../examples/aot/smooth.tir -o %t.bare.o
# RUN: %python %s %t.o %t.bare.o
"""An object carries the kernels' machine code where ptxas is found: an ELF file for CUDA inside of the host's."""
import pathlib
import sys

EM_CUDA = 190


def cubins(path):
    data = pathlib.Path(path).read_bytes()
    starts = [i for i in range(1, len(data)) if data.startswith(b"\x7fELF", i)]
    return [i for i in starts if int.from_bytes(data[i + 18 : i + 20], "little") == EM_CUDA]


assert len(cubins(sys.argv[1])) == 1, "the object has no cubin"
assert not cubins(sys.argv[2]), "the object has a cubin that it was told to leave out"
