# RUN: %python %s %tf-llc %tf-run %t
"""Bad input ends with exit 1 and a located message, wrong usage with exit 2; never with a signal."""
import pathlib
import subprocess
import sys

llc, run, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
scratch.mkdir(parents=True, exist_ok=True)

HEAD = '@prim_func(target=CudaTarget("sm_80"))\ndef k(x: Tensor[(32,), "f32"], y: Tensor[(32,), "f32"]):\n'
GOOD = HEAD + "    T.copy(x, y)\n"


def file(name, text):
    path = scratch / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def expect(code, command, *messages):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != code or any(m not in done.stderr for m in messages):
        sys.exit(f"{' '.join(command)}\nexit {done.returncode}, wanted {code} and {messages}\n{done.stderr}")


good = file("good.tir", GOOD)
expect(1, [llc, str(scratch / "missing.tir")], "missing.tir", "No such file")
expect(1, [llc, str(scratch)], "Is a directory")
expect(1, [llc, file("tabs.tir", HEAD + "    T.copy(x, y)\n\tT.copy(x, y)\n")], "tabs.tir:4:")
expect(1, [llc, file("op.tir", HEAD + "    T.copi(x, y)\n")], "op.tir:3:", "copi")
expect(1, [llc, file("shape.tir", HEAD + "    T.copy(T.tensor_view(x, 0, shape=(16,)), y)\n")], "shape.tir:3:", "16", "32")
expect(1, [llc, file("target.tir", GOOD.replace("sm_80", "sm_81"))], "target.tir:1:", "sm_81")
expect(1, [llc, file("bytes.tir", b"\xff\xfe\x00def")], "bytes.tir:1:")
expect(1, [llc, "-o", str(scratch / "no" / "where.ptx"), good], "where.ptx", "No such file")
expect(1, [llc, "-o", "/dev/full", good], "/dev/full", "No space left")
expect(2, [llc, "-mcpu=sm_999", good], "sm_999")
expect(2, [llc, "--emit=nonsense", good], "nonsense")
expect(2, [llc, "--no-such-option", good], "no-such-option")
expect(2, [llc], "input file")

expect(1, [run, str(scratch / "missing.tir")], "missing.tir", "No such file")
expect(1, [run, "--arg=z=zeros", good], "z")
expect(1, [run, "--arg=x=@" + file("short.npy", b"\x93NUMPY"), good], "short.npy")
expect(1, [run, "--device=sim:sm_12", good], "sm_12")
expect(2, [run, "--no-such-option", good], "no-such-option")
for tool in (llc, run):
    for option in ("--help", "--version"):
        done = subprocess.run([tool, option], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stdout, (tool, option, done)
