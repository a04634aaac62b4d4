"""Manifests against their schema (docs/manifest.schema.json) and against what the modules say: ManifestTest.py TF_LLC ROOT."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema

tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
schema = json.loads((root / "docs" / "manifest.schema.json").read_text())
scratch = tempfile.TemporaryDirectory()
failures = []


def emit(path, *options):
    return subprocess.run([tool, "--emit=manifest", *options, str(path)], capture_output=True, text=True)


def manifest(source, *options):
    """The manifest of a file, or of a module's text; checked against the schema, and made twice."""
    path = source
    if isinstance(source, str):
        path = pathlib.Path(scratch.name) / "stem.tir"
        path.write_text("from tilefoundry import *\n" + source)
    first, second = emit(path, *options), emit(path, *options)
    if first.returncode:
        sys.exit(f"{path}: exit {first.returncode}\n{first.stderr}{path.read_text()}")
    check(f"{path}: same bytes twice", first.stdout, second.stdout)
    found = json.loads(first.stdout)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(found):
        failures.append(f"{path}: {error.json_path}: {error.message}")
    return found


def check(what, got, want):
    if got != want:
        failures.append(f"{what}:\n  got  {got!r}\n  want {want!r}")


def refused(text, message, *options):
    path = pathlib.Path(scratch.name) / "bad.tir"
    path.write_text("from tilefoundry import *\n" + text)
    done = emit(path, *options)
    check(f"exit status of {message}", done.returncode, 1)
    if message not in done.stderr:
        failures.append(f"wanted '{message}' in\n{done.stderr}")


# ---- All kernels ----
for kernel in sorted((root / "kernels").glob("*.tir")):
    found = manifest(kernel)
    named = re.search(r"^class (\w+):", kernel.read_text(), re.M)
    check(f"{kernel.name}: module", found["module"], named.group(1) if named else kernel.stem)

# ---- The derived entry, dims, hidden shapes, shared memory ----
found = manifest(root / "kernels" / "saxpy.tir")
kernel, entry = found["kernels"][0], found["entries"][0]
check("dims", found["dims"], [{"name": "S", "lo": 1, "hi": 65536}])
check("target", (found["target"], found["ptx_version"]), ("sm_80", "7.0"))
check("parameters", [(p["name"], p["kind"]) for p in kernel["parameters"]],
      [("a", "scalar"), ("x", "tensor"), ("y", "tensor"), ("out", "tensor"), ("x_shape_0", "hidden_shape")])
check("shape", kernel["parameters"][1]["shape"], [{"var": "S"}, 512])
check("geometry", (kernel["grid_size"], kernel["block_size"], kernel["default_grid"], kernel["default_block"]),
      ({"var": "S"}, 128, [{"var": "S"}, 1, 1], [128, 1, 1]))
check("derived entry", (entry["name"], found["default_entry"], entry["body"]["stmt"], entry["body"]["grid"]),
      ("saxpy", "saxpy", "launch", [{"var": "S"}, 1, 1]))
check("derived arguments", entry["body"]["args"], [{"param": name} for name in ("a", "x", "y", "out")])
check("place", kernel["loc"]["line"], 1 + (root / "kernels" / "saxpy.tir").read_text().split("def saxpy")[0].count("\n"))

found = manifest(root / "kernels" / "matmul.tir")["kernels"][0]
check("buffers", [(b["name"], b["block"], b["offset"], b["bytes"]) for b in found["shared"]["buffers"]],
      [("a_tile", "static", 0, 64 * 32 * 2), ("b_tile", "static", 4096, 32 * 64 * 2)])
check("static bytes", (found["shared"]["static_bytes"], found["shared"]["dynamic_bytes"]), (8192, 0))
check("no cta scope", manifest(root / "kernels" / "relay.tir")["kernels"][0]["grid_size"], None)

# ---- Host entries ----
KERNELS = """
S = DimVar("S", 1, 1000)

@module(entry="main")
class Host:
    @prim_func(target=CudaTarget("sm_80"))
    def scale(f: Tensor[(), "f32"], n: Tensor[(), "i32"], x: Tensor[(4 * S, 8), "f32"]) -> None:
        with Mesh((Topology("cta", S), Topology("thread", 32)), Layout(shape=(S, 32), strides=(32, 1)), ("c", "t")) as m:
            for r in range(4):
                T.store(x, T.load(x, T.coord(m.c) * 4 + r, T.coord(m.t) % 8) * f, T.coord(m.c) * 4 + r, T.coord(m.t) % 8)
"""
found = manifest(KERNELS + """
    @prim_func(target=CpuTarget(), output_count=1)
    def main(n: Tensor[(), "i32"], x: Tensor[(4 * S, 8), "f32"]) -> None:
        k = n * 2 + T.shape_of(x, 0)
        launch(scale, 2.5, k - 1, x, grid=(ceildiv(S, 1),), block=(8, 4))
        helper(x, n)
        scale(-0.1, n, T.tensor_view(x, 4, 0, shape=(4, 8)))

    @prim_func(target=CpuTarget())
    def helper(x: Tensor[(4 * S, 8), "f32"], n: Tensor[(), "i32"]) -> None:
        scale(1e30, 7, x)
""")
check("default entry", found["default_entry"], "main")
check("entries", [(e["name"], e["output_count"]) for e in found["entries"]], [("main", 1), ("helper", 1)])
main, helper = found["entries"]
launch, call, window = main["body"]["body"]
check("grid", (launch["grid"], launch["block"]), ([{"var": "S"}, 1, 1], [8, 4, 1]))
check("float argument", float(launch["args"][0]["float"]), 2.5)


def evaluate(expr, scalars, shapes):
    """The schema's meaning of an expression."""
    if isinstance(expr, int):
        return expr
    if "scalar" in expr:
        return scalars[expr["scalar"]]
    if "shape_of" in expr:
        return shapes[expr["shape_of"]][expr["axis"]]
    if "var" in expr:
        return scalars[expr["var"]]
    a, b = (evaluate(arg, scalars, shapes) for arg in expr["args"])
    return {"add": a + b, "sub": a - b, "mul": a * b, "floor_div": a // (b or 1), "mod": a % (b or 1), "min": min(a, b),
            "max": max(a, b)}[expr["op"]]


check("int argument", evaluate(launch["args"][1]["int"], {"n": 21}, {"x": (36, 8)}), 21 * 2 + 36 - 1)
check("call", (call["stmt"], call["entry"], call["args"]), ("call", "helper", [{"param": "x"}, {"param": "n"}]))
check("window", {k: window["args"][2][k] for k in ("view", "shape")}, {"view": "x", "shape": [4, 8]})
check("offset", evaluate(window["args"][2]["offset"], {}, {}), 32)
check("bound geometry", window["grid"], [1, 1, 1])
check("callee's geometry", (helper["body"]["grid"], helper["body"]["block"]), ([{"var": "S"}, 1, 1], [32, 1, 1]))
check("float text", float(window["args"][0]["float"]), -0.1)

# What a manifest cannot say is null, and says nothing of the others.
found = manifest(KERNELS + """
    @prim_func(target=CpuTarget())
    def main(x: Tensor[(4 * S, 8), "f32"]) -> None:
        for i in range(3):
            scale(2.0, i, x)

    @prim_func(target=CpuTarget())
    def once(x: Tensor[(4 * S, 8), "f32"]) -> None:
        scale(2.0, 1, x)
""")
check("inexpressible", [e["body"] is None for e in found["entries"]], [True, False])

# ---- Launch attributes, and scalars in every operator that a manifest has ----
found = manifest("""
S = DimVar("S", 1, 1000)

@module(entry="main")
class Launches:
    @prim_func(target=CudaTarget("sm_90"))
    def k(x: Tensor[(S, 32), "f32"]) -> None:
        with Mesh((Topology("thread", 32),), Layout(shape=(32,), strides=(1,)), ("t",)) as m:
            T.store(x, 1.0, 0, T.coord(m.t))

    @prim_func(target=CpuTarget())
    def main(x: Tensor[(S, 32), "f32"], n: Tensor[(), "i64"]) -> None:
        launch(k, x, grid=(S * 2,), block=(32,), cluster=(2, 1, 1), dynamic_smem=S * 4 + 1024, attrs=LaunchAttrs(((CudaLaunchAttr.PROGRAMMATIC_STREAM_SERIALIZATION, True),)))
        launch(k, x, grid=(max(n, 1) // 3 % 7 + 1,), block=(32,), attrs=LaunchAttrs(((CudaLaunchAttr.CLUSTER_DIMENSION, (1, 1, 1)), (CudaLaunchAttr.COOPERATIVE, True))))
        launch(k, T.tensor_view(x, n, 0, shape=(1, 32)), grid=(abs(n) - -n, min(n, 2)), block=(32,))
""")
first, second, third = found["entries"][0]["body"]["body"]
check("cluster", [launch["cluster"] for launch in (first, second, third)], [[2, 1, 1], [1, 1, 1], None])
check("attributes", [(launch["cooperative"], launch["programmatic_stream_serialization"]) for launch in (first, second, third)],
      [(False, True), (True, False), (False, False)])
check("dynamic_smem", [evaluate(launch["dynamic_smem"], {"S": 10}, {}) for launch in (first, second, third)], [1064, 0, 0])
for n in (-5, 0, 4, 40):
    check(f"grid for {n}", evaluate(second["grid"][0], {"n": n}, {}), max(n, 1) // 3 % 7 + 1)
    check(f"grid for {n}", [evaluate(extent, {"n": n}, {}) for extent in third["grid"]], [abs(n) + n, min(n, 2), 1])
    check(f"window for {n}", evaluate(third["args"][0]["offset"], {"n": n}, {}), 32 * n)

# ---- Dispatch ----
DISPATCH = """
S = DimVar("S", 1, 1000)

@module(entry="scale")
class Variants:
    @prim_func(target=CudaTarget("sm_80"))
    def small(x: Tensor[(S, 8), "f32"]) -> None:
        with Mesh((Topology("cta", S), Topology("thread", 8)), Layout(shape=(S, 8), strides=(8, 1)), ("c", "t")) as m:
            T.store(x, 1.0, T.coord(m.c), T.coord(m.t))

    @prim_func(target=CudaTarget("sm_80"))
    def large(x: Tensor[(S, 8), "f32"]) -> None:
        with Mesh((Topology("cta", S), Topology("thread", 8)), Layout(shape=(S, 8), strides=(8, 1)), ("c", "t")) as m:
            T.store(x, 2.0, T.coord(m.c), T.coord(m.t))

    @prim_func(target=CpuTarget())
    def scale(x: Tensor[(S, 8), "f32"]) -> None:
        match T.dispatch("scale", T.shape_of(x, 0)):
            case DimVarRangePat("S", 1, 16):
                small(x)
            case DimVarRangePat("S", 32, 64):
                large(x)
            case _:
                T.abort("no variant")
"""
body = manifest(DISPATCH)["entries"][0]["body"]
check("dispatch", (body["stmt"], body["dim"], body["subject"]), ("dispatch", "S", {"shape_of": "x", "axis": 0}))
check("cases", [(c["lo"], c["hi"], c["body"]["kernel"]) for c in body["cases"]], [(1, 16, "small"), (32, 64, "large")])
check("fallback", (body["fallback"]["stmt"], body["fallback"]["message"]), ("abort", "no variant"))

# ---- Which entry ----
TWO = """
@prim_func(target=CpuTarget())
def first(x: Tensor[(8,), "f32"]) -> None:
    second(x)

@prim_func(target=CpuTarget())
def second(x: Tensor[(8,), "f32"]) -> None:
    pass
"""
check("--entry", manifest(TWO, "--entry=second")["default_entry"], "second")
check("stem", manifest(TWO, "--entry=second")["module"], "stem")
refused(TWO, "2 CPU functions")
refused(TWO, "'third' is no entry", "--entry=third")

if failures:
    sys.exit("\n".join(failures))
