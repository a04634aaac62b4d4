#!/usr/bin/env python3
"""The Run suite: op x dtype x storage x distribution x size, executed from emitted PTX, against NumPy.

    suite.py TF_RUN TF_LLC SCRATCH [--all | --part I/N] [--match TEXT] [--list] [--mcpu sm_N] [--seed N] [--adversarial]

Cases come from the modules below, one a family of ops. The script takes the list of ops from tf-llc and fails if one has no
case. Cases are run in batches, one module with one kernel a case; if a batch fails, each of its cases is run alone. Without
--all a part of the cases is run: every case marked ci.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

import cases_control
import cases_elementwise
import cases_memory
import cases_mma
import cases_programs
import cases_reduce

BATCH = 16
FAMILIES = [cases_elementwise, cases_reduce, cases_memory, cases_control, cases_mma, cases_programs]


def module_text(batch):
    """One module: a kernel a case, and an entry that calls them all."""
    if batch[0].module:
        return batch[0].module
    text = 'from tilefoundry import *\n\n@module(entry="main")\nclass Batch:\n'
    calls, params = "", []
    for i, case in enumerate(batch):
        prefix = f"c{i}"
        part = "".join(f"    {line}\n" for line in case.statics.split("\n") if line)
        head = ", ".join(f"{n}: {a}" for n, a in case.params)
        part += f'    @prim_func(target=CudaTarget("{case.target}"))\n    def {prefix}({head}) -> None:\n{case.indented(8)}\n'
        text += part.replace("$", prefix + "_")
        params += [f"{prefix}_{n}: {a}".replace("$", prefix + "_") for n, a in case.params]
        arguments = ", ".join(f"{prefix}_{n}" for n, _ in case.params)
        calls += f"        launch({prefix}, {arguments}, {case.launch})\n" if case.launch else f"        {prefix}({arguments})\n"
    return text + "    @prim_func(target=CpuTarget())\n    def main(" + ", ".join(params) + f") -> None:\n{calls}"


class Runner:
    def __init__(self, tool, scratch, options):
        self.tool, self.scratch, self.options = tool, pathlib.Path(scratch), options
        self.refused = 0  # cases that need a later target than the one asked for

    def _command(self, batch, folder):
        command = [self.tool, "--check=all", *self.options]
        for i, case in enumerate(batch):
            prefix = "" if case.module else f"c{i}_"
            for name, value in case.inputs.items():
                path = folder / f"{prefix}{name}.npy"
                if isinstance(value, np.ndarray):
                    np.save(path, value)
                command.append(f"--arg={prefix}{name}={f'@{path}' if isinstance(value, np.ndarray) else value}")
            command += [f"--dim={name.replace('$', prefix)}={n}" for name, n in case.dims.items()]
            command += [f"--out={prefix}{name}={folder / f'{prefix}{name}.out.npy'}" for name in case.want]
        (folder / "batch.tir").write_text(module_text(batch))
        return command + [str(folder / "batch.tir")]

    def run(self, batch, label):
        """Returns {case name: what is wrong} of the cases that failed."""
        folder = self.scratch / label
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(self._command(batch, folder), capture_output=True, text=True, timeout=600)
        if done.returncode and len(batch) > 1:
            alone = [self.run([case], f"{label}-{i}") for i, case in enumerate(batch)]
            found = {name: why for part in alone for name, why in part.items()}
            return found or {batch[0].name: f"fails only beside others, exit {done.returncode}:\n{done.stderr}"}
        if done.returncode and any(o.startswith("--mcpu") for o in self.options) and re.search(r"needs sm_\d+", done.stderr):
            self.refused += 1
            return {}
        if done.returncode:
            return {batch[0].name: f"exit {done.returncode}: {done.stderr.strip()[:2000]}\n{folder / 'batch.tir'}"}
        found = {}
        for i, case in enumerate(batch):
            for name, want in case.want.items():
                prefix = "" if case.module else f"c{i}_"
                wrong = compare(np.load(folder / f"{prefix}{name}.out.npy"), *want, case.signs)
                if wrong:
                    found[case.name] = f"{name}: {wrong}\n{folder / 'batch.tir'} kernel c{i}"
        return found


def compare(got, want, rtol, atol, signs):
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if rtol or atol:
        near = np.isclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)
    elif want.dtype.kind == "f":
        near = (got == want) | (np.isnan(got) & np.isnan(want))
        if signs:
            near &= np.isnan(want) | (np.signbit(got) == np.signbit(want))
    else:
        near = got == want
    if near.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~near)[0])
    return f"{np.count_nonzero(~near)} of {want.size} differ; first at {at}: got {got[at]!r}, expected {want[at]!r}"


def batches(cases):
    """Cases of one target side by side; modules of their own by themselves."""
    groups = collections.defaultdict(list)
    for case in cases:
        if case.module:
            yield [case]
        else:
            groups[case.target].append(case)
    for group in groups.values():
        for i in range(0, len(group), BATCH):
            yield group[i:i + BATCH]


def uncovered_ops(compiler, cases):
    listed = subprocess.run([compiler, "--print-ops=list"], capture_output=True, text=True, check=True).stdout
    ops = {line.split("(")[0].split()[1] for line in listed.splitlines() if line and not line[0].isspace()}
    named = {op for case in cases for op in case.ops}
    if named - ops:
        sys.exit(f"cases name ops that the compiler does not list: {sorted(named - ops)}")
    return sorted(ops - named)


def uncovered_kinds(compiler, cases):
    """Kinds of binary, unary and reduce that no statement of a case asks for."""
    page = subprocess.run([compiler, "--print-ops=markdown"], capture_output=True, text=True, check=True).stdout
    missing = []
    for op in ("binary", "unary", "reduce"):
        section = re.search(rf"^### `{op}`$.*?(?=^### |\Z)", page, re.M | re.S).group()
        kinds = re.findall(r"`(\w+)`", re.search(r"^\| `kind` \|.*?\|(.*)\|$", section, re.M).group(1))
        assert len(kinds) >= 5, (op, kinds)
        used = {kind for case in cases for kind in re.findall(rf'T\.{op}\([^\n]*kind="(\w+)"', case.body + case.module)}
        missing += [f"{op} {kind}" for kind in kinds if kind not in used]
    return missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tf_run")
    parser.add_argument("tf_llc")
    parser.add_argument("scratch")
    parser.add_argument("--all", action="store_true", help="every case, not only those of CI")
    parser.add_argument("--match", default="", help="only cases whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--mcpu", help="another target for all cases")
    parser.add_argument("--seed", help="another order of lanes, warps and CTAs")
    parser.add_argument("--adversarial", action="store_true", help="the device is as unkind as the ISA allows")
    parser.add_argument("--part", help="I/N: of the cases marked ci only each N-th, from the I-th on")
    options = parser.parse_args()
    cases = [case for family in FAMILIES for case in family.cases()]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), [n for n, k in collections.Counter(names).items() if k > 1]
    chosen = [c for c in cases if (options.all or c.ci) and options.match in c.name]
    if options.part:
        first, step = map(int, options.part.split("/"))
        chosen = chosen[first::step]
    if options.list:
        print("\n".join(c.name for c in chosen))
        return
    quick = [c for c in cases if c.ci]
    missing = uncovered_ops(options.tf_llc, quick) + uncovered_kinds(options.tf_llc, quick)
    flags = [f"--{key}={value}" for key, value in (("mcpu", options.mcpu), ("seed", options.seed)) if value]
    runner = Runner(options.tf_run, options.scratch, flags + ["--adversarial"] * options.adversarial)
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        results = pool.map(lambda b: runner.run(b[1], f"b{b[0]}"), enumerate(batches(chosen)))
        found = {name: why for part in results for name, why in part.items()}
    for name, why in found.items():
        print(f"FAIL {name}\n{why}\n")
    print(f"{len(chosen)} of {len(cases)} cases run, {len(found)} failed, {runner.refused} refused by the target; ops and kinds without a case: {', '.join(missing) or 'none'}")
    sys.exit(1 if found or missing or not chosen else 0)


if __name__ == "__main__":
    main()
