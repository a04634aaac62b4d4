"""Compares compile-time arithmetic with Python's: CompareStatic.py TEXT-TOOL

Random expressions over integers and floats (fixed seed). Python computes them step by step, and every step that leaves 64 bits,
divides by zero, shifts outside 0..63 or gives no real number is "error" there, as the manual says."""
import ast
import math
import os
import random
import subprocess
import sys
import tempfile

INTS = [0, 1, 2, 3, 5, 7, 8, 16, 31, 32, 63, 64, 100, 127, 128, 255, 512, 1000, 65536, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
FLOATS = ["0.0", "0.5", "1.0", "1.5", "2.0", "3.25", "0.1", "1e-5", "1e10", "123456.789", "1e300", "1e-300", 'float("inf")', "7.", ".25"]


class Fault(Exception):
    pass


def check(v):
    if isinstance(v, bool):
        return v
    if isinstance(v, int) and not -2**63 <= v < 2**64:
        raise Fault
    if isinstance(v, complex):
        raise Fault
    return v


def number(*values):
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in values):
        raise Fault


def integer(*values):
    if any(type(v) is not int for v in values):
        raise Fault


def binary(op, a, b):
    number(a, b)
    if op is ast.Add:
        return a + b
    if op is ast.Sub:
        return a - b
    if op is ast.Mult:
        return a * b
    if op is ast.Div:
        return a / b
    if op is ast.FloorDiv:
        return a // b
    if op is ast.Mod:
        return a % b
    if op is ast.Pow:
        if isinstance(a, int) and isinstance(b, int) and b > 64 and abs(a) > 1:
            raise Fault
        return a ** b
    integer(a, b)
    if op in (ast.LShift, ast.RShift):
        if not 0 <= b <= 63:
            raise Fault
        return a << b if op is ast.LShift else a >> b
    return a & b if op is ast.BitAnd else a | b if op is ast.BitOr else a ^ b


def ceildiv(a, b):
    return check(-check(check(-a) // b))


COMPARE = {ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
           ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b}


def call(name, args):
    number(*args)
    if name == "ceildiv":
        integer(*args)
        return ceildiv(*args)
    return {"min": min, "max": max, "abs": abs, "int": int, "float": float}[name](*args)


def evaluate(n):
    if isinstance(n, ast.Constant):
        return check(n.value)
    if isinstance(n, ast.BinOp):
        return check(binary(type(n.op), evaluate(n.left), evaluate(n.right)))
    if isinstance(n, ast.UnaryOp):
        v = evaluate(n.operand)
        if isinstance(n.op, ast.Not):
            if not isinstance(v, bool):
                raise Fault
            return not v
        number(v)
        if isinstance(n.op, ast.Invert):
            integer(v)
            return check(~v)
        return check(-v if isinstance(n.op, ast.USub) else v)
    if isinstance(n, ast.Compare):
        values = [evaluate(x) for x in [n.left] + n.comparators]
        for op, a, b in zip(n.ops, values, values[1:]):
            if type(op) not in (ast.Eq, ast.NotEq):
                number(a, b)
            elif isinstance(a, bool) != isinstance(b, bool):
                raise NotImplementedError  # of different kinds: never equal here, numbers to Python
        return all(COMPARE[type(op)](a, b) for op, a, b in zip(n.ops, values, values[1:]))
    if isinstance(n, ast.BoolOp):
        values = [evaluate(x) for x in n.values]
        if not all(isinstance(v, bool) for v in values):
            raise Fault
        return all(values) if isinstance(n.op, ast.And) else any(values)
    if isinstance(n, ast.IfExp):
        test = evaluate(n.test)
        if not isinstance(test, bool):
            raise Fault
        return evaluate(n.body if test else n.orelse)
    if n.func.id == "float" and isinstance(n.args[0], ast.Constant) and isinstance(n.args[0].value, str):
        return float(n.args[0].value)
    return check(call(n.func.id, [evaluate(x) for x in n.args]))


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def expr(self, depth):
        r = self.r
        if depth == 0:
            if r.random() < .3:
                return r.choice(FLOATS)
            v = r.choice(INTS) if r.random() < .5 else r.randrange(-20, 200)
            return f"({v})" if v < 0 else str(v)
        e = lambda: self.expr(depth - 1)
        k = r.randrange(13)
        if k < 6:
            return f"({e()} {r.choice(['+', '-', '*', '/', '//', '%', '//', '%', '&', '|', '^', '<<', '>>', '**'])} {e()})"
        if k == 6:
            return f"({r.choice(['-', '+', '~'])}{e()})"
        if k == 7:
            return f"{r.choice(['min', 'max'])}({e()}, {e()})"
        if k == 8:
            return f"{r.choice(['abs', 'int', 'float'])}({e()})"
        if k == 9:
            return f"ceildiv({e()}, {e()})"
        if k == 10:
            return f"({e()} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {e()})"
        truth = lambda: f"({e()} {r.choice(['<', '<=', '>', '>=', '=='])} {e()})"
        if k == 11:
            return f"({truth()} {r.choice(['and', 'or'])} {r.choice(['', 'not '])}{truth()})"
        return f"({e()} if {truth()} else {e()})"


def python_value(text):
    try:
        return evaluate(ast.parse(text, mode="eval").body)
    except (Fault, ZeroDivisionError, OverflowError, ValueError):
        return "error"


def same(ours, theirs):
    if ours == "error" or isinstance(theirs, str):
        return ours == theirs
    if isinstance(theirs, bool) or isinstance(theirs, int):
        return ours == str(theirs)
    value = float(ours[7:-2]) if ours.startswith("float(") else float(ours)
    is_float = ours.startswith("float(") or "." in ours or "e" in ours
    return is_float and (math.isnan(value) and math.isnan(theirs) or value == theirs and math.copysign(1, value) == math.copysign(1, theirs))


def main():
    maker = Maker(11)
    texts, values = [], []
    while len(texts) < 20000:
        text = maker.expr(maker.r.randrange(1, 4))
        try:
            value = python_value(text)
        except NotImplementedError:
            continue
        texts.append(text)
        values.append(value)
    with tempfile.NamedTemporaryFile("w", delete=False) as f:
        f.write("\n".join(texts) + "\n")
    ours = subprocess.run([sys.argv[1], "eval", f.name], capture_output=True, text=True).stdout.splitlines()
    os.unlink(f.name)
    wrong = [(t, o, v) for t, o, v in zip(texts, ours, values) if not same(o, v)]
    for t, o, v in wrong[:20]:
        print(f"{t}\n  ours {o}, Python's {v}")
    print(f"{len(texts)} expressions, {sum(v == 'error' for v in values)} of them refused, {len(wrong)} differ")
    sys.exit(bool(wrong) or len(ours) != len(texts))


main()
