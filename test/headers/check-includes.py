"""Checks that includes follow the house: Support <- IR <- Verify <- LowerToLLVM <- tools; Runtime and Sim stand beside. And that no
library code ends the process, prints, or changes what belongs to the whole process."""
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
# The stated end of memory outside of a guard, and what a kernel's printf prints.
ENDING = re.compile(r"(?<![\w.>])(exit|_exit|_Exit|quick_exit|abort|raise|assert|printf|puts|putchar|perror|signal|sigaction|setenv|putenv|"
                    r"chdir|setlocale|srand|rand|LLVMParseCommandLineOptions|LLVMInstallFatalErrorHandler|LLVMEnablePrettyStackTrace)\(")
ENDING_ALLOWED = {("lib/Support/Arena.c", "abort")}


def endings(root):
    for path in sorted((root / "lib").rglob("*.[ch]")):
        code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', lambda m: "\n" * m.group().count("\n"), path.read_text(), flags=re.S)
        for number, line in enumerate(code.splitlines(), 1):
            for match in ENDING.finditer(line):
                name = str(path.relative_to(root))
                if (name, match.group(1)) not in ENDING_ALLOWED:
                    yield f"{name}:{number}: {match.group(1)}() in a library"


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


found = [*faults(pathlib.Path(sys.argv[1])), *endings(pathlib.Path(sys.argv[1]))]
print("\n".join(found) or "includes follow the house")
sys.exit(bool(found))
