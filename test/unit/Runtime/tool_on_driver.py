"""tf-run on a CUDA driver: a libcuda.so.1 of the tests that runs a few kernels by name. Shows the whole path of the real
device (library, symbols, module, launch, copies) and tf-run's command line, with NumPy on the other side.

    tool_on_driver.py TF-RUN FAKE-LIBCUDA MANIFEST SCRATCH
"""
import os
import pathlib
import subprocess
import sys

import numpy as np

tool, driver, manifest, scratch = sys.argv[1:]
scratch = pathlib.Path(scratch)
scratch.mkdir(parents=True, exist_ok=True)
environment = dict(os.environ, TF_CUDA_DRIVER=driver, TF_CACHE="off", TF_NVJITLINK="/nonexistent", TF_PTXAS="/nonexistent")
# The fake's kernels by the names of the manifest's; the text is never compiled.
ptx = scratch / "k.ptx"
ptx.write_text("""// comment .entry wrong (
.version 7.0
.target sm_80
.visible .entry scale(.param .u64 .ptr .global .align 16 x, .param .f32 a, .param .u64 y, .param .u32 x_shape_0) { ret; }
.visible .entry count(
  .param .u64 count_param_0, /* out */
  .param .u32 count_param_1
) { ret; }
.entry idle(.param .u64 x) { ret; }
.entry fail() { trap; }
.entry bytes(.param .align 4 .b8 s[12]) { ret; }
""")
rng = np.random.default_rng(3)


def run(*options, code=0, says=(), source=ptx, shows=()):
    command = [tool, "--device=cuda", *map(str, options), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    wrong = [m for m in says if m not in done.stderr] + [m for m in shows if m not in done.stdout]
    if done.returncode != code or wrong or (code == 0 and done.stderr) or "Sanitizer" in done.stderr:
        sys.exit(f"{' '.join(command)}\nexit {done.returncode}, wanted {code}; missing: {wrong}\n{done.stdout}{done.stderr}")
    return done.stdout


files = 0


def file(name, array):
    global files
    files += 1  # the tables below make all of theirs before the first is used
    path = scratch / f"{name}{files}.npy"
    np.save(path, array)
    return path


with_manifest = f"--manifest={manifest}"
x = rng.standard_normal((7, 512), dtype=np.float32)
out = scratch / "out.npy"

# An entry: shapes bind the dims, the output is allocated, results come back.
shown = run(with_manifest, "--entry=half", f"--arg=p=@{file('p', x)}", f"--out=q={out}", "--print=q")
assert np.array_equal(np.load(out), x * np.float32(0.5))
assert shown.startswith("q: f32 (7, 512)\n[[") and "…" in shown, shown
run(with_manifest, "--entry=half", "--dim=S=3", "--arg=p=random:5", f"--out=p={out}", f"--out=q={scratch / 'q.npy'}")
p, q = np.load(out), np.load(scratch / "q.npy")
assert p.shape == (3, 512) and np.array_equal(q, p * np.float32(0.5)) and p.min() < -0.9 and p.max() > 0.9
assert len(np.unique(p)) > 1500
run(with_manifest, "--entry=half", "--dim=S=2", "--arg=p=fill:-3.5", f"--out=q={out}")
assert (np.load(out) == -1.75).all()
run(with_manifest, "--entry=half", "--dim=S=2", "--arg=p=zeros", f"--out=q={out}", "--repeat=3", shows=["3 runs: min "])
assert (np.load(out) == 0).all()

# A kernel of the manifest: default and given geometry, scalars.
run(with_manifest, "--kernel=scale", f"--arg=x=@{file('x', x)}", "--arg=a=-2", f"--out=y={out}")
assert np.array_equal(np.load(out), x * np.float32(-2))
run(with_manifest, "--kernel=scale", "--grid=1,7", "--block=32,4", f"--arg=x=@{file('x', x)}", "--arg=a=0x1p-3", f"--out=y={out}")
assert np.array_equal(np.load(out), x * np.float32(0.125))
run(with_manifest, "--kernel=scale", "--grid=6", "--block=128", f"--arg=x=@{file('x', x)}", "--arg=a=1", code=1,
    says=["the grid is (6, 1, 1), the kernel needs 7 CTAs (S)"])

# A bare kernel: parameters by name and by number, types from arrays, numbers or --type.
run("--kernel=count", "--grid=1", "--block=1", "--type=0=i32[5,3]", "--arg=1=15", f"--out=count_param_0={out}")
assert np.array_equal(np.load(out), np.arange(15, dtype=np.int32).reshape(5, 3))
run("--kernel=count", "--grid=1", "--block=1", f"--arg=0=@{file('n', np.full(4, 9, np.int32))}", "--arg=count_param_1=2",
    "--print=0", shows=["count_param_0: i32 (4,)\n[0 1 9 9]\n"])
run("--kernel=scale", "--grid=1", "--block=1", f"--arg=x=@{file('x', x)}", "--arg=a=3", "--type=y=f32[7,512]",
    "--arg=x_shape_0=7", f"--out=y={out}")
assert np.array_equal(np.load(out), x * 3)

# Element types that NumPy lacks: float32 rounded on the way in, exact on the way out, bits with --raw. The kernel does
# nothing, so what comes out is what went in.
def through(dtype, array, *options):
    shape = ",".join(map(str, array.shape))
    run("--kernel=idle", "--grid=1", "--block=1", f"--type=x={dtype}[{shape}]", f"--arg=x=@{file('v', array)}", f"--out=x={out}", *options)
    return np.load(out)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


values = (rng.standard_normal((31, 17)) * 10.0 ** rng.integers(-6, 5, (31, 17))).astype(np.float32)
bits = values.view(np.uint32)
bf16 = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
assert same_bits(through("bf16", values), (bf16.astype(np.uint32) << 16).view(np.float32))
assert same_bits(through("bf16", values, "--raw"), bf16)
assert same_bits(through("bf16", bf16, "--raw"), bf16)
tf32 = (bits + 0x1000) & np.uint32(0xFFFFE000)  # half away from zero
assert same_bits(through("tf32", values), tf32.view(np.float32))
assert same_bits(through("tf32", values, "--raw"), tf32)
# fp8e5m2 is the top byte of a half; on values with two mantissa bits both are exact.
exact = (rng.integers(-7, 8, 50) * 2.0 ** rng.integers(-10, 8, 50)).astype(np.float32)
exact = exact[np.isin(np.abs(exact / 2.0 ** np.floor(np.log2(np.abs(exact) + (exact == 0)))), [0, 1, 1.25, 1.5, 1.75])]
assert len(exact) > 20
assert same_bits(through("fp8e5m2", exact, "--raw"), (exact.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8))
assert same_bits(through("fp8e5m2", exact), exact)
# fp8e4m3 against a table of all its values: the nearest, the even code on ties, saturating.
codes = np.arange(127)
table = np.where(codes < 8, codes * 2.0**-9, (8 + codes % 8) * 2.0 ** (codes // 8 - 10))
probes = np.concatenate([table, (table[1:] + table[:-1]) / 2, [500, 1e6, np.inf]]).astype(np.float32)
distance = np.abs(np.minimum(probes, 448)[:, None] - table) + (codes % 2) * 1e-9
assert same_bits(through("fp8e4m3", -probes, "--raw"), (0x80 | distance.argmin(axis=1)).astype(np.uint8))
for kind in (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32,
             np.float64):
    array = rng.integers(0, 2, (3, 5)).astype(kind) if kind is np.bool_ else rng.integers(0, 120, (3, 5)).astype(kind)
    run("--kernel=idle", "--grid=1", "--block=1", f"--arg=x=@{file('v', array)}", f"--out=x={out}")
    assert same_bits(np.load(out), array), kind
    run("--kernel=idle", "--grid=1", "--block=1", f"--arg=x=@{file('v', array.astype(array.dtype.newbyteorder('>')))}", f"--out=x={out}")
    assert same_bits(np.load(out), array), kind
run("--kernel=idle", "--grid=1", "--block=1", f"--arg=x=@{file('v', np.array([[True, False]]))}", "--print=x",
    shows=["x: bool (1, 2)\n[[True False]]\n"])
run("--kernel=idle", "--grid=1", "--block=1", f"--arg=x=@{file('v', np.array([-1.5, np.inf, np.nan], np.float16))}", "--print=x",
    shows=["x: f16 (3,)\n[-1.5 inf nan]\n"])
run("--kernel=idle", "--grid=1", "--block=1", "--type=x=u8[2,3]", "--arg=x=fill:200", "--print=x", shows=["[[200 200 200]\n [200 200 200]]\n"])
run("--kernel=idle", "--grid=1", "--block=1", "--type=x=i8[2]", "--arg=x=fill:200", code=1, says=["out of the dtype's range"])
run("--kernel=idle", "--grid=1", "--block=1", "--type=x=i4[2]", "--arg=x=zeros", code=1, says=["arrays of i4 are not supported"])
for dtype, low, high in (("i16", -8, 7), ("u16", 0, 15), ("bool", 0, 1)):
    run("--kernel=idle", "--grid=1", "--block=1", f"--type=x={dtype}[2000]", "--arg=x=random:1", f"--out=x={out}")
    assert (np.unique(np.load(out)) == np.arange(low, high + 1)).all()
run("--kernel=idle", "--grid=1", "--block=1", "--type=x=bf16[3000]", "--arg=x=random:1", f"--out=x={out}")
first = np.load(out)
run("--kernel=idle", "--grid=1", "--block=1", "--type=x=bf16[3000]", "--arg=x=random:2", f"--out=x={out}")
assert not same_bits(first, np.load(out)) and abs(first.mean()) < 0.05 and 0.5 < first.std() < 0.65

# Comparison.
half = file("half", (x * 0.5).astype(np.float64))
near = file("near", x * 0.5 * (1 + 1e-4))
run(with_manifest, "--entry=half", f"--arg=p=@{file('p', x)}", f"--expect=q=@{half}",
    shows=["q: max absolute error 0, max relative error 0 (rtol 1e-05, atol 1e-08): ok"])
run(with_manifest, "--entry=half", f"--arg=p=@{file('p', x)}", f"--expect=q=@{near}", "--rtol=1e-3", shows=[": ok"])
run(with_manifest, "--entry=half", f"--arg=p=@{file('p', x)}", "--rtol=1e-3", f"--expect=q=@{near}", shows=[": ok"])
run(with_manifest, "--entry=half", f"--arg=p=@{file('p', x)}", f"--expect=q=@{near}", code=1, shows=["FAILED"],
    says=["3584 of 3584 elements are out of tolerance; first at (0, 0): got "])
one = x * np.float32(0.5)
one[4, 17] += 1
run(with_manifest, "--entry=half", f"--arg=p=@{file('p', x)}", f"--expect=q=@{file('one', one)}", code=1,
    says=["1 of 3584 elements are out of tolerance; first at (4, 17): got "])
one[4, 17] = np.nan
run(with_manifest, "--entry=half", f"--arg=p=@{file('p', x)}", f"--expect=q=@{file('one', one)}", "--atol=1e9", code=1,
    says=["1 of 3584"])
run(with_manifest, "--entry=half", f"--arg=p=@{file('p', x)}", f"--expect=q=@{file('short', one[:3])}", code=1,
    says=["the result has another shape"])
counted = file("counted", np.arange(6, dtype=np.int64) + (np.arange(6) == 5))
run("--kernel=count", "--grid=1", "--block=1", "--type=0=i32[6]", "--arg=1=6", f"--expect=0=@{counted}", code=1,
    says=["1 of 6 elements", "first at (5): got 5, expected 6"])
run("--kernel=count", "--grid=1", "--block=1", "--type=0=i32[6]", "--arg=1=6", f"--expect=0=@{counted}", "--atol=1")

# What is at fault in the input is said, with status 1.
for options, message in [
        (["--arg=z=zeros"], "no parameter is called 'z'; there are: p, q"),
        (["--out=z=f.npy"], "--out: no parameter is called 'z'"),
        (["--arg=p=zeros"], "its shape needs the DimVar 'S': give an array that has it, or --dim=S=N"),
        (["--dim=S=0"], "S=0 is outside of [1, 65536)"),
        (["--dim=T=1"], "no DimVar 'T'"),
        (["--dim=S=x"], "'x' is no integer"),
        (["--dim=S=3", f"--arg=p=@{file('p', x)}"], "so S is 7, but elsewhere it is 3"),
        ([f"--arg=p=@{file('p', x)}", f"--arg=q=@{file('q', x[:2])}"], "so S is 2, but elsewhere it is 7"),
        ([f"--arg=p=@{file('p', x[:, :5])}"], "argument 'p': axis 1 has extent 5, expected 512"),
        ([f"--arg=p=@{file('p', x[0])}"], "float32 (512,), expected an array of 2 axes"),
        ([f"--arg=p=@{file('p', x.astype(np.float64))}"], "float64 (7, 512), the parameter is f32: convert it"),
        (["--arg=p=@missing.npy"], "missing.npy: cannot be read: No such file"),
        ([f"--arg=p=@{file('p', np.asfortranarray(x))}"], "Fortran order"),
        (["--dim=S=2", "--arg=p=5"], "a tensor takes @FILE.npy, zeros, fill:V or random:SEED, not '5'"),
        (["--dim=S=2", "--arg=p=fill:blue"], "'blue' as f32: this is no number"),
        (["--dim=S=2", "--arg=p=random:-1"], "'-1' is no seed"),
        (["--dim=S=2", "--arg=p=zeros", "--arg=p=zeros"], "'p' is given twice"),
        (["--dim=S=2", "--out=q=/nonexistent/q.npy"], "/nonexistent/q.npy: cannot be written"),
        (["--dim=S=2", "--check=all"], "need the simulated device")]:
    run(with_manifest, "--entry=half", *options, code=1, says=[message])
run(with_manifest, "--entry=nope", code=1, says=["no entry 'nope'; there are: 'main', 'half'"])
run(with_manifest, "--entry=main", "--dim=S=2", code=1, says=["a scalar needs --arg=count=VALUE (i16)"])
run(with_manifest, "--entry=main", "--dim=S=2", "--arg=count=40000", code=1, says=["'40000' as i16: the value is out of"])
run(with_manifest, "--entry=main", "--dim=S=2", "--arg=count=1.5", code=1, says=["a floating-point value for an integer"])
run(with_manifest, "--entry=main", "--dim=S=20", "--arg=count=1", code=1, says=["e.tir:36:13: main: abort: no variant"])
run("--entry=half", code=1, says=["--entry needs a manifest"])
run("--manifest=/nonexistent.json", code=1, says=["/nonexistent.json: error: cannot be read"])
run("--kernel=nope", "--grid=1", "--block=1", code=1, says=["no kernel 'nope' in it"])
run("--kernel=count", code=1, says=["needs --kernel, --grid and --block"])
run("--kernel=count", "--grid=1", "--block=1", "--arg=1=3", code=1, says=["'count_param_0' (.u64) needs --arg"])
run("--kernel=count", "--grid=1", "--block=1", "--type=0=i32[3", "--arg=1=3", code=1, says=["not of the form DTYPE[N,N]"])
run("--kernel=count", "--grid=1", "--block=1", "--type=0=int[3]", "--arg=1=3", code=1, says=["unknown dtype 'int'"])
run("--kernel=count", "--grid=1", "--block=2000", "--type=0=i32[3]", "--arg=1=3", code=1, says=["block.x is 2000"])
run("--kernel=bytes", "--grid=1", "--block=1", code=1, says=["passed by value in 12 bytes"])
run("--kernel=fail", "--grid=1", "--block=1", code=1, says=["CUDA_ERROR_ILLEGAL_ADDRESS", "'fail'"])
run("--device=cuda:1", "--kernel=fail", code=1, says=["there is no CUDA device 1"])
run("--device=gpu", "--kernel=fail", code=1, says=["'gpu' is no device"])
run(source=scratch / "missing.ptx", code=1, says=["missing.ptx: error: cannot be read: No such file"])

# Wrong usage has status 2.
for options, message in [(["--no-such-option"], "no-such-option"), (["--arg=x"], "NAME=VALUE"), (["--arg==x"], "NAME=VALUE"),
                         (["--grid=1", "--block=1"], "go with --kernel"), (["--kernel=k", "--grid=1,2,3,4"], "three extents"),
                         (["--kernel=k", "--grid=1,-2"], "--grid"), (["--repeat=0"], "at least once"), (["-mtune=x"], "-mcpu"),
                         (["--kernel=k", "--entry=e"], "exclude"), (["--expect=q=q.npy"], "@REF"), (["--rtol=-1"], "--rtol"),
                         (["--counters=xml"], "xml"), (["-mcpu=80"], "'80' is no target"),
                         (["--mcpu=sm_90x"], "'sm_90x' is no target"), ([str(ptx)], "one FILE only")]:
    run(*options, code=2, says=[message])
done = subprocess.run([tool], capture_output=True, text=True)
assert done.returncode == 2 and "FILE" in done.stderr, done

for option, says in (("--version", "tf-run (TileFoundry) "), ("--help", "Usage: tf-run"), ("--usage", "Usage: tf-run")):
    done = subprocess.run([tool, option], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith(says), (option, done)

# Standard input and output.
text = pathlib.Path(ptx).read_text()
done = subprocess.run([tool, "--device=cuda", "--kernel=count", "--grid=1", "--block=1", "--type=0=i32[3]", "--arg=1=3", "--out=0=-",
                       "-"], input=text.encode(), capture_output=True, env=environment)
assert done.returncode == 0 and done.stdout.startswith(b"\x93NUMPY") and done.stdout.endswith(b"\2\0\0\0"), done
