"""A case: one small kernel with its inputs and what must come out; and the ways to distribute an element-wise statement."""
import dataclasses
import zlib

import numpy as np


@dataclasses.dataclass
class Case:
    """`$` in texts stands for the case's own prefix, so that many cases fit in one module.

    params: (name, annotation) in order; body: statements at column 0; inputs and want by parameter, want as
    (array, rtol, atol); launch: "" for the geometry that follows from the scopes, else the keywords of launch()."""
    name: str
    ops: tuple
    params: list
    body: str
    inputs: dict
    want: dict
    statics: str = ""
    dims: dict = dataclasses.field(default_factory=dict)  # by DimVar, for those that no input gives
    launch: str = ""
    target: str = "sm_80"
    ci: bool = False
    signs: bool = True  # zeros keep their sign
    module: str = ""    # a module of its own; the entry's parameters are `params`

    def indented(self, depth):
        return "".join(" " * depth + line + "\n" for line in self.body.strip("\n").split("\n"))


def generator(name):
    """Random numbers that depend on the case's name alone."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def tensor(shape, dtype):
    shape = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    return f'Tensor[{shape}, "{dtype}"]'


def mesh(threads):
    return f'Mesh((Topology("thread", {threads}),), Layout(shape=({threads},)), ("t",))'


def clip_value(dtype):
    return "True" if dtype == "bool" else "1.0" if dtype[0] in "f" or dtype in ("bf16", "tf32") else "1"


# How a statement over n elements is spread over threads. `operands` is [(name, dtype, is output)], `statement` names them in
# braces. Each returns (statics, extent of a parameter, body).
def _plain(operands, statement, n, threads, vec):
    return "", n, f"with {mesh(1)} as m:\n    {statement.format(**{o[0]: o[0] for o in operands})}"


def _views(operands, windows, depth):
    return [" " * depth + f"{name}_v = T.tensor_view({name}, {windows(dtype)})" for name, dtype, _ in operands]


def _gmem(operands, statement, n, threads, vec):
    lines = [f"with {mesh(threads)} as m:", f"    own = T.spread(m, ({n},), {vec})", *_views(operands, lambda d: "layout=own", 4),
             "    " + statement.format(**{o[0]: o[0] + "_v" for o in operands})]
    return "", n, "\n".join(lines)


def _through(storage, operands, statement, n, threads, vec):
    """Everything is copied into registers or shared memory, and back from there."""
    shared = storage == "smem"
    lines = [f"with {mesh(threads)} as m:", f"    own = T.spread(m, ({n},), {vec})", *_views(operands, lambda d: "layout=own", 4)]
    for name, dtype, _ in operands:
        layout = "" if shared else "layout=own, "
        lines.append(f'    {name}_r = T.alloc_tensor(TensorType(shape=({n},), dtype="{dtype}", {layout}storage={storage}))')
    if shared:
        lines += [f"    {o[0]}_w = T.tensor_view({o[0]}_r, layout=own)" for o in operands]
    end = "_w" if shared else "_r"
    lines += [f"    T.copy({o[0]}_v, {o[0]}{end})" for o in operands if not o[2]]
    lines += ["    T.sync(m)"] * shared
    lines.append("    " + statement.format(**{o[0]: o[0] + end for o in operands}))
    lines += ["    T.sync(m)"] * shared
    lines += [f"    T.copy({o[0]}{end}, {o[0]}_v)" for o in operands if o[2]]
    return "", n, "\n".join(lines)


def _clip(operands, statement, n, threads, vec):
    tile = threads * vec
    lines = [f"with {mesh(threads)} as m:", f"    own = T.spread(m, ({tile},), {vec})", f"    for j in range(0, {n}, {tile}):",
             *_views(operands, lambda d: f"j, shape=({tile},), layout=own, clip={clip_value(d)}", 8),
             "        " + statement.format(**{o[0]: o[0] + "_v" for o in operands})]
    return "", n, "\n".join(lines)


def _grid(operands, statement, n, threads, vec):
    tile = threads * vec
    lines = [f'with Mesh((Topology("cta", ceildiv($N, {tile})),), Layout(shape=(ceildiv($N, {tile}),)), ("c",)) as g:',
             f"    with {mesh(threads)} as m:", f"        own = T.spread(m, ({tile},), {vec})", f"        j = T.coord(g.c) * {tile}",
             *_views(operands, lambda d: f"j, shape=({tile},), layout=own, clip={clip_value(d)}", 8),
             "        " + statement.format(**{o[0]: o[0] + "_v" for o in operands})]
    return '$N = DimVar("$N", 0, 1048576)', "$N", "\n".join(lines)


def _private(operands, statement, n, threads, vec):
    lines = [f"with {mesh(n)} as m:"]
    for name, dtype, _ in operands:
        lines.append(f'    {name}_r = T.alloc_tensor(TensorType(shape=(1,), dtype="{dtype}", storage=rmem))')
    lines += [f"    T.copy(T.tensor_view({o[0]}, T.coord(m.t), shape=(1,)), {o[0]}_r)" for o in operands if not o[2]]
    lines.append("    " + statement.format(**{o[0]: o[0] + "_r" for o in operands}))
    lines += [f"    T.copy({o[0]}_r, T.tensor_view({o[0]}, T.coord(m.t), shape=(1,)))" for o in operands if o[2]]
    return "", n, "\n".join(lines)


def _sharded(operands, statement, n, threads, vec):
    ctas = n // (threads * vec)
    lines = [f'with Mesh((Topology("cta", {ctas}), Topology("thread", {threads})), Layout(shape=({ctas}, {threads})), ("c", "t")) as m:',
             f"    own = ShardLayout(layout=Layout(shape=({n},), strides=(1,)), attrs=(Split(0), Split(0)), mesh=m)",
             *_views(operands, lambda d: "layout=own", 4),
             "    " + statement.format(**{o[0]: o[0] + "_v" for o in operands})]
    return "", n, "\n".join(lines)


def _sizes(threads, vec):
    tile = threads * vec
    return [1, 7, 97, tile - 1, tile, tile + 1, 3 * tile + 5]


#        builder, threads, elements a thread, sizes
MODES = {
    "plain": (_plain, 1, 1, [1, 7, 31]),
    "gmem": (_gmem, 64, 4, [256, 768]),
    "gmem48": (_gmem, 48, 1, [48, 144]),
    "rmem": (lambda *a: _through("rmem", *a), 32, 8, [256, 512]),
    "smem": (lambda *a: _through("smem", *a), 64, 2, [128, 384]),
    "smem96": (lambda *a: _through("smem", *a), 96, 4, [384]),
    "clip": (_clip, 64, 4, _sizes(64, 4)),
    "clip48": (_clip, 48, 2, _sizes(48, 2)),
    "grid": (_grid, 32, 4, [0] + _sizes(32, 4)),
    "private": (_private, 1, 1, [1, 33, 97]),
    "sharded": (_sharded, 32, 4, [128, 384]),
}
COMBINATIONS = [(mode, n) for mode, (_, _, _, sizes) in MODES.items() for n in sizes]


def elementwise(name, ops, ins, outs, statement, mode, n, **more):
    """ins: [(name, dtype, values)], outs: [(name, dtype, values, rtol, atol)]. Rank-0 parameters go into more["scalars"]."""
    build, threads, vec, _ = MODES[mode]
    operands = [(i[0], i[1], False) for i in ins] + [(o[0], o[1], True) for o in outs]
    scalars = more.pop("scalars", [])
    fields = {s[0]: s[0] for s in scalars}
    statement = statement.format(**fields, **{o[0]: "{" + o[0] + "}" for o in operands})
    statics, extent, body = build(operands, statement, n, threads, vec)
    params = [(s[0], tensor((), s[1])) for s in scalars] + [(o[0], tensor((extent,), o[1])) for o in operands]
    inputs = {i[0]: i[2] for i in ins} | {s[0]: s[2] for s in scalars}
    return Case(f"{name}-{mode}-{n}", ops, params, body, inputs, {o[0]: o[2:] for o in outs}, statics=statics,
                dims={"$N": n} if extent == "$N" else {}, **more)
