# RUN: %python %s %tf-run %t
"""A launch that does not end is stopped by --budget and by Ctrl-C: exit 1, and the message tells where it stood."""
import pathlib
import signal
import subprocess
import sys
import time

run, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
scratch.mkdir(parents=True, exist_ok=True)
endless = scratch / "endless.ptx"
endless.write_text(""".version 7.8
.target sm_80
.address_size 64
.visible .entry k() {
  .reg .b32 %r<2>;
  mov.u32 %r1, 0;
$again:
  add.u32 %r1, %r1, 1;
  bra $again;
}
""")
command = [run, str(endless), "--device=sim:sm_80", "--kernel=k", "--grid=3", "--block=64"]


def check(done, stderr, *messages):
    if done != 1 or any(m not in stderr for m in messages):
        sys.exit(f"exit {done}, wanted 1 and {messages}\n{stderr}")


done = subprocess.run(command + ["--budget=200000"], capture_output=True, text=True, timeout=60)
check(done.returncode, done.stderr, "instruction budget used up", "200000", "PTX line")
if "PTX line 8" not in done.stderr and "PTX line 9" not in done.stderr:
    sys.exit(f"not the line of the loop\n{done.stderr}")

process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
time.sleep(1)
assert process.poll() is None, "it ended by itself"
process.send_signal(signal.SIGINT)
stderr = process.communicate(timeout=30)[1]
check(process.returncode, stderr, "cancelled", "PTX line")
