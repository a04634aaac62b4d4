# RUN: env TF_CUDA_DRIVER=/nonexistent/libcuda.so.1 %python %s %tf-run
"""Without a driver --device=auto takes the simulated device and says so in one line on stderr."""
import pathlib
import subprocess
import sys

inputs = pathlib.Path(__file__).resolve().parents[2] / "unit" / "Runtime" / "Inputs"
command = [sys.argv[1], "--kernel=stray", "--grid=1", "--block=1", "--type=0=f32[4]", "--arg=0=fill:2", "--arg=1=4", "--print=0"]
done = subprocess.run([*command, str(inputs / "scale.ptx")], capture_output=True, text=True, timeout=60)
lines = done.stderr.splitlines()
assert done.returncode == 0 and done.stdout == "stray_x: f32 (4,)\n[2 2 2 2]\n", done
assert len(lines) == 1 and "/nonexistent/libcuda.so.1" in lines[0] and "using the simulated device" in lines[0], lines
done = subprocess.run([command[0], "--device=cuda", *command[1:], str(inputs / "scale.ptx")], capture_output=True, text=True, timeout=60)
assert done.returncode == 1 and "/nonexistent/libcuda.so.1" in done.stderr and not done.stdout, done
