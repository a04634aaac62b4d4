# RUN: %python %s %tf-llc %docs
"""Every kernel in the manuals and the README is compiled as it stands.

A ```python block with an @prim_func in it is a file. It must compile without a word, except where a line says what is reported
there, with the rule:

    T.sync(m[0:2, 0:16])    # error [tir-1.5.4]        (or warning, remark)
"""
import collections
import pathlib
import re
import subprocess
import sys

tool, docs = sys.argv[1], pathlib.Path(sys.argv[2])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
MARK = re.compile(r"# (error|warning|remark) \[([\w.-]+)\]$")
SAID = re.compile(r"^<stdin>:(\d+):\d+: (error|warning|remark): .*?(?: \[([\w.-]+)\])?$", re.M)


def blocks():
    for path in sorted([docs.parent / "README.md", *docs.glob("*.md")]):
        text = path.read_text()
        for match in BLOCK.finditer(text):
            if "@prim_func" in match[1]:
                yield f"{path.name}:{text.count(chr(10), 0, match.start()) + 2}", match[1]


def check(place, code):
    """What is wrong with this block, or nothing."""
    marks = [(number, MARK.search(line)) for number, line in enumerate(code.splitlines(), 1)]
    expected = collections.Counter((number, *mark.groups()) for number, mark in marks if mark)
    done = subprocess.run([tool, "-"], input=code, capture_output=True, text=True, timeout=120)
    said = collections.Counter((int(line), severity, rule) for line, severity, rule in SAID.findall(done.stderr))
    faulty = any(severity == "error" for _, severity, _ in expected)
    if said != expected or (done.returncode != 0) != faulty or (not faulty and ".entry" not in done.stdout):
        return f"{place}: exit status {done.returncode}, expected {dict(expected)}, got {dict(said)}\n{done.stderr}"
    return ""


count, faults = 0, []
for place, code in blocks():
    count += 1
    faults += filter(None, [check(place, code)])
print("\n".join(faults))
print(f"{count} blocks, {len(faults)} at fault")
sys.exit(1 if faults or count < 20 else 0)
