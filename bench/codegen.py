"""Prints what the tool chain makes of each kernel beside its CUDA C++ twin in bench/twins, both run on the same random arrays.

Kernels are compiled with -flaunch=linear, as the twins are written for launches of one axis. Registers, spills, stack and shared memory are ptxas's own words. Read from the PTX:

  local    instructions that touch local memory
  vec128   share of the bytes moved by ld.global/st.global/cp.async instructions that 16-byte accesses move, each instruction
           counted once
  mma      matrix instructions
  loop     instructions per mma in the hot loop: the shortest stretch between a label and a backward branch to it that holds
           an mma; the whole body if no loop does
  sass     the same from machine code, where cuobjdump is found

Counted by the simulated device over one launch:

  executed warp instructions
  conflict passes over the banks of shared memory, over the passes that the width of the accesses makes necessary: 1 is none
  passes   over the banks, in all
  sectors  of 32 bytes per request to global memory
  differ   largest difference of a twin's results from ours, over the largest result; more than 1 % fails

A row of ours that lies over the twin's in a column where less is better is listed at the end.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
LESS_IS_BETTER = ("registers", "spill", "stack", "shared", "local", "loop", "sass", "executed", "conflict", "passes", "sectors")
COLUMNS = ("registers", "spill", "stack", "shared", "local", "vec128", "mma", "loop", "sass", "executed", "conflict", "passes", "sectors", "differ")

# Static numbers, run-time extents (4, or the least beyond, if not said) and the kernel, for those whose defaults are no fair case.
CASES = {
    "conv2d": [{"dims": {"N": 1, "H": 3, "W": 70, "O": 1}}],
    "flash_attention": [{"dims": {"H": 2, "Q": 200, "S": 200}}, {"define": {"CAUSAL": 1}, "dims": {"H": 2, "Q": 200, "S": 200}}],
    "histogram": [{"dims": {"N": 300000}}],
    "jacobi": [{"dims": {"H": 50, "W": 70}}],
    "matmul_any": [{"dims": {"M": 200, "N": 25, "K": 17}}],
    "matmul_pipeline": [{"dims": {"M": 1, "N": 2}}, {"define": {"F16": 1}, "dims": {"M": 1, "N": 2}}],
    "matmul_i8": [{"dims": {"M": 1, "N": 2}}],
    "matmul_fp8": [{"dims": {"M": 1, "N": 2}}],
    "matmul_w4": [{"dims": {"M": 40, "N": 2, "K": 4}}],
    "producer_consumer": [{"dims": {"S": 9}}],
    "reduce_cols": [{"dims": {"M": 100, "N": 80}}],
    "reduce_rows": [{"dims": {"M": 20, "N": 300}}],
    "rms_norm_matmul": [{"dims": {"M": 100, "N": 1}}],
    "selective_scan": [{"dims": {"L": 50, "C": 30}}],
    "softmax": [{"dims": {"N": 500}}],
    "softmax_dispatch": [{"kernel": "narrow", "dims": {"N": 101}}, {"kernel": "medium", "dims": {"N": 1000}}, {"kernel": "wide", "dims": {"N": 3000}}],
    "split_k": [{"dims": {"M": 1, "N": 2}}],
    "swiglu": [{"dims": {"N": 5000}}],
    "transpose": [{"dims": {"M": 25, "N": 17}}],
}


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


# --- What ptxas makes of it -----------------------------------------------------------------------------------------------

def assemble(ptx, kernel, arch, scratch):
    source, cubin = scratch / "k.ptx", scratch / "k.cubin"
    source.write_text(ptx)
    said = run(["ptxas", "-v", f"-arch={arch}", source, "-o", cubin])
    of_kernel = re.split(r"Compiling entry function ", said)
    said = next(part for part in of_kernel if part.startswith(f"'{kernel}'"))

    def number(pattern):
        found = re.search(pattern, said)
        return int(found.group(1)) if found else 0

    return {
        "registers": number(r"Used (\d+) registers"),
        "spill": number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads"),
        "stack": number(r"(\d+) bytes stack frame"),
        "shared": number(r"(\d+) bytes smem"),
        "sass": sass_loop(run(["cuobjdump", "-sass", "-fun", kernel, cubin])) if shutil.which("cuobjdump") else "-",
    }


# --- Instructions ---------------------------------------------------------------------------------------------------------

def ptx_code(ptx, kernel):
    """The kernel's body as ('label', name) and ('insn', text), in order."""
    ptx = re.sub(r"\}\s*// end inline asm", "", ptx)  # the brace of a block of its own, no function's
    body = re.split(rf"\.entry\s+{kernel}\b", ptx)[1]
    body = re.split(r"\n\}", body)[0]
    text = re.sub(r"//.*|/\*.*?\*/", "", body)
    code = []
    for piece in re.split(r"[;{}\n]", text):
        piece = piece.strip()
        label = re.match(r"([$\w]+):\s*(.*)", piece)
        if label:
            code.append(("label", label.group(1)))
            piece = label.group(2)
        if re.match(r"(@!?%\w+\s+)?[a-z][\w:]*\.|(@!?%\w+\s+)?(ret|exit|trap|bra)\b", piece):
            code.append(("insn", re.sub(r"^@!?%\w+\s+", "", piece)))
    return code


def sass_code(sass):
    """The same of cuobjdump's listing, each address a label."""
    for address, text in re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][^;]*);", sass):
        yield "label", str(int(address, 16))
        yield "insn", re.sub(r"\bBRA(?:\.\w+)*\s+(?:!?U?P\w+,\s*)?`?\(?(0x[0-9a-f]+)\)?", lambda found: f"bra {int(found.group(1), 16)}", text)


def hot_loop(code, is_mma):
    """Instructions in all, and per mma in the shortest loop with one."""
    place, loops = {}, []
    matrix = [kind == "insn" and bool(is_mma(text)) for kind, text in code]
    for at, (kind, text) in enumerate(code):
        if kind == "label":
            place[text] = at
        elif text.startswith("bra"):
            start = place.get(text.split()[-1])
            if start is not None and any(matrix[start:at]):
                loops.append((at - start, start, at + 1))
    _, first, last = min(loops, default=(0, 0, len(code)))
    mmas = sum(matrix[first:last])
    return sum(matrix), round(sum(kind == "insn" for kind, _ in code[first:last]) / mmas, 1) if mmas else "-"


def sass_loop(sass):
    return hot_loop(list(sass_code(sass)), lambda text: re.match(r"(H|I|D|Q)G?MMA", text))[1]


def access_bytes(opcode):
    width = re.search(r"\.(?:[bfsu])(\d+)$", opcode)
    if not width:
        return 0
    vector = re.search(r"\.v(\d)\.", opcode)
    return int(width.group(1)) // 8 * (int(vector.group(1)) if vector else 1)


def wide_share(code):
    wide = total = 0
    for text in code:
        opcode = text.split()[0]
        if opcode.startswith("cp.async.c") and ".shared.global" in opcode:
            size = int(re.search(r"\],\s*(?:\[.*?\],\s*)?(\d+)", text.split("]", 1)[1]).group(1))
        elif re.match(r"(ld|st)(\.\w+)*?\.global", opcode):
            size = access_bytes(opcode)
        else:
            continue
        total += size
        wide += size if size >= 16 else 0
    return f"{100 * wide // total}%" if total else "-"


def read(ptx, kernel):
    code = ptx_code(ptx, kernel)
    insns = [text for kind, text in code if kind == "insn"]
    mma, loop = hot_loop(code, lambda text: text.startswith(("mma.sync", "wgmma.mma")))
    return {"local": sum(bool(re.match(r"(ld|st)\.local", text)) for text in insns), "vec128": wide_share(insns), "mma": mma, "loop": loop}


# --- Launches -------------------------------------------------------------------------------------------------------------

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


class Launch:
    """One launch of a kernel by its manifest: of its PTX, whoever made it, with the same random arrays."""

    def __init__(self, manifest, case):
        self.kernel = next(k for k in manifest["kernels"] if k["name"] == case.get("kernel", manifest["kernels"][0]["name"]))
        self.dims = {dim["name"]: min(max(4, dim["lo"]), dim["hi"] - 1) for dim in manifest["dims"]} | case.get("dims", {})
        self.options = [f"--kernel={self.kernel['ptx_name']}"]
        for which in ("grid", "block"):
            shape = self.kernel["default_" + which] or [1, 1, 1]
            self.options.append(f"--{which}=" + ",".join(str(evaluate(extent, self.dims)) for extent in shape))
        self.tensors = []
        shapes = {}
        for index, param in enumerate(self.kernel["parameters"]):
            if param["kind"] == "scalar":
                self.options.append(f"--arg={index}=1.5")
            elif param["kind"] == "hidden_shape":
                self.options.append(f"--arg={index}={shapes[param['of']][param['axis']]}")
            elif param["kind"] == "grid_barrier":
                self.options += [f"--type={index}=u32[2]", f"--arg={index}=zeros", "--cooperative"]
            else:
                shapes[param["name"]] = shape = [evaluate(extent, self.dims) for extent in param["shape"]]
                self.options += [f"--type={index}={param['dtype']}[{','.join(map(str, shape))}]", f"--arg={index}=random:{index}"]
                self.tensors.append(index)

    def __call__(self, tf_run, ptx, arch, scratch):
        """Counters, and the arrays after the launch."""
        source = scratch / "k.ptx"
        source.write_text(ptx)
        outs = [f"--out={index}={scratch}/{index}.npy" for index in self.tensors]
        said = run([tf_run, f"--device=sim:{arch}", "--counters=json", *self.options, *outs, source])
        counters = json.JSONDecoder().raw_decode(said)[0]["total"]["counters"]
        counted = {
            "executed": counters["warp_instructions"],
            "conflict": round(counters["conflict"], 2) if counters["shared_requests"] else "-",
            "passes": counters["shared_ways"],
            "sectors": round(counters["sectors_per_request"], 2),
        }
        return counted, [np.load(scratch / f"{index}.npy").astype(np.float64) for index in self.tensors]


def difference(ours, theirs):
    return max(float(np.max(np.abs(a - b)) / (np.max(np.abs(a)) or 1)) for a, b in zip(ours, theirs))


# --- The table ------------------------------------------------------------------------------------------------------------

def compare(name, case, options, scratch):
    """The rows of ours and the twin's."""
    source = ROOT / "kernels" / f"{name}.tir"
    defines = case.get("define", {})
    tir = ["-flaunch=linear"] + [word for key, value in defines.items() for word in ("-D", f"{key}={value}")]
    if options.arch:
        tir.append(f"-mcpu={options.arch}")
    manifest = json.loads(run([options.tf_llc, *tir, "--emit=manifest", source]))
    launch = Launch(manifest, case)
    ptx = run([options.tf_llc, *tir, source])
    arch = re.search(r"^\.target (\w+)", ptx, re.M).group(1)
    run(["nvcc", "-O3", "-w", f"-arch={arch}", *(f"-D{key}={value}" for key, value in defines.items()), "-ptx",
         ROOT / "bench" / "twins" / f"{name}.cu", "-o", scratch / "twin.ptx"])
    rows, results = [], []
    for text in ptx, (scratch / "twin.ptx").read_text():
        counted, arrays = launch(options.tf_run, text, arch, scratch)
        results.append(arrays)
        ptx_name = launch.kernel["ptx_name"]
        rows.append(assemble(text, ptx_name, arch, scratch) | read(text, ptx_name) | counted | {"differ": "-"})
    rows[1]["differ"] = f"{difference(*results):.0e}"
    return rows


def over(ours, twin):
    return [f"{column} {ours[column]} > {twin[column]}" for column in LESS_IS_BETTER
            if isinstance(ours[column], (int, float)) and isinstance(twin[column], (int, float)) and ours[column] > twin[column]]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tf-llc", required=True)
    options.add_argument("--tf-run", required=True)
    options.add_argument("-arch", help="default: each kernel's own target")
    options.add_argument("kernels", nargs="*")
    options = options.parse_args()
    names = options.kernels or sorted(path.stem for path in (ROOT / "kernels").glob("*.tir"))
    print(f"{'kernel':30}{'':6}" + "".join(f"{column:>10}" for column in COLUMNS))
    notes, wrong = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            for case in CASES.get(name, [{}]):
                title = " ".join([name, *filter(None, [case.get("kernel")]), *(f"{k}={v}" for k, v in case.get("define", {}).items())])
                rows = compare(name, case, options, pathlib.Path(scratch))
                for head, row in zip((f"{title:30}ours  ", f"{'':30}nvcc  "), rows):
                    print(head + "".join(f"{row[column]!s:>10}" for column in COLUMNS), flush=True)
                notes += [f"{title}: {note}" for note in over(*rows)]
                if float(rows[1]["differ"]) > 0.01:
                    wrong.append(title)
    if notes:
        print("\nOver the twin:", *notes, sep="\n  ")
    if wrong:
        sys.exit("results differ: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
