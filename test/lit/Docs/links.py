# RUN: %python %s %docs
"""Every link between the manuals, and from the README and CONTRIBUTING, leads to a file that is there and to a heading in it."""
import pathlib
import re
import sys

docs = pathlib.Path(sys.argv[1])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


def anchors(path):
    """The names that headings get: lower case, blanks as dashes, without punctuation."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


count, faults = 0, []
for page in [docs.parent / "README.md", docs.parent / "CONTRIBUTING.md", *sorted(docs.glob("*.md"))]:
    for link in LINK.findall(without_code(page.read_text())):
        if "://" in link:
            continue
        count += 1
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            faults.append(f"{page.name}: there is no {link}")
        elif anchor and anchor not in anchors(target):
            faults.append(f"{page.name}: {target.name} has no heading #{anchor}")
print("\n".join(faults))
print(f"{count} links, {len(faults)} faults")
sys.exit(1 if faults or count < 30 else 0)
