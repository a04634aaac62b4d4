# RUN: %python %s %tf-run %t
"""A struct parameter of a bare kernel: the bytes of a file are passed by value, whatever the file's dtype."""
import pathlib
import subprocess
import sys

import numpy as np

tool, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
scratch.mkdir(parents=True, exist_ok=True)

# out[i] = bytes of the struct, word i of eight; the struct is 32 bytes, once as .b8 and once as .b32.
PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry pick(.param .align 8 .TYPE s[COUNT], .param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  mov.b64 %rd1, s;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.param.b32 %r2, [%rd3];
  ld.param.u64 %rd4, [out];
  cvta.to.global.u64 %rd5, %rd4;
  add.s64 %rd6, %rd5, %rd2;
  st.global.b32 [%rd6], %r2;
  ret;
}
"""
words = np.random.default_rng(23).integers(0, 2**32, 8, dtype=np.uint32)


def run(type, count, array, *options):
    (scratch / "pick.ptx").write_text(PTX.replace("TYPE", type).replace("COUNT", str(count)))
    given = []
    if array is not None:
        np.save(scratch / "s.npy", array)
        given = ["--arg", f"0=@{scratch / 's.npy'}"]
    return subprocess.run([tool, "--kernel=pick", "--grid=1", "--block=8", *given, "--type=out=u32[8]", *options,
                           f"--out=out={scratch / 'out.npy'}", str(scratch / "pick.ptx")], capture_output=True, text=True, timeout=60)


for type, count in ("b8", 32), ("b32", 8), ("b64", 4):
    for array in words, words.view(np.uint8), words.view(np.float64), words.reshape(2, 4).view(np.int16):
        done = run(type, count, array, "--device=sim", "--check=all")
        assert done.returncode == 0, done
        assert np.array_equal(np.load(scratch / "out.npy"), words), (type, array.dtype)


def refused(done, *messages):
    assert done.returncode == 1 and all(m in done.stderr for m in messages), done


refused(run("b8", 32, words[:7]), "'s'", "in 32 bytes", "holds 28")
refused(run("b32", 9, words), "'s'", "in 36 bytes", "holds 32")
refused(run("b8", 32, None), "--arg=s=@FILE.npy", "32 bytes")
refused(run("b8", 32, None, "--arg=0=fill:3"), "--arg=s=@FILE.npy")
refused(run("b8", 32, words, f"--expect=s=@{scratch / 's.npy'}"), "--expect", "'s'", "by value")
refused(run("b8", 32, words, "--print=0"), "--print", "'s'", "by value")
