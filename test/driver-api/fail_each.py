"""A host program with each of its driver calls made to fail in turn (TF_SIM_FAIL=N=CODE).

    fail_each.py PROGRAM

The program must end with status 1, not by a signal, and name the error; where the call is one that only releases something
or the program expects an error, that, too. Under AddressSanitizer a leak or a wild access is another status. Past the last
call nothing fails. Two errors that no program expects, one that a context survives and one that it does not.
"""
import os
import subprocess
import sys

program = sys.argv[1]
name = os.path.basename(program)
ERRORS = {"CUDA_ERROR_NOT_PERMITTED": "(800)", "CUDA_ERROR_ECC_UNCORRECTABLE": "(214)"}
MOST = 2000


def run(rule):
    environment = {**os.environ, "TF_SIM_FAIL": rule}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


faults, calls = [], 0
for error, number in ERRORS.items():
    for n in range(1, MOST):
        status, output = run(f"{n}={error}")
        told = error in output or number in output  # before a program knows cuGetErrorName it has the number only
        if status == 0 and not told:
            break
        if status != 1 or not told or "Sanitizer" in output:
            faults.append(f"{name}: call {n} with {error}: status {status}\n{output}")
    calls = max(calls, n - 1)
    # The end must be the end, not a call whose failure went unnoticed.
    for later in (n + 1, n + 2, n + 7):
        if run(f"{later}={error}")[0] != 0:
            faults.append(f"{name}: call {n} failed with {error}, and the program did not notice")
status, output = run("nonsense")
if status == 0:
    faults.append(f"{name}: runs with rules that are none")
print("\n".join(faults[:10]))
print(f"{name}: {calls} calls made to fail, {len(faults)} at fault")
sys.exit(1 if faults or calls < 8 else 0)
