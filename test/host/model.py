"""Host functions as Python: a module's text is Python, so it is executed as such, with these classes for what the text names.

Numbers are Python's integers and exact fractions, rounded here; tensors are arrays of bits with an offset and strides; kernels are
functions in KERNELS. What the language makes an error is raised as Fault, with a part of the message that must be reported.
"""
import __future__
import builtins
import math
import struct
from fractions import Fraction

import numpy as np

# name: kind, bits, exponent bits, mantissa bits
DTYPES = {"bool": ("b", 8, 0, 0), "f8e8m0": ("f", 8, 8, 0), "fp8e4m3": ("f", 8, 4, 3), "fp8e5m2": ("f", 8, 5, 2), "f16": ("f", 16, 5, 10),
          "bf16": ("f", 16, 8, 7), "tf32": ("f", 32, 8, 10), "f32": ("f", 32, 8, 23), "f64": ("f", 64, 11, 52)}
DTYPES.update({f"{kind}{bits}": (kind, bits, 0, 0) for kind in "iu" for bits in (8, 16, 32, 64)})


class Fault(Exception):
    """The function ends with an error whose message holds this text."""


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def rounded(dtype, value):
    """A float or fraction as the nearest number of a floating dtype, a float."""
    if isinstance(value, float) and math.isnan(value):
        return value
    exponent, mantissa = DTYPES[dtype][2:]
    if dtype == "f8e8m0":
        return rounded_to_power(value)
    bias = 2 ** (exponent - 1) - 1
    largest = 448.0 if dtype == "fp8e4m3" else (2.0 - 2.0**-mantissa) * 2.0**bias
    beyond = largest if dtype.startswith("fp8") else math.inf
    negative = math.copysign(1.0, value) < 0 if isinstance(value, float) else value < 0
    result = beyond
    if not (isinstance(value, float) and math.isinf(value)):
        exact = abs(Fraction(value))
        spacing = Fraction(2) ** (max(exponent_of(exact), 1 - bias) - mantissa)
        steps = math.floor(exact / spacing + Fraction(1, 2)) if dtype == "tf32" else round(exact / spacing)
        result = float(steps * spacing) if steps * spacing <= Fraction(largest) else beyond
    return -result if negative else result


def exponent_of(exact):
    if exact == 0:
        return -(10**6)
    estimate = exact.numerator.bit_length() - exact.denominator.bit_length()
    return estimate if Fraction(2) ** estimate <= exact else estimate - 1


def rounded_to_power(value):
    if value < 0:
        return math.nan
    if value == 0:
        return 2.0**-127
    if value >= 2.0**127:
        return 2.0**127
    e = exponent_of(Fraction(value))
    above = Fraction(value) / Fraction(2) ** e
    up = above > Fraction(3, 2) or (above == Fraction(3, 2) and (e + 127) % 2)
    return 2.0 ** min(max(e + up, -127), 127)


def decode8(dtype, code):
    exponent, mantissa = DTYPES[dtype][2:]
    if dtype == "f8e8m0":
        return math.nan if code == 255 else 2.0 ** (code - 127)
    bias, field, fraction = 2 ** (exponent - 1) - 1, code >> mantissa & 2**exponent - 1, code & 2**mantissa - 1
    sign = -1.0 if code & 128 else 1.0
    if dtype == "fp8e4m3" and code & 127 == 127 or dtype == "fp8e5m2" and field == 31 and fraction:
        return math.nan
    if dtype == "fp8e5m2" and field == 31:
        return sign * math.inf
    return sign * (math.ldexp(fraction, 1 - bias - mantissa) if field == 0 else math.ldexp(2**mantissa + fraction, field - bias - mantissa))


CODES8 = {dtype: {struct.pack("<d", decode8(dtype, code)): code for code in range(256)} for dtype in ("fp8e4m3", "fp8e5m2", "f8e8m0")}


def decode(dtype, bits):
    kind, width = DTYPES[dtype][:2]
    if kind == "b":
        return bool(bits)
    if kind != "f":
        return bits - 2**width if kind == "i" and bits >> width - 1 else bits
    if width == 8:
        return decode8(dtype, bits)
    if dtype == "f64":
        return struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    if dtype == "f16":
        return struct.unpack("<e", bits.to_bytes(2, "little"))[0]
    return struct.unpack("<f", (bits << 16 if dtype == "bf16" else bits).to_bytes(4, "little"))[0]


def encode(dtype, value):
    kind, width = DTYPES[dtype][:2]
    if kind != "f":
        return int(value) % 2**width
    if width == 8:
        return CODES8[dtype].get(struct.pack("<d", value), CODES8[dtype][struct.pack("<d", math.nan)])
    if dtype in ("f64", "f16"):
        return int.from_bytes(struct.pack("<d" if dtype == "f64" else "<e", value), "little")
    bits = int.from_bytes(struct.pack("<f", value), "little")
    return bits >> 16 if dtype == "bf16" else bits


def holds(outer, inner):
    return all(a >= b for a, b in zip(DTYPES[outer][2:], DTYPES[inner][2:]))


class Num:
    """A number of a dtype. Integers compute in i64; a plain Python number beside one is a literal."""

    def __init__(self, dtype, value):
        self.dtype, self.value = dtype, value

    def is_float(self):
        return DTYPES[self.dtype][0] == "f"

    def both(self, other):
        """The common dtype and both values in it."""
        if isinstance(other, Num):
            b, dtype = other.value, self.dtype
            if self.is_float() and other.is_float():
                dtype = self.dtype if holds(self.dtype, other.dtype) else other.dtype if holds(other.dtype, self.dtype) else "f32"
            elif other.is_float():
                dtype = other.dtype
            elif not self.is_float():
                dtype = "u64" if self.dtype == other.dtype == "u64" else "i64"
        else:
            b = other
            dtype = self.dtype if self.is_float() else "f32" if isinstance(other, float) else "i64"
        if DTYPES[dtype][0] != "f":
            return dtype, self.value, b
        return dtype, *(rounded(dtype, Fraction(v) if isinstance(v, int) else v) for v in (self.value, b))

    def operate(self, other, integers, floats, swapped=False):
        dtype, a, b = self.both(other)
        a, b = (b, a) if swapped else (a, b)
        if DTYPES[dtype][0] == "f":
            return Num(dtype, rounded(dtype, floats(a, b)))
        dtype, value = "i64", integers(wrapped("i64", a), wrapped("i64", b))
        if not -(2**63) <= value < 2**63:
            raise Fault("the arithmetic overflows 64 bits")
        return Num(dtype, value)

    def __add__(self, other):
        return self.operate(other, lambda a, b: a + b, exactly(lambda a, b: a + b))

    def __sub__(self, other):
        return self.operate(other, lambda a, b: a - b, exactly(lambda a, b: a - b))

    def __rsub__(self, other):
        return self.operate(other, lambda a, b: a - b, exactly(lambda a, b: a - b), True)

    def __mul__(self, other):
        return self.operate(other, lambda a, b: a * b, exactly(lambda a, b: a * b))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other):
        return self.operate(other, None, divide)

    def __rtruediv__(self, other):
        return self.operate(other, None, divide, True)

    def __floordiv__(self, other):
        return self.operate(other, whole(lambda a, b: a // b), floor_divide)

    def __rfloordiv__(self, other):
        return self.operate(other, whole(lambda a, b: a // b), floor_divide, True)

    def __mod__(self, other):
        return self.operate(other, whole(lambda a, b: a % b), modulus)

    def __rmod__(self, other):
        return self.operate(other, whole(lambda a, b: a % b), modulus, True)

    def __and__(self, other):
        return self.operate(other, lambda a, b: a & b, None)

    def __or__(self, other):
        return self.operate(other, lambda a, b: a | b, None)

    def __xor__(self, other):
        return self.operate(other, lambda a, b: a ^ b, None)

    def __lshift__(self, other):
        return self.operate(other, shift(lambda a, b: wrapped("i64", a << b)), None)

    def __rshift__(self, other):
        return self.operate(other, shift(lambda a, b: a >> b), None)

    def __rlshift__(self, other):
        return Num("i64", other) << self

    def __rrshift__(self, other):
        return Num("i64", other) >> self

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __neg__(self):
        return Num(self.dtype, -self.value) if self.is_float() else 0 - self

    def __abs__(self):
        return Num(self.dtype, abs(self.value)) if self.is_float() else self + 0 if self >= 0 else 0 - self

    def compare(self, other, test):
        dtype, a, b = self.both(other)
        return test(wrapped("i64", a), wrapped("i64", b)) if dtype == "i64" else test(a, b)

    def __lt__(self, other):
        return self.compare(other, lambda a, b: a < b)

    def __le__(self, other):
        return self.compare(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self.compare(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self.compare(other, lambda a, b: a >= b)

    def __eq__(self, other):
        return self.compare(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self.compare(other, lambda a, b: a != b)


def wrapped(dtype, value):
    kind, width = DTYPES[dtype][:2]
    value %= 2**width
    return value - 2**width if kind == "i" and value >> width - 1 else value


def exactly(operator):
    """The exact result of finite operands; IEEE's where there is none, and its sign of zero."""

    def operate(a, b):
        plain = operator(a, b)
        if math.isinf(a) or math.isinf(b) or math.isnan(a) or math.isnan(b) or plain == 0:
            return plain
        return operator(Fraction(a), Fraction(b))

    return operate


def divide(a, b):
    if b == 0 or math.isinf(a) or math.isinf(b) or math.isnan(a) or math.isnan(b) or a == 0:
        with np.errstate(all="ignore"):
            return float(np.float64(a) / np.float64(b))
    return Fraction(a) / Fraction(b)


def floor_divide(a, b):
    if b == 0:
        return divide(a, b)
    with np.errstate(all="ignore"):
        return float(np.floor_divide(np.float64(a), np.float64(b))) if math.isinf(a) or math.isinf(b) else a // b


def modulus(a, b):
    if b == 0 or math.isinf(a):
        return math.nan
    return a % b


def whole(operator):
    def operate(a, b):
        if b == 0:
            raise Fault("division by zero")
        return operator(a, b)

    return operate


def shift(operator):
    def operate(a, b):
        if not 0 <= b <= 63:
            raise Fault("a shift by less than 0 or more than 63")
        return operator(a, b)

    return operate


def smaller(a, b):
    return extreme(a, b, builtins.min)


def larger(a, b):
    return extreme(a, b, builtins.max)


def extreme(a, b, choose):
    if not isinstance(a, Num):
        a, b = (b, a) if isinstance(b, Num) else (Num("i64", a), b)

    def floats(x, y):
        if math.isnan(x) or math.isnan(y):
            return math.nan
        if x == y:  # -0 is below +0
            return choose(x, y, key=lambda v: math.copysign(1.0, v))
        return choose(x, y)

    return a.operate(b, choose, floats)


def number(value):
    return value.value if isinstance(value, Num) else value


def index(value):
    """A number that counts: i64, as all integers compute."""
    return wrapped("i64", number(value))


def cast(value, dtype):
    kind, width = DTYPES[dtype][:2]
    x = number(value)
    if kind == "b":
        return x != 0
    if kind == "f":
        return Num(dtype, rounded(dtype, Fraction(x) if isinstance(x, int) else x))
    if not isinstance(x, float):
        return Num(dtype, wrapped(dtype, int(x)))
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if kind == "i" else (0, 2**width - 1)
    return Num(dtype, 0 if math.isnan(x) else low if x < low else high if x > high else int(x))


# ---- Tensors ---------------------------------------------------------------------------------------------------------


class Tensor:
    """A window of storage: offset and strides in elements of a flat array of bits. `clip`: bits that elements outside of `bounds`,
    (start, extent) per axis, read as."""

    def __init__(self, dtype, storage, bits, shape, strides=None, offset=0, clip=None, bounds=None):
        self.dtype, self.storage, self.bits, self.shape = dtype, storage, bits, tuple(shape)
        self.strides = c_order(self.shape) if strides is None else tuple(strides)
        self.offset, self.clip, self.bounds = offset, clip, bounds

    def positions(self):
        """Flat positions in C order, -1 for clipped elements."""
        out = []
        for index in np.ndindex(*self.shape):
            at = self.offset + sum(i * s for i, s in zip(index, self.strides))
            if self.bounds:
                dropped = len(self.bounds) - len(index)
                inside = all(0 <= start + i < extent for (start, extent), i in zip(self.bounds, (0,) * dropped + index))
                at = at if inside else -1
            out.append(at)
        return out

    def read(self):
        return [self.clip if at < 0 else int(self.bits[at]) for at in self.positions()]

    def write(self, values):
        for at, value in zip(self.positions(), values):
            if at >= 0:
                self.bits[at] = value


def c_order(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def storage_of(dtype, elements):
    return np.zeros(elements, getattr(np, f"uint{DTYPES[dtype][1]}"))


class Layout:
    def __init__(self, shape, strides=None):
        self.shape, self.strides = tuple(number(e) for e in shape), None if strides is None else tuple(number(s) for s in strides)


class TensorType:
    def __init__(self, shape, dtype, layout, storage):
        self.shape, self.dtype, self.storage = tuple(number(e) for e in shape), dtype, storage


def as_bits(dtype, value):
    x = number(value)
    if DTYPES[dtype][0] == "f":
        return encode(dtype, rounded(dtype, Fraction(x) if isinstance(x, int) else x))
    return encode(dtype, x)


def check_window(starts, extents, limits):
    if any(s < 0 or s + e > limit for s, e, limit in zip(starts, extents, limits)):
        raise Fault("the window leaves its tensor")


class T:
    cast = staticmethod(cast)

    @staticmethod
    def alloc_tensor(type):
        return Tensor(type.dtype, type.storage, storage_of(type.dtype, math.prod(type.shape)), type.shape)

    @staticmethod
    def tensor_view(x, *starts, shape=None, layout=None, clip=None):
        starts = [index(s) for s in starts]
        shape = None if shape is None else tuple(number(e) for e in shape)
        if layout is not None:
            return Tensor(x.dtype, x.storage, x.bits, layout.shape, layout.strides, x.offset)
        if not starts:
            return Tensor(x.dtype, x.storage, x.bits, shape, None, x.offset)
        if len(starts) == 1 and len(x.shape) > 1:
            check_window(starts, [math.prod(shape)], [math.prod(x.shape)])
            return Tensor(x.dtype, x.storage, x.bits, shape, None, x.offset + starts[0])
        full = (1,) * (len(starts) - len(shape)) + shape
        offset = x.offset + sum(s * stride for s, stride in zip(starts, x.strides))
        strides = x.strides[len(starts) - len(shape):]
        if clip is not None:
            return Tensor(x.dtype, x.storage, x.bits, shape, strides, offset, as_bits(x.dtype, clip), list(zip(starts, x.shape)))
        check_window(starts, full, x.shape)
        return Tensor(x.dtype, x.storage, x.bits, shape, strides, offset)

    @staticmethod
    def copy(source, destination):
        if math.prod(source.shape) != math.prod(destination.shape):
            raise Fault("source and destination differ in their number of elements")
        destination.write(source.read())

    @staticmethod
    def fill(x, value):
        bits = as_bits(x.dtype, value)
        x.write([bits] * math.prod(x.shape))

    @staticmethod
    def store(x, value, *at):
        T.fill(T.tensor_view(x, *at, shape=(1,)), value)

    @staticmethod
    def load(x, *at):
        at = [index(i) for i in at]
        for axis, (i, extent) in enumerate(zip(at, x.shape)):
            if not 0 <= i < extent:
                raise Fault(f"load: index {i} on axis {axis} is outside [0, {extent})")
        at = x.positions()[sum(i * s for i, s in zip(at, c_order(x.shape)))]
        value = decode(x.dtype, x.clip if at < 0 else int(x.bits[at]))
        return value if x.dtype == "bool" else Num(x.dtype, value)

    @staticmethod
    def shape_of(x, axis):
        return Num("i32", x.shape[axis])

    @staticmethod
    def dispatch(name, extent):
        return number(extent)

    @staticmethod
    def abort(message):
        raise Fault(f"abort: {message}")


def trips(*bounds):
    start, stop, step = {1: lambda b: (0, b[0], 1), 2: lambda b: (*b, 1), 3: lambda b: b}[len(bounds)]([index(b) for b in bounds])
    return [Num("i64", i) for i in builtins.range(start, stop, step)] if step else []


# ---- Functions -------------------------------------------------------------------------------------------------------


def as_argument(value, want):
    """A scalar argument in the parameter's dtype."""
    x, (kind, width, *_) = number(value), DTYPES[want]
    if kind == "f" or kind == "b":
        return cast(value, want)
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if kind == "i" else (0, 2**width - 1)
    if not low <= x <= high:
        raise Fault("the value is out of the dtype's range")
    return Num(want, x)


def bind(params, arguments, limits):
    """Arguments as parameters, after the checks of a call. params: (name, dtype, shape of numbers and names or None, strides or None,
    is_const); limits: of N. Returns the values and the DimVars."""
    values = []
    for (name, dtype, shape, *_), a in zip(params, arguments):
        if shape is not None and a.clip is not None:
            raise Fault("a clipped window is no tensor")
        values.append(as_argument(a, dtype) if shape is None else a)
    tensors = [(p, v) for p, v in zip(params, values) if p[2] is not None]
    for (name, *_), t in tensors:
        if t.storage == "gmem" and math.prod(t.shape) and t.offset * DTYPES[t.dtype][1] // 8 % 16:
            raise Fault("the first element is at address")
    dims = {}
    for (name, dtype, shape, *_), t in tensors:
        for axis, (extent, have) in enumerate(zip(shape, t.shape)):
            if extent == "N" and extent not in dims and not limits[0] <= have < limits[1]:
                raise Fault("expected a value in")
            if dims.setdefault(extent, have) != have and isinstance(extent, str):
                raise Fault(f"axis {axis}")
    for (name, dtype, shape, strides, _), t in tensors:
        want = strides or c_order(t.shape)
        if math.prod(t.shape) and any(e != 1 and a != b for e, a, b in zip(t.shape, t.strides, want)):
            raise Fault("has stride")
    return values, dims


class Functions:
    """A module's text, executed. signatures: parameters by function, as `bind` takes them; kernels: a Python function for each; limits:
    of N, half open."""

    def __init__(self, text, signatures, kernels, limits):
        self.signatures, self.kernels, self.limits = signatures, kernels, limits
        names = dict(T=T, Layout=Layout, TensorType=TensorType, range=trips, min=smaller, max=larger, abs=abs, gmem="gmem",
                     host="host", launch=self.launch, prim_func=self.prim_func, module=lambda **_: lambda c: c, CpuTarget=lambda: "cpu",
                     CudaTarget=lambda name: name, DimVar=lambda name, lo, hi: None, ceildiv=lambda a, b: -(-a // b))
        self.names = names
        lines = text.replace("from tilefoundry import *", "").replace("case DimVarRangePat(", "case (").split("\n")
        code = compile("\n".join(match_as_if(lines)), "kernel.tir", "exec", __future__.annotations.compiler_flag)
        exec(code, names)

    def prim_func(self, target, **_):
        def decorate(function):
            name = function.__name__
            made = self.kernel(name) if target != "cpu" else self.host(name, function)
            self.names[name] = made  # of a class's body, too
            return made

        return decorate

    def host(self, name, function):
        def call(*arguments):
            values, dims = bind(self.signatures[name], arguments, self.limits)
            saved = {n: self.names.get(n) for n in dims}
            self.names.update({n: Num("i64", v) for n, v in dims.items() if isinstance(n, str)})
            try:
                function(*values)
            finally:
                self.names.update(saved)

        return call

    def kernel(self, name):
        def call(*arguments, grid=None, block=None):
            values, dims = bind(self.signatures[name], arguments, self.limits)
            self.kernels[name](*values, dims=dims, grid=grid, block=block)

        return call

    def launch(self, kernel, *arguments, grid, block):
        grid, block = ([index(e) for e in (x if isinstance(x, tuple) else (x,))] for x in (grid, block))
        if any(e < 0 for e in grid + block):
            raise Fault("an extent is negative")
        kernel(*arguments, grid=grid, block=block)


def match_as_if(lines):
    """match T.dispatch(…) with its ranges as Python has it: the same lines, with conditions for patterns."""
    out, subject = [], None
    for line in lines:
        stripped = line.strip()
        indent = line[:len(line) - len(line.lstrip())]
        if stripped.startswith("match T.dispatch("):
            subject = stripped[len("match "):-1]
            line = f"{indent}if True:"
        elif stripped.startswith("case ("):
            name, lo, hi = stripped[len("case ("):-2].split(",")
            line = f"{indent}if {lo} <= {subject} <{hi}:"
            line = line if out[-1].rstrip().endswith("if True:") else line.replace("if ", "elif ", 1)
        elif stripped == "case _:":
            line = f"{indent}else:"
        out.append(line)
    return out
