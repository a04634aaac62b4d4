# RUN: %python %s %docs
"""The manual and the compiler know the same rules: every rule that a message names stands in docs/Language.md outside of the list of
messages, every [rule] in the manuals is one of the compiler's, and the list of messages is up to date.

    python3 test/lit/Docs/rules.py docs --write        renews the list
"""
import collections
import pathlib
import re
import sys

docs = pathlib.Path(sys.argv[1])
ROW = re.compile(r'TF_DIAG\(\s*\w+\s*,\s*(\w+)\s*,\s*"([^"]*)"\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.S)
CONVERSION = re.compile(r"%(?:\d+|\.\*)?(?:ll|l|z)?[a-z]")
HEADING = "\n## Messages\n"
RULE = re.compile(r"\[([a-z][\w.-]*)\](?!\()")  # not a link


def rows():
    """(severity, rule, message) of every row, in the order of the files."""
    for stage in ("Text", "Verify", "Lower"):
        text = (docs.parent / "include" / "tilefoundry" / f"Diags{stage}.def").read_text()
        for severity, rule, literals in ROW.findall(text):
            message = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"').replace("\\\\", "\\")
            yield severity, rule, CONVERSION.sub("…", message).replace("%%", "%")


def natural(rule):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", rule)]


def messages():
    by_rule = collections.defaultdict(list)
    for severity, rule, message in rows():
        if rule:
            kind = "" if severity == "ERROR" else f"{severity.lower()}: "
            by_rule[rule].append(f"* `` {kind}{message} ``")
    out = [HEADING + "\n", "By rule; `…` stands for what differs. Messages that are no error say so. This list is made from the compiler's tables\n",
           "(`test/lit/Docs/rules.py`).\n"]
    for rule in sorted(by_rule, key=natural):
        out.append(f"\n### {rule}\n\n" + "\n".join(dict.fromkeys(by_rule[rule])) + "\n")
    return set(by_rule), "".join(out)


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


rules, listing = messages()
manual = docs / "Language.md"
prose, _, _ = manual.read_text().partition(HEADING)
if "--write" in sys.argv:
    manual.write_text(prose + listing)

faults = []
if manual.read_text() != prose + listing:
    faults.append("the list of messages is out of date; run: python3 test/lit/Docs/rules.py docs --write")
named = set(RULE.findall(without_code(prose)))
faults += [f"no paragraph of Language.md names [{rule}]" for rule in sorted(rules - named)]
for path in sorted(docs.glob("*.md")):
    text = without_code(path.read_text())
    faults += [f"{path.name} names [{rule}], which no message has" for rule in sorted(set(RULE.findall(text)) - rules)]
print("\n".join(faults))
print(f"{len(rules)} rules, {len(faults)} faults")
sys.exit(1 if faults or len(rules) < 50 else 0)
