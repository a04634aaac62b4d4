# RUN: %python %s %tf-llc %kernels %docs/manifest.schema.json
"""The manifest of every kernel follows its schema and says the same as the PTX of the same options: entries, parameters,
their widths, block limits, shared memory, target and version."""
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

llc, kernels, schema_path = sys.argv[1:]
validator = jsonschema.Draft202012Validator(json.load(open(schema_path)))
WIDTH = {"bool": 8, "i8": 8, "u8": 8, "fp8e4m3": 8, "fp8e5m2": 8, "f8e8m0": 8, "i16": 16, "u16": 16, "f16": 16, "bf16": 16,
         "i32": 32, "u32": 32, "f32": 32, "tf32": 32, "i64": 64, "u64": 64, "f64": 64}


def emit(kind, path, *options):
    done = subprocess.run([llc, f"--emit={kind}", *options, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (path, done.stderr)
    return done.stdout


def entries(ptx):
    """Name, widths of the parameters and directives of every .entry."""
    for match in re.finditer(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)([^{]*)\{", ptx):
        widths = [int(w) for w in re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.[usbf](\d+)", match[2])]
        yield match[1], widths, match[3]


def check(path, *options):
    text = emit("manifest", path, *options)
    assert text == emit("manifest", path, *options), "the manifest is not deterministic"
    manifest, ptx = json.loads(text), emit("ptx", path, *options)
    errors = [f"{path}: {list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(manifest)]
    assert not errors, "\n".join(errors)
    assert re.search(r"^\.target " + manifest["target"] + r"\b", ptx, re.M), manifest["target"]
    assert re.search(r"^\.version " + re.escape(manifest["ptx_version"]) + r"$", ptx, re.M), manifest["ptx_version"]
    found = list(entries(ptx))
    assert [k["ptx_name"] for k in manifest["kernels"]] == [name for name, _, _ in found]
    for kernel, (name, widths, directives) in zip(manifest["kernels"], found):
        expected = [WIDTH[p["dtype"]] if p["kind"] in ("scalar", "hidden_shape") else 64 for p in kernel["parameters"]]
        assert widths == expected, (name, widths, expected)
        if kernel["required_block"]:
            assert re.search(r"\.reqntid\s+" + r",\s*".join(map(str, kernel["required_block"])), directives), name
        else:
            assert ".reqntid" not in directives, name
        for buffer in kernel["shared"]["buffers"]:
            if buffer["block"] == "static":
                assert buffer["offset"] + buffer["bytes"] <= kernel["shared"]["static_bytes"], (name, buffer)
            assert buffer["offset"] % buffer["alignment"] == 0, (name, buffer)
    return manifest


for path in sorted(pathlib.Path(kernels).glob("*.tir")):
    check(path)
    check(path, "-mcpu=sm_90", "--ptx-version=8.0")

saxpy = check(pathlib.Path(kernels) / "saxpy.tir")
assert saxpy["dims"] == [{"name": "S", "lo": 1, "hi": 65536}], saxpy["dims"]
(kernel,) = saxpy["kernels"]
assert (kernel["grid_size"], kernel["block_size"]) == ({"var": "S"}, 128), kernel
(entry,) = saxpy["entries"]  # derived: no CPU function, one kernel
assert saxpy["default_entry"] == entry["name"] == kernel["name"] == "saxpy"
assert entry["body"]["stmt"] == "launch" and entry["body"]["grid"] == [{"var": "S"}, 1, 1] and entry["body"]["block"] == [128, 1, 1]

# Plans hold what the runtime can judge: a window by its offset alone, a parameter of the callee's layout; a load may fail.
PLANS = """
@module(entry="main")
class M:
    @prim_func(target=CudaTarget("sm_80"))
    def k(x: Tensor[(4,), "i32"]):
        T.fill(x, 1)

    @prim_func(target=CpuTarget())
    def main(x: Tensor[(3, 8), "i32"], i: Tensor[(), "i32"], h: Tensor[(4,), "i32", None, host], y: Tensor[(4,), "i32"%(mine)s]):
        %(statement)s
"""
STRIDED = ", Layout((4,), (2,))"
for statement, mine, planned in [
    ("k(T.tensor_view(x, i, 4, shape=(4,)))", "", True),
    ("k(T.tensor_view(x, 1, i, shape=(4,)))", "", False),
    ("k(T.tensor_view(x, 1, i % 4, shape=(4,)))", "", True),
    ("k(T.tensor_view(x, 1, i % 6, shape=(4,)))", "", False),
    ("k(T.tensor_view(x, i, shape=(4,)))", "", True),
    ("k(T.tensor_view(T.tensor_view(x, 1, 0, shape=(2, 8)), i, 0, shape=(4,)))", "", False),
    ("k(T.tensor_view(T.tensor_view(x, 1, 0, shape=(2, 8)), i % 2, 0, shape=(4,)))", "", True),
    ("k(y)", "", True),
    ("k(y)", STRIDED, False),
    ("n = i * 3; k(y)", "", True),
    ("n = T.load(h, i); k(y)", "", False),
]:
    text = PLANS % {"statement": statement, "mine": mine}
    done = subprocess.run([llc, "--emit=manifest", "-"], input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (statement, done.stderr)
    assert (json.loads(done.stdout)["entries"][0]["body"] is not None) == planned, (statement, mine)
