# RUN: %python %s %tf-llc %t
"""Long and deep programs: 10,000 statements parse, verify and print; time and memory grow with the length and not faster; what
nests 10,000 deep is refused with a message.

Times are compared with each other, never with a clock: a program of four times the statements may take six times the processor
time (less what an empty program takes), and seven times the memory beyond an empty program's."""
import os
import pathlib
import subprocess
import sys
import tempfile

tool, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
scratch.mkdir(parents=True, exist_ok=True)
HEAD = '@prim_func(target=CudaTarget("sm_80"))\ndef k(x: Tensor[(4096,), "f32"], n: Tensor[(), "i32"]):\n'


def program(statements):
    lines = []
    for i in range(statements // 2):
        lines.append(f"    v{i} = n * {i} + {'n' if i == 0 else f'v{i - 1}'}\n")
        lines.append(f"    T.fill(T.tensor_view(x, {i % 4096}, shape=(1,)), T.cast(v{i}, \"f32\"))\n")
    return HEAD + "".join(lines) + "    return\n"


def run(text, option):
    """Exit status, messages, processor seconds, peak kilobytes of the tool."""
    path = scratch / "program.tir"
    path.write_text(text)
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen([tool, option, str(path)], stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return child.returncode, said.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def best(text, option):
    runs = [run(text, option) for _ in range(3)]
    assert all(status == 0 for status, *_ in runs), runs[0][:2]
    return min(r[2] for r in runs), min(r[3] for r in runs)


for option in ("--verify-only", "--emit=tir"):
    idle, empty = best(HEAD + "    return\n", option)
    once, small = best(program(10_000), option)
    fourfold, large = best(program(40_000), option)
    print(f"{option}: 10,000 statements {once:.3f} s {small} KiB, 40,000 {fourfold:.3f} s {large} KiB, none {idle:.3f} s {empty} KiB")
    assert fourfold - idle < 6 * max(once - idle, 0.02), "time grows faster than the program"
    assert large - empty < 7 * (small - empty), "memory grows faster than the program"

DEEP = {
    "brackets": "A = " + "(" * 10_000 + "1" + ")" * 10_000 + "\n",
    "tuples": "A = " + "[" * 10_000 + "]" * 10_000 + "\n",
    "blocks": HEAD + "".join("    " * 1 + " " * i + "if n < 3:\n" for i in range(10_000)) + " " * 10_010 + "return\n",
    "unary operators": "A = " + "-" * 10_000 + "1\n",
    "calls": HEAD + "    a = " + "abs(" * 10_000 + "n" + ")" * 10_000 + "\n",
    "powers": "A = " + "1 ** " * 10_000 + "1\n",
}
for what, text in DEEP.items():
    status, said, _, _ = run(text, "--verify-only")
    assert status == 1 and "error: " in said and "deep" in said, f"{what}: status {status}: {said[:300]}"
