# RUN: %python %s %tf-run %t
"""Clipped windows against padded NumPy arrays: random places around and beyond every edge, windows of clipped windows, dropped axes,
distributions along either axis and dealt chunks, starts known at compile time or not, sources that are strided themselves."""
import sys

import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(113)
PAD = 40
ROWS, COLUMNS = 13, 21


def seen(x, row, column, height, width, value):
    """What a window of x shows: its elements, and the value around them."""
    canvas = np.full((x.shape[0] + 2 * PAD, x.shape[1] + 2 * PAD), value, x.dtype)
    canvas[PAD:PAD + x.shape[0], PAD:PAD + x.shape[1]] = x
    return canvas[PAD + row:PAD + row + height, PAD + column:PAD + column + width]


def changed(x, row, column, values):
    """x with the values written through a window: what is outside is not."""
    out = x.copy()
    for i, j in np.ndindex(values.shape):
        if 0 <= row + i < x.shape[0] and 0 <= column + j < x.shape[1]:
            out[row + i, column + j] = values[i, j]
    return out


def start(value, name, scalars):
    """The start as a number, a parameter, or a mixture."""
    form = rng.integers(0, 3)
    if form == 0:
        return str(value)
    scalars[name] = value if form == 1 else value - 3
    return name if form == 1 else f"{name} + 3"


def layout(height, width):
    form = rng.integers(0, 5)
    if form == 0:
        return ""
    if form == 1 and height % 4 == 0 and width % 8 == 0:
        return f", layout=ShardLayout(Layout(({height}, {width})), (Split(0), Split(1)), m)"
    if form == 2 and width % 8 == 0:
        return f", layout=ShardLayout(Layout(({height}, {width})), (Broadcast(), Split(1)), m)"
    vec = int(rng.choice([v for v in (1, 2, 4) if height * width % (32 * v) == 0] or [0]))
    return f", layout=T.spread(m, ({height}, {width}), {vec})" if vec else ""


def one(number):
    turned = rng.random() < 0.3  # the source is a transposed view: its rows are columns of memory
    x = rng.integers(-99, 100, (COLUMNS, ROWS) if turned else (ROWS, COLUMNS)).astype(np.int32)
    source = x.T if turned else x
    text = f"T.tensor_view(x, layout=Layout(({ROWS}, {COLUMNS}), (1, {ROWS})))" if turned else "x"
    target = text.replace("(x,", "(z,") if turned else "z"
    scalars, value = {"a": 0, "b": 0, "c": 0, "d": 0}, int(rng.integers(-9, 10))
    height, width = (int(v) for v in rng.choice([(8, 16), (4, 8), (16, 32), (5, 7), (1, 32), (32, 1)]))
    row, column = (int(rng.integers(-extent - 2, n + 3)) for extent, n in ((height, ROWS), (width, COLUMNS)))
    window = f"T.tensor_view({text}, {start(row, 'a', scalars)}, {start(column, 'b', scalars)}, shape=({height}, {width}), clip={value})"
    want = seen(source, row, column, height, width, value)
    inner = rng.random() < 0.5
    if inner:
        h, w = int(rng.integers(1, height + 1)), int(rng.integers(1, width + 1))
        i, j = int(rng.integers(0, height - h + 1)), int(rng.integers(0, width - w + 1))
        window = f"T.tensor_view({window}, {start(i, 'c', scalars)}, {start(j, 'd', scalars)}, shape=({h}, {w}))"
        want, row, column, height, width = want[i:i + h, j:j + w], row + i, column + j, h, w
    how = layout(height, width)
    read = f"T.tensor_view({window}{how})" if how and inner else window[:-1] + how + ")"
    write = read.replace(text, target, 1) if turned else read.replace("(x,", "(z,")
    body = f"""
@prim_func(target=CudaTarget("sm_80"))
def k({", ".join(f'{s}: Tensor[(), "i32"]' for s in scalars)}, x: Tensor[{x.shape}, "i32"], y: Tensor[({height}, {width}), "i32"], z: Tensor[{x.shape}, "i32"]):
    with Mesh((Topology("thread", 32),), Layout((4, 8)), ("r", "c")) as m:
        T.copy({read}, T.tensor_view(y{how}))
        T.binary({read}, -2, {write}, kind="mul")
""".replace("T.tensor_view(y)", "y")
    z = rng.integers(-99, 100, x.shape).astype(np.int32)
    written = changed(z.T if turned else z, row, column, want * -2)
    check.run(body, {**scalars, "x": x, "z": z}, {"y": (want, 0, 0), "z": (written.T if turned else written, 0, 0)})


for number in range(60):
    one(number)
