# RUN: %python %s %tf-llc %tf-run %t
"""4 KB of parameters, and one more: that many need PTX 8.1. 32,764 bytes are the end: one more is refused. The last parameter
arrives, whatever stands before it."""
import pathlib
import re
import shutil
import subprocess
import sys

llc, run, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
scratch.mkdir(parents=True, exist_ok=True)
ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
source, ptx = scratch / "many.tir", scratch / "many.ptx"


def compile_with(tensors, bytes_behind):
    """y takes 8 bytes, the tensors 8 each, the u8 scalars behind them one each."""
    params = ['y: Tensor[(2,), "i32"]'] + [f'a{i}: Tensor[(4,), "i32"]' for i in range(tensors - 1)]
    params += [f's{i}: Tensor[(), "u8"]' for i in range(bytes_behind)]
    last = f"s{bytes_behind - 1}" if bytes_behind else "7"
    source.write_text(f"""
@prim_func(target=CudaTarget("sm_80"))
def many({", ".join(params)}):
    with Mesh((Topology("thread", 1),), Layout((1,)), ("t",)) as m:
        T.store(y, {last}, 0)
        T.copy(T.tensor_view(a{tensors - 2}, 3, shape=(1,)), T.tensor_view(y, 1, shape=(1,)))
""".replace(f"T.store(y, {last}, 0)", f'T.store(y, T.cast({last}, "i32"), 0)' if bytes_behind else "T.store(y, 7, 0)"))
    return subprocess.run([llc, source, "-o", ptx], capture_output=True, text=True)


for tensors, behind, version in ((512, 0, "7.0"), (511, 8, "7.0"), (512, 1, "8.1"), (4095, 4, "8.1")):
    done = compile_with(tensors, behind)
    assert done.returncode == 0, done.stderr
    found = re.search(r"\.version (\S+)", ptx.read_text()).group(1)
    assert found == version, (tensors, behind, found)
    if ptxas:
        subprocess.run([ptxas, "-arch=sm_80", ptx, "-o", scratch / "many.cubin"], check=True)
    arguments = [f"--arg=a{tensors - 2}=fill:-5"] + ([f"--arg=s{i}={i % 200}" for i in range(behind)] if behind < 10 else [])
    done = subprocess.run([run, "--device=sim", "--print=y", *arguments, source], capture_output=True, text=True, check=True)
    assert f"[{behind - 1 if behind else 7} -5]" in done.stdout, done.stdout
done = compile_with(4095, 5)
assert done.returncode == 1 and "many.tir:3:" in done.stderr, done.stderr
assert "error: kernel 'many' has 32765 bytes of parameters, and a launch passes at most 32764" in done.stderr, done.stderr
