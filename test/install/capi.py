"""The programs of docs/CAPI.md: each ```c block is built against the installed tree and run; the ```text block behind it is
what it prints. Every public header has one, which includes it first."""
import re
import subprocess
import sys

BLOCK = re.compile(r"^```c\n(.*?)^```\n```text\n(.*?)^```$", re.M | re.S)


def check(source, work, compile, environment):
    """compile(source file, program file) builds one program against both libraries."""
    blocks = BLOCK.findall((source / "docs/CAPI.md").read_text())
    faults = []
    for number, (code, expected) in enumerate(blocks):
        (work / f"capi{number}.c").write_text(code)
        compile(work / f"capi{number}.c", work / f"capi{number}")
        done = subprocess.run([str(work / f"capi{number}")], capture_output=True, text=True, timeout=60, env=environment)
        if done.returncode or done.stderr or done.stdout != expected:
            faults.append(f"{code.splitlines()[0]}: exit {done.returncode}\n{done.stdout}{done.stderr}--- expected\n{expected}")
    headers = {path.name for path in (source / "include/tilefoundry").glob("*.h")}
    shown = {re.match(r"#include <tilefoundry/(\w+\.h)>", code)[1] for code, _ in blocks}
    if shown != headers:
        faults.append(f"headers without an example: {sorted(headers - shown)}")
    if faults:
        sys.exit("\n".join(faults))
