"""Prints what the tool chain makes of each kernel beside its CUDA C++ twin in bench/twins.

Registers, spills, stack and shared memory are ptxas's own words. The other columns are read from the PTX:

  vec128   share of the bytes moved by ld.global/st.global/cp.async instructions that 16-byte accesses move, each instruction
           counted once
  ld.local number of local-memory instructions
  loop     instructions per mma in the hot loop: the shortest stretch between a label and a backward branch to it that holds
           an mma; the whole body if no loop does

What memory sees is counted by the simulated device over one launch with every run-time extent at 4 (or the least beyond):

  executed  warp instructions
  passes    over the banks of shared memory, conflicts included
  sectors   of 32 bytes in global memory
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = ("registers", "spill", "stack", "shared", "ld.local", "vec128", "mma", "loop", "executed", "passes", "sectors")


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def assemble(ptx, arch, scratch):
    """What ptxas -v says of the module's one kernel."""
    source = scratch / "k.ptx"
    source.write_text(ptx)
    said = run(["ptxas", "-v", f"-arch={arch}", source, "-o", scratch / "k.cubin"])

    def number(pattern):
        found = re.search(pattern, said)
        return int(found.group(1)) if found else 0

    return {
        "registers": number(r"Used (\d+) registers"),
        "spill": number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads"),
        "stack": number(r"(\d+) bytes stack frame"),
        "shared": number(r"(\d+) bytes smem"),
    }


def instructions(ptx):
    """Labels as ('label', name), instructions as ('insn', text), in order, of everything between braces."""
    text = re.sub(r"//.*|/\*.*?\*/", "", ptx)
    for piece in re.split(r"[;{}\n]", text):
        piece = piece.strip()
        label = re.match(r"([$\w]+):\s*(.*)", piece)
        if label:
            yield "label", label.group(1)
            piece = label.group(2)
        if re.match(r"(@!?%\w+\s+)?[a-z][\w:]*\.|(@!?%\w+\s+)?(ret|exit|trap|bra)\b", piece):
            yield "insn", re.sub(r"^@!?%\w+\s+", "", piece)


def access_bytes(opcode):
    width = re.search(r"\.(?:[bfsu])(\d+)$", opcode)
    if not width:
        return 0
    vector = re.search(r"\.v(\d)\.", opcode)
    return int(width.group(1)) // 8 * (int(vector.group(1)) if vector else 1)


def wide_share(code):
    wide = total = 0
    for _, text in code:
        opcode = text.split()[0]
        if opcode.startswith("cp.async.c") and ".shared.global" in opcode:
            size = int(re.search(r"\],\s*\[.*?\],\s*(\d+)", text).group(1))
        elif re.match(r"(ld|st)(\.\w+)*?\.global", opcode):
            size = access_bytes(opcode)
        else:
            continue
        total += size
        wide += size if size >= 16 else 0
    return f"{100 * wide // total}%" if total else "-"


def hot_loop(code):
    place, loops = {}, []
    is_mma = [kind == "insn" and text.startswith(("mma.sync", "wgmma.mma")) for kind, text in code]
    for at, (kind, text) in enumerate(code):
        if kind == "label":
            place[text] = at
        elif text.startswith("bra"):
            start = place.get(text.split()[-1])
            if start is not None and any(is_mma[start:at]):
                loops.append((at - start, start, at + 1))
    _, first, last = min(loops, default=(0, 0, len(code)))
    body = range(first, last)
    mmas = sum(is_mma[i] for i in body)
    return sum(is_mma), f"{sum(code[i][0] == 'insn' for i in body) / mmas:.1f}" if mmas else "-"


def measure(ptx, arch, scratch):
    row = assemble(ptx, arch, scratch)
    code = list(instructions(ptx))
    insns = [item for item in code if item[0] == "insn"]
    row["ld.local"] = sum(bool(re.match(r"(ld|st)\.local", text)) for _, text in insns)
    row["vec128"] = wide_share(insns)
    row["mma"], row["loop"] = hot_loop(code)
    return row


def evaluate(expr, dims):
    """A manifest's expression."""
    if isinstance(expr, int):
        return expr
    if "var" in expr:
        return dims[expr["var"]]
    values = [evaluate(arg, dims) for arg in expr["args"]]
    if expr["op"] in ("add", "mul"):
        result = values[0]
        for value in values[1:]:
            result = result + value if expr["op"] == "add" else result * value
        return result
    a, b = values
    return {"sub": a - b, "floor_div": a // (b or 1), "mod": a % (b or 1), "ceil_div": -(-a // (b or 1)), "min": min(a, b),
            "max": max(a, b)}[expr["op"]]


def arguments(manifest):
    """Options of tf-run that launch the module's first kernel on random arrays."""
    kernel = manifest["kernels"][0]
    dims = {dim["name"]: min(max(4, dim["lo"]), dim["hi"] - 1) for dim in manifest["dims"]}
    options = ["--kernel=" + kernel["ptx_name"]]
    for which in ("grid", "block"):
        shape = kernel["default_" + which] or [1, 1, 1]
        options.append(f"--{which}=" + ",".join(str(evaluate(extent, dims)) for extent in shape))
    declared = [p for p in kernel["parameters"] if p["kind"] in ("tensor", "const_tensor", "scalar")]
    for index, param in enumerate(declared):
        if param["kind"] == "scalar":
            options.append(f"--arg={index}=1")
            continue
        shape = ",".join(str(evaluate(extent, dims)) for extent in param["shape"])
        options += [f"--type={index}={param['dtype']}[{shape}]", f"--arg={index}=random:{index}"]
    hidden = [p for p in kernel["parameters"] if p["kind"] == "hidden_shape"]
    return options, [f"--arg={len(declared) + i}={evaluate(next(p for p in declared if p['name'] == h['of'])['shape'][h['axis']], dims)}"
                     for i, h in enumerate(hidden)]


def counted(tf_run, ptx, options, scratch):
    """What the simulated device counts; dashes without a tf-run."""
    counters = {"executed": "warp_instructions", "passes": "shared_ways", "sectors": "global_sectors"}
    if not tf_run:
        return dict.fromkeys(counters, "-")
    source = scratch / "k.ptx"
    source.write_text(ptx)
    total = json.loads(run([tf_run, "--device=sim", "--counters=json", *options, source]).split("\n")[0])["total"]
    return {column: total[name] for column, name in counters.items()}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tf-llc", required=True)
    options.add_argument("--tf-run")
    options.add_argument("-arch", default="sm_80")
    options.add_argument("kernels", nargs="*")
    options = options.parse_args()
    names = options.kernels or sorted(path.stem for path in (ROOT / "kernels").glob("*.tir"))
    print(f"{'kernel':24}{'':6}" + "".join(f"{column:>10}" for column in COLUMNS))
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name in names:
            source = ROOT / "kernels" / f"{name}.tir"
            manifest = json.loads(run([options.tf_llc, f"-mcpu={options.arch}", "--emit=manifest", source]))
            arguments_of_twin, hidden = arguments(manifest)
            versions = [("ours", run([options.tf_llc, f"-mcpu={options.arch}", source]), arguments_of_twin + hidden)]
            twin = ROOT / "bench" / "twins" / f"{name}.cu"
            if twin.exists():
                run(["nvcc", "-O3", "-w", f"-arch={options.arch}", "-ptx", twin, "-o", scratch / "twin.ptx"])
                versions.append(("nvcc", (scratch / "twin.ptx").read_text(), arguments_of_twin))
            for who, ptx, given in versions:
                row = measure(ptx, options.arch, scratch) | counted(options.tf_run, ptx, given, scratch)
                print(f"{name:24}{who:6}" + "".join(f"{row[column]!s:>10}" for column in COLUMNS))
                name = ""


main()
