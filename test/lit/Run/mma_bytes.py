# RUN: %python %s %tf-run %t
"""Products of 8-bit values whose operands lie along m and n: every instruction, in all storage orders, straight from the tiles
and through fragments that the author fills, at windows known at run time only, and without bank conflicts."""
import json
import pathlib
import subprocess
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(41)

KERNEL = """from tilefoundry import *
tile = T.cuda.mma.tile(T.cuda.mma.atom(op=T.cuda.mma.{atom}), ({m}, {n}, {k}), {warps})

@prim_func(target=CudaTarget("{target}"))
def product(r: Tensor[(), "i32"], q: Tensor[(), "i32"], a: Tensor[({am}, {ak}), "{ta}"], b: Tensor[({ak}, {bn}), "{tb}"], c: Tensor[({m}, {n}), "{tc}"]) -> None:
    with tile.required_scope as block:
        at = T.alloc_tensor(TensorType(shape=({am}, {ak}), dtype="{ta}", layout={a_layout}, storage=smem))
        bt = T.alloc_tensor(TensorType(shape=({ak}, {bn}), dtype="{tb}", layout={b_layout}, storage=smem))
        acc = T.alloc_tensor(TensorType(shape=({m}, {n}), dtype="{tc}", layout=tile.C, storage=rmem))
        T.copy(a, at)
        T.copy(b, bt)
        T.fill(acc, {zero})
        T.sync(block)
        aw = {a_window}
        bw = {b_window}
{body}
        T.copy(acc, c)
"""
FRAGMENTS = """        x = T.alloc_tensor(TensorType(shape=({m}, {k}), dtype="{ta}", layout=tile.A, storage=rmem))
        y = T.alloc_tensor(TensorType(shape=({k}, {n}), dtype="{tb}", layout=tile.B, storage=rmem))
        T.copy(aw, x)
        T.copy(bw, y)
        T.mma(acc, x, y, atom=tile)"""
STRAIGHT = "        T.mma(acc, aw, bw, atom=tile)"
MIXED = """        y = T.alloc_tensor(TensorType(shape=({k}, {n}), dtype="{tb}", layout=tile.B, storage=rmem))
        T.copy(bw, y)
        T.mma(acc, aw, y, atom=tile)"""
BODIES = (STRAIGHT, FRAGMENTS, MIXED)

# name, M, N, K, dtypes of A, B, C, target
ATOMS = [(f"SM80_16x8x{k}_S32{a}{b}S32_TN", 16, 8, k, {"S8": "i8", "U8": "u8"}[a], {"S8": "i8", "U8": "u8"}[b], "i32", "sm_80")
         for k in (16, 32) for a in ("S8", "U8") for b in ("S8", "U8")]
ATOMS += [(f"SM89_16x8x32_F32{a}{b}F32_TN", 16, 8, 32, "fp8" + a.lower(), "fp8" + b.lower(), "f32", target)
          for (a, b), target in zip((("E4M3", "E4M3"), ("E5M2", "E5M2"), ("E4M3", "E5M2"), ("E5M2", "E4M3")),
                                    ("sm_89", "sm_90a", "sm_89", "sm_120"))]
ATOMS += [("SM75_8x8x16_S32S8S8S32_TN", 8, 8, 16, "i8", "i8", "i32", "sm_75")]


def numbers(dtype, shape):
    """Numbers that the dtype holds exactly, none of which is zero often."""
    low, high, kind = {"i8": (-128, 128, np.int8), "u8": (0, 256, np.uint8)}.get(dtype, (-7, 8, np.float32))
    return rng.integers(low, high, shape).astype(kind)


def tile_of(rows, columns):
    """A rows x columns tile whose rows lie one after the other, and one whose columns do."""
    along, across = f"shape=({rows}, {columns}), strides=({{}}, 1)", f"shape=({rows}, {columns}), strides=(1, {{}})"
    return [(f"Layout({axis.format(extent)})", f"Layout({axis.format(extent + 16)})",
             f"ComposedLayout(Swizzle(2, 4, 3), 0, Layout({axis.format(extent)}))",
             f"Layout({axis.format(extent + 4)})")  # rows not aligned to 16 bytes: element by element
            for axis, extent in ((along, columns), (across, rows))]


def product(atom, m, n, k, warps, a_layout, b_layout, body, room=(0, 0, 0), start=(0, 0), steps=(16, 16), options=()):
    """Windows of m x k and k x n in tiles with `room` more; they start at steps * start."""
    name, _, _, _, ta, tb, tc, target = atom
    (r, q), (dm, dn, dk) = start, room
    fields = {"m": m, "n": n, "k": k, "ta": ta, "tb": tb}
    text = KERNEL.format(atom=name, warps=warps, tc=tc, target=target, am=m + dm, bn=n + dn, ak=k + dk, a_layout=a_layout,
                         b_layout=b_layout, zero="0" if tc == "i32" else "0.0", body=body.format(**fields),
                         a_window=f"T.tensor_view(at, {steps[0]} * r, {steps[1]} * q, shape=({m}, {k}))",
                         b_window=f"T.tensor_view(bt, {steps[1]} * q, {steps[0]} * r, shape=({k}, {n}))", **fields)
    a, b = numbers(ta, (m + dm, k + dk)), numbers(tb, (k + dk, n + dn))
    rows, inner, columns = (slice(s, s + e) for s, e in ((steps[0] * r, m), (steps[1] * q, k), (steps[0] * r, n)))
    wide = np.int64 if tc == "i32" else np.float64
    want = (a.astype(wide)[rows, inner] @ b.astype(wide)[inner, columns]).astype(np.int32 if tc == "i32" else np.float32)
    check.run(text, {"r": r, "q": q, "a": a, "b": b}, {"c": (want, 0, 0)}, options=options)


# Every instruction, both operands along m and n, in every way to be read.
for turn, atom in enumerate(ATOMS):
    m, n, k = 4 * atom[1], 48, 2 * atom[3]
    a_layouts, b_layouts = tile_of(m, k)[1], tile_of(k, n)[0]
    warps = ((2, 1), (1, 1), (1, 3))[turn % 3]
    product(atom, m, n, k, warps, a_layouts[turn % 3], b_layouts[(turn + 1) % 3], BODIES[turn % 3])
    product(atom, m, n, k, warps, a_layouts[(turn + 1) % 4], b_layouts[turn % 4], BODIES[(turn + 1) % 3])

# Shapes: a warp with one fragment (8 columns: no row of 16 bytes is its own), an odd number of pairs, many.
S8, E4M3 = ATOMS[4], ATOMS[8]
for m, n, k, warps in ((16, 8, 32, (1, 1)), (16, 16, 32, (1, 1)), (32, 16, 64, (2, 2)), (16, 24, 32, (1, 1)), (64, 96, 96, (2, 2)),
                       (48, 80, 32, (3, 1)), (128, 128, 32, (4, 2))):
    for atom, body in ((S8, STRAIGHT), (E4M3, FRAGMENTS)):
        product(atom, m, n, k, warps, tile_of(m, k)[1][0], tile_of(k, n)[0][0], body)

# One operand along k, the other across.
for turn, (a_across, b_along) in enumerate(((0, 0), (1, 1), (0, 1))):
    product(S8, 64, 64, 64, (2, 2), tile_of(64, 64)[a_across][2], tile_of(64, 64)[b_along][2], BODIES[turn])

# Windows: aligned starts carry into the bits that the swizzle moves; others are read element by element.
for turn, (start, steps) in enumerate((((1, 2), (16, 16)), ((2, 1), (16, 16)), ((3, 1), (16, 4)), ((1, 2), (8, 16)), ((5, 7), (1, 1)))):
    swizzles = ("Swizzle(3, 4, 3)", "Swizzle(2, 4, 2)", "Swizzle(3, 5, 2)")
    a_layout = f"ComposedLayout({swizzles[turn % 3]}, 0, Layout(shape=(128, 96), strides=(1, 128)))"
    b_layout = f"ComposedLayout({swizzles[(turn + 1) % 3]}, 0, Layout(shape=(96, 128), strides=(128, 1)))"
    for atom in (S8, E4M3):
        product(atom, 64, 64, 64, (2, 1), a_layout, b_layout, BODIES[turn % 3], (64, 64, 32), start, steps, ("--seed=5",))

# Conflicts: 128 bytes a row, swizzled; every pass over the banks is one that the width asks for.
m = n = 128
layouts = [f"ComposedLayout(Swizzle(3, 4, 3), 0, Layout(shape=({rows}, {columns}), strides={strides}))"
           for rows, columns, strides in ((m, 64, "(1, 128)"), (64, n, "(128, 1)"))]
text = KERNEL.format(atom=S8[0], m=m, n=n, k=64, warps=(2, 2), am=m, ak=64, bn=n, ta="i8", tb="i8", tc="i32", target="sm_80",
                     a_layout=layouts[0], b_layout=layouts[1], zero="0", body=STRAIGHT, a_window="T.tensor_view(at, 0, 0, shape=(128, 64))",
                     b_window="T.tensor_view(bt, 0, 0, shape=(64, 128))")
path = pathlib.Path(sys.argv[2]) / "conflicts.tir"
path.write_text(text)
said = subprocess.run([sys.argv[1], "--device=sim", "--counters=json", "--arg=r=0", "--arg=q=0", "--arg=a=random:1", "--arg=b=random:2", str(path)],
                      check=True, capture_output=True, text=True).stdout
line = 1 + text.split("\n").index(STRAIGHT)
rows = [row["counters"] for row in json.loads(said)["launches"][0]["lines"] if row["line"] == line]
passes, ways = (sum(row[key] for row in rows) for key in ("shared_passes", "shared_ways"))
# 4 warps read 64 columns of A and of B each, 64 bytes by 64, in matrices of 128 bytes.
assert passes == ways == 4 * 2 * 64 * 64 // 128, (passes, ways)
