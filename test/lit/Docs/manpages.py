# RUN: %python %s %tf-llc %tf-run %docs %t
"""The man pages name every option that the tools' --help names and no other, and their examples run as they stand (from the
source folder, except that files are written elsewhere). Examples that need arrays of the reader's are left out."""
import pathlib
import re
import shlex
import subprocess
import sys

llc, run, docs, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve(), pathlib.Path(sys.argv[4])
scratch.mkdir(parents=True, exist_ok=True)
if not (scratch / "kernels").exists():
    (scratch / "kernels").symlink_to(docs.parent / "kernels")
faults, ran = [], 0


def plain(page):
    """The page's text without its formatting."""
    page = re.sub(r"\\f[A-Z]", "", page).replace("\\-", "-")
    page = re.sub(r"^\.(BR|BI|IR|RI|RB|IB) (.*)$", lambda m: "".join(shlex.split(m[2])), page, flags=re.M)
    return re.sub(r"^\.[A-Z]+ ?", "", page, flags=re.M)


LONG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def listed(tool):
    """The long options in the first column of --help."""
    text = subprocess.run([tool, "--help"], capture_output=True, text=True).stdout.split("Exit status")[0]
    columns = (re.split(r" {2,}", line.strip())[0] for line in text.splitlines() if line.lstrip().startswith("-"))
    return set(LONG.findall(" ".join(columns))) | {"--version"}


known = listed(llc) | listed(run)
for tool in (llc, run):
    name = pathlib.Path(tool).name
    page = (docs / "man" / f"{name}.1").read_text()
    described = set(LONG.findall(plain(page).split("EXAMPLES")[0]))
    wanted = listed(tool)
    faults += [f"{name}.1 lacks {option}" for option in sorted(wanted - described)]
    faults += [f"{name}.1 names {option}, no --help does" for option in sorted(described - known)]
    tools = {"tf-llc": llc, "tf-run": run}
    for example in re.findall(r"^\.EX\n(.*?)^\.EE", page, re.M | re.S):
        for line in example.splitlines():
            command = shlex.split(line)
            if any("@" in word for word in command):
                continue
            ran += 1
            done = subprocess.run([tools[command[0]], *command[1:]], cwd=scratch, capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                faults.append(f"{name}.1: {line}\n{done.stderr}")

print("\n".join(faults))
print(f"{ran} examples, {len(faults)} faults")
sys.exit(1 if faults or ran < 5 else 0)
