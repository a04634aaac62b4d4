"""Runs kernels from their emitted PTX on the device that tf-run finds, and compares with values that the compiler had no
part in. A test is a Python file: its RUN line starts it, it makes inputs, computes what must come out, and calls run().

    # RUN: %python %s %tf-run %t
    check = tfcheck.Check(sys.argv)
    check.run("kernel.tir", {"x": x, "n": 3}, {"y": (x * 3, 0, 0)})

TFCHECK_OPTIONS in the environment holds further options of every run that must succeed, as --seed=3 or --adversarial.
Outputs are compared by NumPy as |got - want| <= atol + rtol * |want|, NaN equal to NaN; 0, 0 asks for the same bits.
"""
import os
import pathlib
import subprocess
import sys

import numpy as np


class Check:
    def __init__(self, argv):
        self.tool, self.scratch = argv[1], pathlib.Path(argv[2])
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.kernels = pathlib.Path(__file__).resolve().parents[3] / "kernels"

    def run(self, source, args, want, options=(), checks="all"):
        """source: a name in kernels/, a path, or the text of a module. args: arrays and scalars by parameter.
        want: expected array, relative and absolute tolerance by parameter. Returns the outputs."""
        command = [self.tool, f"--check={checks}", *options, *os.environ.get("TFCHECK_OPTIONS", "").split()]
        for name, value in args.items():
            command.append(f"--arg={name}={self._argument(name, value)}")
        for name in want:
            command.append(f"--out={name}={self.scratch / name}.out.npy")
        command.append(str(self._source(source)))
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
        return {name: self._compare(name, *expected) for name, expected in want.items()}

    def fails(self, source, args, message, options=()):
        """The run must end with status 1 and say `message` on stderr."""
        command = [self.tool, *options]
        command += [f"--arg={name}={self._argument(name, value)}" for name, value in args.items()]
        command.append(str(self._source(source)))
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 1 or message not in done.stderr:
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}, wanted 1 and '{message}'\n{done.stderr}")

    def _source(self, source):
        if "\n" in source:
            path = self.scratch / "kernel.tir"
            path.write_text(source)
            return path
        return source if "/" in source else self.kernels / source

    def _argument(self, name, value):
        if not isinstance(value, np.ndarray):
            return repr(value) if not isinstance(value, str) else value
        path = self.scratch / f"{name}.npy"
        np.save(path, value)
        return f"@{path}"

    def _compare(self, name, want, rtol, atol):
        got = np.load(self.scratch / f"{name}.out.npy")
        want = np.asarray(want)
        if got.shape != want.shape:
            sys.exit(f"{name}: shape {got.shape}, expected {want.shape}")
        wide = np.float64 if want.dtype.kind == "f" else want.dtype
        near = np.isclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=atol, equal_nan=True)
        if not near.all():
            at = tuple(np.argwhere(~near)[0])
            sys.exit(f"{name}: {np.count_nonzero(~near)} of {want.size} differ; first at {at}: "
                     f"got {got[at]!r}, expected {want[at]!r}")
        return got


def bf16(values):
    """f32 values rounded to the nearest bf16, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), np.float32(np.nan), rounded.view(np.float32)).astype(np.float32)
