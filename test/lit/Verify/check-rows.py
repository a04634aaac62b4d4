"""Every diagnostic has a test that expects it.

    check-rows.py ROOT [STAGE…]        STAGE: Verify, Text, Lower (default: all)

A row of include/tilefoundry/Diags<STAGE>.def that is no note counts as tested when
  * an `expected-error {{…}}` (or -warning, -remark) of a .tir file under test/lit could be its message: the text aligns with a
    piece of the row's format, with any text for a conversion, and at least a dozen of the format's own characters; or
  * a check line of a lit test, or a unit test's source, holds such a text; or
  * a unit test's source holds the row's ID, alone or as TF_DIAG_<ID>.
Prints the rows without a test and fails if there are any.
"""

import pathlib
import re
import sys

LEAST = 12  # characters of the format itself that have to agree, or all of a shorter one

ROW = re.compile(r'TF_DIAG\(\s*(\w+)\s*,\s*(\w+)\s*,\s*"[^"]*"\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.S)
CONVERSION = re.compile(r"%(?:[-+ #0]*\d*(?:\.(?:\*|\d+))?(?:ll|l|z|h)?[a-zA-Z])")


def rows(path):
    for name, severity, literals in ROW.findall(path.read_text()):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))
        text = text.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace") if "\\" in text else text
        yield name, severity, text


def tokens(text):
    """The format as characters, with None for a conversion."""
    out, at = [], 0
    for match in CONVERSION.finditer(text):
        out += text[at : match.start()].replace("%%", "%")
        out.append(None)
        at = match.end()
    return out + list(text[at:].replace("%%", "%"))


def agrees(pattern, text, least):
    """Whether `text` reads as a piece of the pattern, with at least `least` literal characters in it.

    best[p]: most literal characters matched so far with the reading head before pattern[p]; -1: impossible."""
    size = len(pattern)
    best = [0] * (size + 1)
    for character in text:
        after = [-1] * (size + 1)
        for p in range(size):
            if best[p] < 0:
                continue
            if pattern[p] is None:
                after[p] = max(after[p], best[p])
            elif pattern[p] == character:
                after[p + 1] = max(after[p + 1], best[p] + 1)
        for p in range(size):  # a conversion may also end here
            if pattern[p] is None:
                after[p + 1] = max(after[p + 1], after[p])
        best = after
    return max(best) >= least


def grams(text):
    return {text[i : i + LEAST] for i in range(len(text) - LEAST + 1)}


class Expected:
    """The expected texts, found by the pieces of LEAST characters that they hold."""

    def __init__(self, texts):
        self.texts = texts
        self.holding = {}
        for text in texts:
            for gram in grams(text):
                self.holding.setdefault(gram, set()).add(text)

    def candidates(self, pattern):
        chunks = [""]
        for token in pattern:
            if token is None:
                chunks.append("")
            else:
                chunks[-1] += token
        pieces = set().union(*map(grams, chunks))
        if not pieces:
            return self.texts
        return set().union(*(self.holding.get(piece, set()) for piece in pieces))


def expectations(root):
    """Expected texts of lit tests, and the enumerators that any test names."""
    texts, names = set(), set()
    for path in (root / "test").rglob("*"):
        if path.suffix not in (".tir", ".py", ".test", ".c", ".h") or not path.is_file() or path.name == "check-rows.py":
            continue
        source = path.read_text(errors="replace")
        if path.suffix in (".c", ".h"):
            names.update(re.findall(r"\b(?:TF_DIAG_)?([A-Z][A-Z0-9_]{5,})\b", source))
        texts.update(re.findall(r"expected-(?:error|warning|remark)[^{]*\{\{(.*?)\}\}", source))
        if path.suffix in (".tir", ".test", ".py"):
            texts.update(re.findall(r"(?:error|warning|remark): (.*?)(?: \[|\"|'$|$)", source, re.M))
        if path.suffix == ".c":
            texts.update(m for m in re.findall(r'"((?:[^"\\]|\\.)*)"', source) if len(m) >= LEAST)
    return Expected(sorted(texts)), names


def main():
    root = pathlib.Path(sys.argv[1])
    stages = sys.argv[2:] or ["Verify", "Text", "Lower"]
    texts, names = expectations(root)
    missing = []
    count = 0
    for stage in stages:
        for name, severity, text in rows(root / "include" / "tilefoundry" / f"Diags{stage}.def"):
            if severity == "NOTE":
                continue
            count += 1
            pattern = tokens(text)
            least = min(LEAST, sum(token is not None for token in pattern))
            if name not in names and not any(agrees(pattern, expected, least) for expected in texts.candidates(pattern)):
                missing.append(f"{stage}: {name}: {text}")
    for line in missing:
        print(f"no test expects {line}")
    print(f"{count - len(missing)} of {count} rows have a test")
    return 1 if missing or count == 0 else 0


sys.exit(main())
