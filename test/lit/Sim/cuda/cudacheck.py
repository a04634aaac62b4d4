"""Runs CUDA C++ programs on the simulated device: nvcc makes the PTX, tf-run executes it, NumPy says what must come out.

    # REQUIRES: nvcc
    # RUN: %python %s %nvcc %tf-run %t
    check = cudacheck.Check(sys.argv)                     # compiles the .cu of the same name
    check.run("add", 4, 256, [a, b, out, 1000], {2: (a + b, 0, 0)})

Every program is compiled for two targets, optimised and with -G, and every build runs under three schedule seeds with the
memory checker on. Arguments stand in the kernel's order; an array that is written is given with its initial contents.
"""
import itertools
import pathlib
import subprocess
import sys

import numpy as np

SEEDS = (0, 1, 77)


class Check:
    def __init__(self, argv, targets=("sm_80", "sm_90"), flags=(), builds=("-O3", "-G"), seeds=SEEDS):
        self.source = pathlib.Path(argv[0]).with_suffix(".cu")
        self.nvcc, self.tool, self.scratch = argv[1], argv[2], pathlib.Path(argv[3])
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.seeds, self.builds = seeds, []
        for target, build in itertools.product(targets, builds):
            ptx = self.scratch / f"{target}{build}.ptx"
            command = [self.nvcc, "-ptx", f"-arch={target}", "-std=c++17", build, *flags, "-o", ptx, self.source]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
            self.builds.append((target, ptx))

    def run(self, kernel, grid, block, args, want, options=(), stdout=None):
        for (target, ptx), seed in itertools.product(self.builds, self.seeds):
            command = self._command(target, ptx, seed, kernel, grid, block, args, options)
            command += [f"--out={index}={self._out(index)}" for index in want]
            done = subprocess.run([*command, ptx], capture_output=True, text=True, timeout=300)
            where = f"{' '.join(map(str, command))} {ptx}\n"
            if done.returncode:
                sys.exit(f"{where}exit {done.returncode}\n{done.stdout}{done.stderr}")
            if stdout is not None and stdout not in done.stdout:
                sys.exit(f"{where}stdout lacks {stdout!r}:\n{done.stdout}")
            for index, (expected, rtol, atol) in want.items():
                self._compare(where, index, np.asarray(expected), rtol, atol)

    def fails(self, kernel, grid, block, args, message, options=()):
        """Each run must end with status 1 and say `message` on stderr."""
        for (target, ptx), seed in itertools.product(self.builds, self.seeds):
            command = self._command(target, ptx, seed, kernel, grid, block, args, options)
            done = subprocess.run([*command, ptx], capture_output=True, text=True, timeout=300)
            if done.returncode != 1 or message not in done.stderr:
                sys.exit(f"{' '.join(map(str, command))} {ptx}\nexit {done.returncode}, wanted 1 and {message!r}\n"
                         f"{done.stdout}{done.stderr}")

    def _command(self, target, ptx, seed, kernel, grid, block, args, options):
        command = [self.tool, f"--device=sim:{target}", f"--seed={seed}", "--check=mem", f"--kernel={kernel}",
                   f"--grid={_extents(grid)}", f"--block={_extents(block)}", *options]
        for index, value in enumerate(args):
            if isinstance(value, np.ndarray):
                path = self.scratch / f"in{index}.npy"
                np.save(path, value)
                value = f"@{path}"
            command.append(f"--arg={index}={value}")
        return command

    def _out(self, index):
        return self.scratch / f"out{index}.npy"

    def _compare(self, where, index, want, rtol, atol):
        got = np.load(self._out(index))
        wide = np.float64 if want.dtype.kind == "f" else want.dtype
        near = np.isclose(got.reshape(want.shape).astype(wide), want.astype(wide), rtol=rtol, atol=atol, equal_nan=True)
        if not near.all():
            at = tuple(np.argwhere(~near)[0])
            sys.exit(f"{where}argument {index}: {np.count_nonzero(~near)} of {want.size} differ; first at {at}: "
                     f"got {got.reshape(want.shape)[at]!r}, expected {want[at]!r}")


def _extents(value):
    return value if isinstance(value, int) else ",".join(map(str, value))


def poison(shape, dtype):
    """An output's initial contents: a pattern that no right result has everywhere."""
    array = np.empty(shape, dtype)
    array.view(np.uint8 if array.ndim else None).fill(0xA5)
    return array
