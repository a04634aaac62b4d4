# RUN: %python %s %tf-llc %tf-run %t
"""16-bit floats two at a time: each op is one packed instruction per pair where the target has one, none of them is taken apart,
and the values are those of exact arithmetic rounded once; at -O0, too, where LLVM joins nothing by itself."""
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "run-suite"))
import arithmetic
import tfcheck

llc = sys.argv[1]
check = tfcheck.Check(sys.argv[1:])
N = 512
DTYPES = {"a": "{0}", "b": "{0}", "c": "{0}", "w": "f32", "y": "{0}", "f": "bool", "v": "f32", "q": "fp8e4m3", "p": "fp8e4m3"}


def names_of(statement):
    return list(dict.fromkeys(re.findall(r"{(\w)}", statement)))


def annotation(name, dtype):
    return f'Tensor[({N},), "{DTYPES[name].format(dtype)}"]'


def kernel(i, cpu, dtype, statement, registers):
    """The statement names tensors in braces; through registers everything that it names is copied there and back."""
    names = names_of(statement)
    text = f'    @prim_func(target=CudaTarget("{cpu}"))\n    def k{i}({", ".join(f"{n}: {annotation(n, dtype)}" for n in names)}) -> None:\n'
    text += '        with Mesh((Topology("thread", 64),), Layout(shape=(64,)), ("t",)) as m:\n'
    text += f"            own = T.spread(m, ({N},), 8)\n"
    for name in names:
        text += f"            {name}1 = T.tensor_view({name}, layout=own)\n"
        if registers:
            text += f'            {name}2 = T.alloc_tensor(TensorType(shape=({N},), dtype="{DTYPES[name].format(dtype)}", layout=own, storage=rmem))\n'
            text += f"            T.copy({name}1, {name}2)\n" if name != names[-1] else ""
    text += "            " + statement.format(**{name: name + "12"[registers] for name in names}) + "\n"
    return text + f"            T.copy({names[-1]}2, {names[-1]}1)\n" * registers


def module(cpu, dtype, statements, registers):
    """A kernel for each statement, and an entry that launches them; outputs are numbered."""
    text = '@module(entry="main")\nclass packed:\n'
    text += "\n".join(kernel(i, cpu, dtype, s, registers) for i, s in enumerate(statements))
    inputs = dict.fromkeys(n for s in statements for n in names_of(s)[:-1])
    outputs = [(names_of(s)[-1], i) for i, s in enumerate(statements)]
    params = [f"{n}: {annotation(n, dtype)}" for n in inputs] + [f"{n}{i}: {annotation(n, dtype)}" for n, i in outputs]
    text += f'\n    @prim_func(target=CpuTarget())\n    def main({", ".join(params)}) -> None:\n'
    for (name, i), statement in zip(outputs, statements):
        text += f"        k{i}({', '.join([*names_of(statement)[:-1], f'{name}{i}'])})\n"
    return text


#   statement, what computes it in f64 from a, b, c, w, the instruction of a pair, the least sm for f16 and for bf16
CASES = [
    ("T.binary({a}, {b}, {y}, kind='add')", lambda a, b, c, w: a + b, "add", 75, 90),
    ("T.binary({a}, {b}, {y}, kind='sub')", lambda a, b, c, w: a - b, "sub", 75, 90),
    ("T.binary({a}, {b}, {y}, kind='mul')", lambda a, b, c, w: a * b, "mul", 75, 90),
    ("T.binary({a}, {b}, {y}, kind='min')", lambda a, b, c, w: np.minimum(a, b), "min.NaN", 80, 80),
    ("T.binary({a}, {b}, {y}, kind='max')", lambda a, b, c, w: np.maximum(a, b), "max.NaN", 80, 80),
    ("T.fma({a}, {b}, {c}, {y})", None, "fma.rn", 75, 80),
    ("T.unary({a}, {y}, kind='neg')", lambda a, b, c, w: -a, "neg", 75, 80),
    ("T.unary({a}, {y}, kind='abs')", lambda a, b, c, w: np.abs(a), "abs", 80, 80),
    ("T.unary({a}, {y}, kind='square')", lambda a, b, c, w: a * a, "mul", 75, 90),
    ("T.relu({a}, {y})", lambda a, b, c, w: np.maximum(a, 0), "max.NaN", 80, 80),
    ("T.clamp({a}, {y}, min_val=-1.0, max_val=2.5)", lambda a, b, c, w: np.minimum(np.maximum(a, -1.0), 2.5), "min.NaN", 80, 80),
    ("T.binary({a}, 1.75, {y}, kind='mul')", lambda a, b, c, w: a * 1.75, "mul", 75, 90),
    ("T.unary({w}, {y}, kind='cast')", lambda a, b, c, w: w, "cvt.rn", 80, 80),
] + [(f"T.binary({{a}}, {{b}}, {{f}}, kind='{kind}')", lambda a, b, c, w, kind=kind: arithmetic.BINARY[kind](a, b), "setp." + text, 75, 90)
     for kind, text in (("eq", "eq"), ("ne", "neu"), ("lt", "lt"), ("le", "le"), ("gt", "gt"), ("ge", "ge"))]
PAIRS = {"f16": "f16x2", "bf16": "bf16x2"}
ALONE = r"\b(add|sub|mul|min|max|fma|neg|abs|setp)\.[a-zA-Z.]*\bb?f16\b"


def emitted(text, options):
    """PTX by kernel."""
    path = check.scratch / "packed.tir"
    path.write_text(text)
    done = subprocess.run([llc, *options, str(path)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(text + done.stderr)
    return re.split(r"\.entry k\d+\(", done.stdout)[1:]


def exact_fma(a, b, c):
    """Products of two 16-bit floats are exact in f64; the sum is rounded to odd there, so the second rounding is the only one."""
    product, total = a * b, a * b + c
    high = total - product
    error = (product - (total - high)) + (c - high)
    odd = total.view(np.int64) % 2 != 0
    toward = np.where(error > 0, np.inf, -np.inf)
    inexact = np.isfinite(total) & np.isfinite(error) & (error != 0) & ~odd
    return np.where(inexact, np.nextafter(total, toward), total)


def values(dtype, rng):
    edges = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 65504.0, 2.0**-24, -(2.0**-14), 2.0**-133, 3.0e38]
    x = np.concatenate([rng.standard_normal(N - 144) * 4, np.repeat(edges, 12)])
    return arithmetic.round_float(dtype, x)


def pairs_are_packed(text, expected):
    """expected: by kernel the instruction, or none for what the target does element by element."""
    for options in ((), ("-O0",)):
        for i, (ptx, instruction) in enumerate(zip(emitted(text, options), expected, strict=True)):
            if not instruction:
                continue
            count, alone = len(re.findall(rf"\s{instruction}\s", ptx)), re.search(ALONE, ptx)
            if count != 4 or alone:
                sys.exit(f"k{i} {options}: {count} of 4 times {instruction}, {alone}\n{text}\n{ptx}")


rng = np.random.default_rng(3)
STATEMENTS = [case[0] for case in CASES]
with np.errstate(all="ignore"):
    for dtype in PAIRS:
        a, b, c = (values(dtype, rng) for _ in range(3))
        b, c = b[rng.permutation(N)], c[rng.permutation(N)]
        a[:20] = b[:20]
        w = (rng.standard_normal(N) * np.exp2(rng.integers(-30, 20, N))).astype(np.float32)
        w[:3] = np.nan, np.inf, -np.inf
        wide = [x.astype(np.float64) for x in (a, b, c, w)]
        want = {}
        for i, (statement, function, *_) in enumerate(CASES):
            exact, out = function(*wide) if function else exact_fma(*wide[:3]), names_of(statement)[-1]
            want[f"{out}{i}"] = exact if out == "f" else arithmetic.round_float(dtype, exact)
        for cpu in (75, 80, 90):
            least = [case[3] if dtype == "f16" else case[4] for case in CASES]
            expected = [rf"{re.escape(case[2])}[.a-z]*\.{PAIRS[dtype]}[.f32]*" if cpu >= sm else None for case, sm in zip(CASES, least)]
            for registers in (False, True):
                text = module(f"sm_{cpu}", dtype, STATEMENTS, registers)
                pairs_are_packed(text, expected)
                got = check.run(text, dict(zip("abcw", (a, b, c, w))), {name: (x, 0, 0) for name, x in want.items()})
                for i, (statement, _, instruction, *_) in enumerate(CASES):
                    if f"y{i}" in want and "NaN" not in instruction:
                        w1, g1 = want[f"y{i}"], got[f"y{i}"]
                        if (np.signbit(w1) != np.signbit(g1))[w1 == 0].any():
                            sys.exit(f"{dtype} sm_{cpu} {statement}: sign of zero")

# fp8: two conversions an instruction, both ways, from sm_89 on; the same values without it.
codes = np.arange(256)
exponent, mantissa = codes >> 3 & 15, codes & 7
magnitude = np.where(exponent == 0, np.ldexp(mantissa.astype(float), -9), np.ldexp(8.0 + mantissa, exponent - 10))
value = np.where(codes & 127 == 127, np.nan, np.where(codes & 128, -magnitude, magnitude)).astype(np.float32)
STATEMENTS = ["T.unary({q}, {v}, kind='cast')", "T.unary({w}, {p}, kind='cast')"]
INSTRUCTIONS = [r"cvt\.rn\.f16x2\.e4m3x2", r"cvt\.rn\.satfinite\.e4m3x2\.f32"]
want = {"v0": (np.tile(value, 2), 0, 0), "p1": (arithmetic.round_float("fp8e4m3", w), 0, 0)}
for cpu in ("sm_80", "sm_89"):
    for registers in (False, True):
        text = module(cpu, "f16", STATEMENTS, registers)
        pairs_are_packed(text, INSTRUCTIONS if cpu == "sm_89" else [None, None])
        check.run(text, {"q": np.tile(codes, 2).astype(np.uint8), "w": w}, want)
