# Python files are TIR files: what ast.parse accepts and what uses only the language's constructs compiles as it is, and the
# text's layout means to tf-llc what it means to Python.
# RUN: %python %s %tf-llc %S/Inputs %kernels/..
"""python.py TF-LLC INPUTS TREE

* Every .py below INPUTS, written as people write kernel files, passes ast.parse and tf-llc --verify-only, with any line ends.
* Every .tir of the tree passes ast.parse, piece by piece, unless an error is expected in the piece.
* Files spelled anew at random (fixed seed): blanks, joined lines, comments, semicolons, indentation, parentheses, trailing commas,
  number and string literals. Where ast.parse says that the tree is the same, tf-llc prints the same.
"""
import ast
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import tokenize

TF_LLC, INPUTS, TREE = sys.argv[1:4]
SEED, ROUNDS = 2026, 3
SEPARATOR = "# -----\n"


def pieces(path):
    text = open(path, encoding="utf-8").read()
    return re.split(r"^# -----.*\n?", text, flags=re.M) if "--split-input-file" in text else [text]


def tree_of(text):
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return None


def run(texts, *options):
    """Status, output and messages of tf-llc for these texts as parts of one file, or for one file of bytes."""
    data = texts if isinstance(texts, bytes) else SEPARATOR.join(texts).encode()
    with tempfile.NamedTemporaryFile("wb", suffix=".tir") as f:
        f.write(data)
        f.flush()
        split = [] if isinstance(texts, bytes) else ["--split-input-file"]
        return subprocess.run([TF_LLC, *options, *split, f.name], capture_output=True, text=True)


# ---- A file as a tree of logical lines: (tokens of the line, block that hangs on it or None) ----
def lines_of(text):
    stack, line = [[]], []
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        if t.type in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
            continue
        if t.type == tokenize.NEWLINE:
            stack[-1].append([line, None])
            line = []
        elif t.type == tokenize.INDENT:
            stack[-1][-1][1] = []
            stack.append(stack[-1][-1][1])
        elif t.type == tokenize.DEDENT:
            stack.pop()
        else:
            line.append((t.type, t.string))
    return stack[0]


def respell_string(r, spelled):
    value = ast.literal_eval(spelled)
    if r.random() < .3 and "\n" not in value and "\\" not in value and '"' not in value:
        return r.choice(['"%s"', '"""%s"""', "u'''%s'''", 'r"%s"', 'R"""%s"""', 'U"%s"']) % value if "'" not in value else repr(value)
    if r.random() < .3 and value:
        cut = r.randrange(len(value) + 1)
        return f"{value[:cut]!r} {value[cut:]!r}"
    if r.random() < .3:
        return '"' + "".join(f"\\x{ord(c):02x}" if ord(c) < 128 else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}" for c in value) + '"'
    return r.choice([spelled, repr(value)])


def respell_number(r, spelled):
    value = ast.literal_eval(spelled)
    if isinstance(value, int):
        return r.choice([spelled, str(value), hex(value), hex(value).upper().replace("0X", "0X"), oct(value), bin(value), f"{value:_}", f"{value:#_x}"])
    forms = [spelled, repr(value), f"{value:e}", f"{value!r}".replace("e", "E"), f"{value!r}0" if "e" not in repr(value) else spelled]
    return r.choice([form for form in forms if ast.literal_eval(form) == value])


def join(r, tokens, wild):
    """The tokens of a logical line with blanks of any kind between them."""
    out, depth, before = "", 0, None
    for kind, spelled in tokens:
        if kind == tokenize.STRING and r.random() < wild and tokens != [(kind, spelled)]:
            spelled = respell_string(r, spelled)
        if kind == tokenize.NUMBER and r.random() < wild:
            spelled = respell_number(r, spelled)
        closing = spelled in (")", "]", "}")
        words = before is not None and (before[-1].isalnum() or before[-1] in "_\"'.") and (spelled[0].isalnum() or spelled[0] in "_\"'.")
        gap = " " if words else ""
        if before is not None and r.random() < wild:
            gaps = [" ", "  ", "\t", " \\\n", "\\\n      ", "\f "]
            if depth:
                gaps += ["\n", "\n" + " " * r.randrange(12), "  # (a comment, \"with quotes\"\n\n\t", " #\n", "\r\n"]
            gap = r.choice(gaps)
        elif not words and before is not None and r.random() < .5:
            gap = " "
        out += gap + spelled
        depth += (spelled in ("(", "[", "{")) - closing
        before = spelled
    return out


COMPOUND = {"for", "while", "if", "elif", "else", "with", "def", "class", "@", "match", "case"}


def is_simple(line):
    return line[1] is None and line[0][0][1] not in COMPOUND


def emit(r, block, indent, wild):
    out, i = "", 0
    while i < len(block):
        tokens, body = block[i]
        out += r.choice(["", "", "", "\n", "   \n", "# a comment\n", "\t# another: one\n", "\f\n"]) if r.random() < wild else ""
        out += indent + join(r, tokens, wild / 4)
        if body is None:
            while i + 1 < len(block) and is_simple(block[i]) and is_simple(block[i + 1]) and r.random() < wild:
                i += 1
                out += r.choice([";", " ; ", "; "]) + join(r, block[i][0], wild / 4)
            out += r.choice(["", ";", " ;"]) if is_simple(block[i]) and r.random() < wild / 2 else ""
            out += r.choice(["", "  ", "  # why", "#"]) + "\n"
        elif all(map(is_simple, body)) and r.random() < wild:
            out += " " + "; ".join(join(r, line[0], wild / 4) for line in body) + "\n"
        else:
            out += r.choice(["", " ", "  # begins"]) + "\n"
            out += emit(r, body, indent + r.choice([" ", "  ", "    ", "\t", "       "]), wild)
        i += 1
    return out


def respelled(r, text):
    return emit(r, lines_of(text), "", r.choice([.1, .3, .6]))


def parenthesised(r, text):
    """One expression in parentheses, at any place."""
    lines = text.split("\n")
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.expr)]
    n = r.choice(nodes)

    def offset(line, column):
        return len(("\n".join(lines[:line - 1]) + ("\n" if line > 1 else "")).encode()) + column

    data, begin, end = text.encode(), offset(n.lineno, n.col_offset), offset(n.end_lineno, n.end_col_offset)
    return (data[:begin] + b"(" + data[begin:end] + b")" + data[end:]).decode()


def with_commas(r, text):
    """Commas in front of closing brackets."""
    places = [m.start() for m in re.finditer(r"(?<=[\w)\]\"'])[)\]]", text)]
    at = r.choice(places)
    return text[:at] + r.choice([",", ", ", " ,"]) + text[at:]


def variant(r, text, tree):
    for _ in range(r.randrange(6)):
        new = r.choice([parenthesised, with_commas])(r, text)
        if tree_of(new) == tree:
            text = new
    new = respelled(r, text)
    return new if tree_of(new) == tree else text


# ---- The parts of the test ----
faults = []


def expect(good, what, text="", said=""):
    if not good and len(faults) < 10:
        faults.append(what)
        print(f"== {what}\n{text}\n-- {said[-2000:]}")


def check_inputs():
    names = sorted(name for name in os.listdir(INPUTS) if name.endswith(".py"))
    for name in names:
        data = open(os.path.join(INPUTS, name), "rb").read()
        tree = tree_of(data)
        expect(tree is not None, f"{name}: not Python")
        printed = run(data, "--emit=tir")
        expect(run(data, "--verify-only").returncode == 0 and printed.returncode == 0, f"{name}: refused", said=printed.stderr)
        forms = {"CRLF": data.replace(b"\n", b"\r\n"), "CR": data.replace(b"\n", b"\r"), "BOM": b"\xef\xbb\xbf" + data,
                 "no last line end": data.rstrip(b"\n"), "BOM and CRLF": b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
                 "blank end": data + b"    \n\t\n   # end", "form feeds": b"\f" + data.replace(b"\n\n", b"\n\f\n")}
        for form, changed in forms.items():
            if tree_of(changed) != tree:
                expect(form in ("CR", "form feeds"), f"{name} with {form}: the variant is none")
                continue
            result = run(changed, "--emit=tir")
            expect(result.stdout == printed.stdout, f"{name} with {form}: prints differently", said=result.stderr)
    return [open(os.path.join(INPUTS, name), encoding="utf-8").read() for name in names]


def check_tree():
    accepted = []
    for folder, folders, files in os.walk(TREE):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        for file in sorted(files):
            if not file.endswith(".tir"):
                continue
            path = os.path.join(folder, file)
            for i, piece in enumerate(pieces(path)):
                python = tree_of(piece) is not None
                expect(python or "expected-error" in piece, f"{path}, piece {i}: not Python", piece)
                if python and "expected-error" not in piece and "@prim_func" in piece:
                    accepted.append(piece)
    return accepted


def check_variants(texts):
    r = random.Random(SEED)
    bases = [text for text in texts if run([text], "--emit=tir").returncode == 0]
    count = different = 0
    printed = run(bases, "--emit=tir").stdout
    for _ in range(ROUNDS):
        variants = [variant(r, text, tree_of(text)) for text in bases]
        different += sum(a != b for a, b in zip(bases, variants))
        count += len(variants)
        result = run(variants, "--emit=tir")
        if result.returncode == 0 and result.stdout == printed:
            continue
        for base, text in zip(bases, variants):
            a, b = run([base], "--emit=tir"), run([text], "--emit=tir")
            expect(b.stdout == a.stdout, "the tree is the same, the print is not", text, b.stderr or b.stdout)
    print(f"{len(bases)} programs, {count} variants, {different} of them respelled")
    expect(different > .9 * count, "few variants differ from their programs")


def main():
    inputs = check_inputs()
    tree = check_tree()
    check_variants(inputs + tree[:: max(1, len(tree) // 40)])
    sys.exit(1 if faults else 0)


main()
