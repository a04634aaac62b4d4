"""Checks that includes follow the house: Support <- IR <- Verify <- LowerToLLVM <- tools; Runtime and Sim stand beside."""
import pathlib
import re
import sys

ALLOWED = {
    "Support": {"Support"},
    "IR": {"Support", "IR"},
    "Verify": {"Support", "IR", "Verify"},
    "LowerToLLVM": {"Support", "IR", "Verify", "LowerToLLVM"},
    "Runtime": {"Support", "Runtime"},
    "Sim": {"Support", "Runtime", "Sim"},
}
# The runtime opens the simulated device through this one header.
EXCEPTIONS = {("Runtime", "Sim/Sim.h")}


def faults(root):
    for folder, allowed in ALLOWED.items():
        for path in sorted((root / "lib" / folder).rglob("*.[ch]")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
                if not match:
                    continue
                name = match.group(1)
                where = f"{path.relative_to(root)}:{number}: {name}"
                if name.startswith("llvm-c/") and folder != "LowerToLLVM":
                    yield f"{where}: only lib/LowerToLLVM may include LLVM"
                top = name.split("/")[0]
                if top in ALLOWED and top not in allowed and (folder, name) not in EXCEPTIONS:
                    yield f"{where}: lib/{folder} must not depend on lib/{top}"
    for path in sorted((root / "include").rglob("*")):
        if path.is_file() and re.search(r'#\s*include\s*[<"](llvm|Support/|IR/|Verify/)', path.read_text()):
            yield f"{path.relative_to(root)}: a public header includes an internal one"


found = list(faults(pathlib.Path(sys.argv[1])))
print("\n".join(found) or "includes follow the house")
sys.exit(bool(found))
