# RUN: %python %s %tf-run %t
"""reduce and rms_norm where neither lanes nor whole warps hold a row: 48 or 40 threads a CTA, rows in blocks or by turns, a number
of CTAs that is known at launch; and threads that hold more elements than are written out, in memory and in loops; private
registers, numbered in any order, of which each thread reduces other rows; shares of a Partial that neither lanes nor whole warps hold."""
import sys

import numpy as np

import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(23)
KERNEL = """{statics}
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[({rows}, {columns}), "{dtype}"], w: Tensor[({columns},), "f32"], y: Tensor[({rows}, {columns}), "{dtype}"],
      s: Tensor[({rows}, 1), "f32"], t: Tensor[({rows}, 1), "{dtype}"]) -> None:
    with Mesh(({ctas}Topology("thread", {threads})), Layout(shape=({mesh}), strides=({strides})), ({names})) as m:
        own = ShardLayout(layout=Layout(shape=({layout})), attrs=({attrs}), mesh=m)
        rows = T.reduced(own, ({rows}, {columns}), 1)
        v = T.tensor_view(x, layout=own)
        T.rms_norm(v, T.tensor_view(y, layout=own), w, eps=1e-3)
        T.reduce(v, T.tensor_view(s, layout=rows), axes=(1,), kind="sum")
        T.reduce(v, T.tensor_view(t, layout=rows), axes=(1,), kind="max")
"""
ACROSS = {"names": '"c", "t"'}


def case(rows, columns, threads, ctas, layout, attrs, dtype="f32", statics="", run_rows=None):
    fields = dict(rows=rows, columns=columns, threads=threads, layout=layout, attrs=attrs, dtype=dtype, statics=statics)
    if ctas:
        fields |= dict(ctas=f'Topology("cta", {ctas}), ', mesh=f"{ctas}, {threads}", strides=f"{threads}, 1", names='"c", "t"')
    else:
        fields |= dict(ctas="", threads=f"{threads}", mesh=f"{threads},", strides="1,", names='"t",')
    text = KERNEL.format(**fields).replace(f'(Topology("thread", {threads}))', f'(Topology("thread", {threads}),)')
    x = rng.standard_normal((run_rows or rows, columns)).astype(np.float32)
    x = x if dtype == "f32" else tfcheck.bf16(x)
    w = rng.standard_normal(columns).astype(np.float32)
    wide = x.astype(np.float64)
    y = wide / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + 1e-3) * w
    near = 1e-5 if dtype == "f32" else 2.0**-8
    check.run(text, {"x": x, "w": w}, {"y": (y.astype(np.float32), near, 1e-6), "s": (wide.sum(axis=1, keepdims=True), 1e-4, 2e-3),
                                       "t": (x.max(axis=1, keepdims=True), 0, 0)})


case(4, 48, 48, 4, "4, 48", "Split(0), Split(1)")                       # a row a CTA
case(12, 96, 48, 4, "4, 3, 48, 2", "Split(0), Split(2)")                # three neighbouring rows a CTA
case(12, 96, 48, 4, "3, 4, 48, 2", "Split(1), Split(2)", "bf16")        # rows by turns
case(10, 120, 40, 2, "2, 5, 40, 3", "Split(0), Split(2)")
case("S", 48, 48, "S", "S, 48", "Split(0), Split(1)", statics='S = DimVar("S", 1, 4096)\n', run_rows=5)
case("S", 80, 40, "S", "S, 40, 2", "Split(0), Split(1)", "bf16", statics='S = DimVar("S", 1, 4096)\n', run_rows=3)
case(2, 262144, 32, None, "2, 2048, 32, 4", "Split(2),")                # 16384 elements a thread, in turns of four
case(1, 135168, 32, None, "1, 32, 4224", "Split(1),", "bf16")           # 4224 neighbours a thread
case(3, 5000, 1, None, "3, 5000, 1", "Split(2),")                       # one thread

PRIVATE = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(8, 5), "f32"], y: Tensor[(8, 1), "f32"]) -> None:
    with Mesh((Topology("thread", 8),), Layout(shape=(8,)), ("t",)) as m:
        r = T.alloc_tensor(TensorType(shape=(8, 5), dtype="f32", storage=rmem))
        T.copy(x, r)
        T.reduce(r, T.tensor_view(y, layout=ShardLayout(layout=Layout(shape=(8, 1)), attrs=(Split(0),), mesh=m)), axes=(1,), kind="sum")
"""
x = rng.integers(-50, 50, (8, 5)).astype(np.float32)
check.run(PRIVATE, {"x": x}, {"y": (x.sum(axis=1, keepdims=True), 0, 0)})

NUMBERED = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[(8, 6), "f32"], y: Tensor[(8,), "f32"], z: Tensor[(6,), "f32"]) -> None:
    with Mesh((Topology("thread", {threads}),), Layout(shape=({threads},)), ("t",)) as m:
        all = ShardLayout(layout={layout}, attrs=(Broadcast(),), mesh=m)
        r = T.alloc_tensor(TensorType(shape=(8, 6), dtype="f32", layout=all, storage=rmem))
        T.copy(x, r)
        T.reduce(r, T.tensor_view(y, layout=ShardLayout(layout={rows}, attrs=(Split(0),), mesh=m)), axes=(1,), kind="sum")
        c = T.alloc_tensor(TensorType(shape=(6,), dtype="f32", layout=ShardLayout(layout={columns}, attrs=(Split(0),), mesh=m), storage=rmem))
        T.reduce(r, c, axes=(0,), kind="max")
        T.copy(c, T.tensor_view(z, layout=ShardLayout(layout={columns}, attrs=(Split(0),), mesh=m)))
"""
x = rng.integers(-9, 10, (8, 6)).astype(np.float32)
for layout in ("Layout(shape=(8, 6))", "Layout(shape=(2, 3, 4, 2), strides=(24, 2, 6, 1))", "Layout(shape=(2, 8, 3), strides=(1, 6, 2))"):
    for threads, rows in ((2, "Layout(shape=(2, 4))"), (2, "Layout(shape=(2, 4), strides=(1, 2))")):
        text = NUMBERED.format(threads=threads, layout=layout, rows=rows, columns="Layout(shape=(2, 3))")
        check.run(text, {"x": x}, {"y": (x.sum(axis=1), 0, 0), "z": (x.max(axis=0), 0, 0)})

PARTIAL = """
@prim_func(target=CudaTarget("sm_80"))
def k(x: Tensor[({shares}, 6, {others}), "f32"], y: Tensor[(6, {others}), "f32"], z: Tensor[(6, {others}), "f32"]) -> None:
    with Mesh((Topology("thread", {threads}),), Layout(shape=({mesh})), ({names})) as m:
        full = ShardLayout(layout=Layout(shape=(6, {others})), attrs=({fulls}), mesh=m)
        p = T.alloc_tensor(TensorType(shape=(6, {others}), dtype="f32", layout=ShardLayout(layout=Layout(shape=(6, {others})), attrs=({attrs}), mesh=m), storage=rmem))
        f = T.alloc_tensor(TensorType(shape=(6, {others}), dtype="f32", layout=full, storage=rmem))
        T.copy(T.tensor_view(x, {at}, 0, 0, shape=(6, {others}), layout=full), p)
        T.reduce(p, f, axes=(), kind="{kind}")
        T.copy(f, y)
        T.reduce(p, z, axes=(), kind="{kind}")
"""
for mesh, names, others, kind in (((5, 24), "pn", 24, "sum"), ((6, 5), "np", 6, "max"), ((3, 20, 2), "pnp", 20, "sum"), ((7, 4, 5), "pnr", 4, "mean")):
    # Along p the threads have shares, along n they split the columns, along r they are replicas.
    shares = [extent for extent, name in zip(mesh, names) if name == "p"]
    kinds = {"p": f'Partial("{kind}")', "n": "Split(1)", "r": "Broadcast()"}
    text = PARTIAL.format(shares=", ".join(map(str, shares)), others=others, threads=np.prod(mesh), mesh=", ".join(map(str, mesh)), kind=kind,
                          names=", ".join(f'"{name}{i}"' for i, name in enumerate(names)), attrs=", ".join(kinds[name] for name in names),
                          fulls=", ".join(kinds[name] if name == "n" else "Broadcast()" for name in names),
                          at=", ".join(f"T.coord(m.p{i})" for i, name in enumerate(names) if name == "p"))
    x = rng.integers(-9, 10, (*shares, 6, others)).astype(np.float32)
    want = getattr(np, kind)(x.astype(np.float64), axis=tuple(range(len(shares))))
    check.run(text, {"x": x}, {"y": (want, 1e-6, 1e-6), "z": (want, 1e-6, 1e-6)})
