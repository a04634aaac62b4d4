"""Compares tokens and syntax trees with Python's own: CompareSyntax.py TEXT-TOOL FILE…

Every file is read by both. Besides, random expressions and statements are made (fixed seed) and read by both."""
import ast
import io
import keyword
import os
import random
import subprocess
import sys
import tempfile
import tokenize

TOOL = sys.argv[1]


def run(command, text):
    with tempfile.NamedTemporaryFile("wb", suffix=".py", delete=False) as f:
        f.write(text.encode())
    try:
        return subprocess.run([TOOL, command, f.name], capture_output=True, text=True)
    finally:
        os.unlink(f.name)


# ---- tokens: what tokenize gives, without comments and blank lines, columns in bytes from 1 ----
def python_tokens(text):
    out = []
    lines = text.split("\n")
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[t.type]
        if name in ("COMMENT", "NL", "ENCODING"):
            continue
        line, column = t.start
        prefix = lines[line - 1][:column] if line <= len(lines) else ""
        where = f"{line} {len(prefix.encode()) + 1}"
        if name == "NUMBER":
            body = t.string.lower()
            is_float = not body.startswith("0x") and any(c in body for c in ".e")
            name = "FLOAT" if is_float else "INT"
        if name == "NAME" and keyword.iskeyword(t.string):
            name = "KEYWORD"
        if name == "ENDMARKER":
            name = "END"
        spelled = t.string.replace("\\", "\\x5c").replace("\n", "\\x0a") if name in ("NAME", "KEYWORD", "INT", "FLOAT", "STRING", "OP") else ""
        # Where blocks end and where the text ends is told by the order; Python counts a last line of its own there.
        out.append(f"{name} {spelled}" if name in ("DEDENT", "END", "NEWLINE", "INDENT") else f"{name} {where} {spelled}")
    return out


def our_tokens(text):
    out = []
    for line in run("tokens", text).stdout.splitlines():
        name, row, column, spelled = line.split(" ", 3)
        out.append(f"{name} {spelled}" if name in ("DEDENT", "END", "NEWLINE", "INDENT") else f"{name} {row} {column} {spelled}")
    return out


# ---- trees ----
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
          ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not"}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in", ast.NotIn: "not in",
           ast.Is: "is", ast.IsNot: "is not"}


def c99_hex(x):
    m, e = x.hex().split("p")
    return (m.rstrip("0").rstrip(".") if "." in m else m) + "p" + e


def constant(v):
    if v is Ellipsis:
        return "..."
    if isinstance(v, float):
        return f"(float {c99_hex(v)})"
    if isinstance(v, str):
        return f"(string {v.encode().hex()})"
    return str(v)


def block(body):
    return " (block" + "".join(" " + show(s) for s in body) + ")"


def optional(n):
    return " " + (show(n) if n is not None else "-")


def function(n):
    out = f"({'def' if isinstance(n, ast.FunctionDef) else 'class'} {n.name} (decorators" + "".join(" " + show(d) for d in n.decorator_list) + ")"
    if isinstance(n, ast.FunctionDef):
        out += "".join(f" (param {a.arg}{optional(a.annotation)})" for a in n.args.args) + optional(n.returns)
    return out + block(n.body) + ")"


def pattern(p):
    if isinstance(p, ast.MatchAs) and p.pattern is None:
        return p.name or "_"
    if isinstance(p, ast.MatchClass):
        keywords = "".join(f" (= {k} {pattern(v)})" for k, v in zip(p.kwd_attrs, p.kwd_patterns))
        return f"(call {show(p.cls)}" + "".join(" " + pattern(x) for x in p.patterns) + keywords + ")"
    return show(p.value)


def show(n):
    t = type(n)
    if t is ast.Name:
        return n.id
    if t is ast.Constant:
        return constant(n.value)
    if t in (ast.Tuple, ast.List):
        return "(tuple" + "".join(" " + show(x) for x in n.elts) + ")"
    if t is ast.UnaryOp:
        return f"({UNARY[type(n.op)]} {show(n.operand)})"
    if t is ast.BinOp:
        return f"({BINARY[type(n.op)]} {show(n.left)} {show(n.right)})"
    if t is ast.BoolOp:
        return f"({'and' if isinstance(n.op, ast.And) else 'or'}" + "".join(" " + show(x) for x in n.values) + ")"
    if t is ast.Compare:
        return f"(compare {show(n.left)}" + "".join(f" '{COMPARE[type(o)]}' {show(x)}" for o, x in zip(n.ops, n.comparators)) + ")"
    if t is ast.IfExp:
        return f"(ifexp {show(n.test)} {show(n.body)} {show(n.orelse)})"
    if t is ast.Call:
        return f"(call {show(n.func)}" + "".join(" " + show(x) for x in n.args) + "".join(f" (= {k.arg} {show(k.value)})" for k in n.keywords) + ")"
    if t is ast.Attribute:
        return f"(. {n.attr} {show(n.value)})"
    if t is ast.Subscript:
        return f"(index {show(n.value)} {show(n.slice)})"
    if t is ast.Slice:
        return "(slice" + optional(n.lower) + optional(n.upper) + optional(n.step) + ")"
    if t is ast.Assign:
        return f"(assign {n.targets[0].id} {show(n.value)})"
    if t is ast.Expr:
        return f"(expr {show(n.value)})"
    if t is ast.Return:
        return f"(return{optional(n.value)})"
    if t is ast.Pass:
        return "(pass)"
    if t is ast.Assert:
        return f"(assert {show(n.test)}{optional(n.msg)})"
    if t in (ast.Import, ast.ImportFrom):
        return "(import)"
    if t is ast.For:
        return f"(for {n.target.id} {show(n.iter)}{block(n.body)})"
    if t is ast.While:
        return f"(while {show(n.test)}{block(n.body)})"
    if t is ast.With:
        body = block(n.body)
        for item in reversed(n.items):
            whole = f"(with {item.optional_vars.id} {show(item.context_expr)}{body})"
            body = f" (block {whole})"
        return whole
    if t is ast.If:
        return f"(if {show(n.test)}{block(n.body)}{block(n.orelse)})"
    if t is ast.Match:
        return f"(match {show(n.subject)}" + "".join(f" (case {pattern(c.pattern)}{block(c.body)})" for c in n.cases) + ")"
    if t in (ast.FunctionDef, ast.ClassDef):
        return function(n)
    raise TypeError(t)


# ---- random texts ----
class Random:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def atom(self):
        return self.r.choice(["x", "y", "foo", "T", "1", "0x1F", "2.5", "1e-3", "'s'", '"t"', "True", "None", "()", "(a,)", "[b, c]", "..."])

    def expr(self, depth):
        r = self.r
        if depth == 0:
            return self.atom()
        e = lambda: self.expr(depth - 1 - r.randrange(2) if depth > 1 else 0)
        kind = r.randrange(14)
        if kind < 4:
            return f"{e()} {r.choice(list(BINARY.values()))} {e()}"
        if kind == 4:
            return f"{r.choice(['-', '+', '~', 'not '])}{e()}" if r.random() < .5 else f"(not {e()})"
        if kind == 5:
            return f" {r.choice(['and', 'or'])} ".join(e() for _ in range(r.randrange(2, 4)))
        if kind == 6:
            return "".join(f"{e()} {r.choice(list(COMPARE.values()))} " for _ in range(r.randrange(1, 4))) + e()
        if kind == 7:
            return f"{e()} if {e()} else {e()}"
        if kind == 8:
            return f"f({', '.join([e() for _ in range(r.randrange(3))] + [f'{k}={e()}' for k in r.sample('abc', r.randrange(3))])})"
        if kind == 9:
            return f"({e()}).{r.choice(['a', 'shape'])}"
        if kind == 10:
            return f"({e()})[{r.choice([e(), e() + ':', ':' + e(), e() + ':' + e() + ':' + e(), e() + ', :'])}]"
        if kind == 11:
            return f"({', '.join(e() for _ in range(r.randrange(1, 4)))},)"
        return f"({e()})"

    def text(self):
        """A text that Python accepts."""
        while True:
            text = "\n".join(f"v{i} = {self.expr(self.r.randrange(5))}" for i in range(3)) + "\n"
            try:
                ast.parse(text)
                return text
            except SyntaxError:
                continue


def main():
    import warnings
    warnings.simplefilter("ignore")
    bad = 0
    texts = [(path, open(path, encoding="utf-8").read()) for path in sys.argv[2:]]
    maker = Random(7)
    chunk = "".join(maker.text() for _ in range(1500))
    texts.append(("random", chunk))
    for name, text in texts:
        ours, theirs = our_tokens(text), python_tokens(text)
        if ours != theirs:
            at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            print(f"{name}: token {at}: ours {ours[at:at + 2]}, Python's {theirs[at:at + 2]}")
            bad += 1
        ours = run("ast", text).stdout.splitlines()
        theirs = [show(s) for s in ast.parse(text).body]
        if ours != theirs:
            at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            print(f"{name}: statement {at}:\n ours     {''.join(ours[at:at + 1])}\n Python's {''.join(theirs[at:at + 1])}")
            bad += 1
        print(f"{name}: {len(theirs)} statements")
    sys.exit(bad > 0)


main()
