"""Speed of the simulated device on one core: lane instructions of an FMA loop, of a memory-bound copy and of a vector addition
by many small CTAs, matrix instructions, a 1024 x 1024 x 1024 bf16 product by the project's own compiler, start-up, and what
the checkers cost.

Rates are per second of processor time, from the difference of a long and a short run of the same kernel, so start-up and
reading the program do not count. Usage: sim.py BUILD_FOLDER
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1])
TOOL = BUILD / "tools/tf-run/tf-run"
KERNELS = pathlib.Path(__file__).resolve().parents[1] / "kernels"

HEAD = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
.maxntid 256
{
  .reg .pred %q; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r2, %r3, 256, %r2;
  cvt.u64.u32 %rd3, %r2; add.u64 %rd3, %rd1, %rd3; add.u64 %rd3, %rd3, 131072; mul.wide.u32 %rd2, %r2, 16; add.u64 %rd1, %rd1, %rd2;
  mov.f32 %f0, 0f3F800001; mov.f32 %f1, 0f3F7FFFFE; cvt.rn.f32.u32 %f2, %r2; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;
""" + "".join(f"mov.f32 %f{i}, %f2; " for i in range(3, 18)) + "\n"
LOOP = "L: {body}  add.u32 %r4, %r4, 1; setp.lt.u32 %q, %r4, %r1; @%q bra L;\n"
TAIL = "  st.global.f32 [%rd1], %f2; st.global.f32 [%rd1+4], %f3; st.global.u32 [%rd1+8], %r6;\n  ret;\n}\n"

FMA = "".join(f"fma.rn.f32 %f{2 + i}, %f{2 + i}, %f0, %f1; " for i in range(16))
COPY = "".join("ld.global.v4.u32 {%r10,%r11,%r12,%r13}, [%rd1]; st.global.v4.u32 [%rd1+65536], {%r10,%r11,%r12,%r13}; "
               for _ in range(8))
BYTES = "".join("ld.global.u8 %r10, [%rd3]; st.global.u8 [%rd3+65536], %r10; " for _ in range(8))
MMA = "".join("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2,%f3,%f4,%f5}, {%r2,%r4,%r5,%r6}, {%r2,%r4}, "
              "{%f2,%f3,%f4,%f5}; " for _ in range(8))

ADD = """.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ntid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p, %r1, %r2; @%p bra E;
  cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5;
  cvta.to.global.u64 %rd7, %rd2; add.s64 %rd8, %rd7, %rd5; ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2; cvta.to.global.u64 %rd9, %rd3; add.s64 %rd10, %rd9, %rd5; st.global.f32 [%rd10], %f3;
E:
  ret;
}
"""


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def loop_rate(folder, body, per_iteration, ctas, short, long):
    """Units per second; per_iteration units are done by each warp in one iteration."""
    path = pathlib.Path(folder) / "k.ptx"
    path.write_text(HEAD + LOOP.format(body=body) + TAIL)

    def run(n):
        return min(processor_time([TOOL, "--device=sim:sm_80", "--kernel=k", f"--grid={ctas}", "--block=256",
                                   "--type=0=u32[65536]", f"--arg=1={n}", str(path)]) for _ in range(3))

    return per_iteration * ctas * 8 * (long - short) / (run(long) - run(short))


def small_ctas_rate(folder):
    """Lane instructions a second of a vector addition by CTAs of 128 threads that execute 22 instructions each."""
    path = pathlib.Path(folder) / "add.ptx"
    path.write_text(ADD)

    def run(ctas):
        return min(processor_time([TOOL, "--device=sim:sm_80", "--kernel=add", f"--grid={ctas}", "--block=128",
                                   *(f"--type={i}=f32[4194304]" for i in range(3)), "--arg=3=4194304", str(path)])
                   for _ in range(3))

    return 22 * 128 * (32768 - 64) / (run(32768) - run(64))


def matmul_time():
    """Processor time of the 1024^3 product with random operands."""
    size = [f"-D{name}=1024" for name in "MNK"]
    return min(processor_time([TOOL, "--device=sim:sm_80", *size, "--arg=a=random:1", "--arg=b=random:2",
                               str(KERNELS / "matmul.tir")]) for _ in range(3))


def checked(kernel, ctas, n, checks):
    """Processor time of one run with these checkers, less that of a short run."""
    command = [TOOL, "--device=sim:sm_80", f"--check={checks}", "--kernel=k", f"--grid={ctas}", "--block=256",
               "--type=0=u32[65536]", "--arg=0=random:1", kernel]
    return min(processor_time([*command, f"--arg=1={n}"]) - processor_time([*command, "--arg=1=10"]) for _ in range(3))


def check_costs(folder):
    """How many times longer each kernel takes with each checker than with none."""
    rows = {"FMA loop": (FMA, 20000), "copy, 16 bytes a lane": (COPY, 3000), "copy, 1 byte a lane": (BYTES, 3000),
            "mma.m16n8k16 bf16": (MMA, 2000)}
    print("times slower than --check=none   init   race   sync    all")
    for name, (body, n) in rows.items():
        path = pathlib.Path(folder) / "c.ptx"
        path.write_text(HEAD + LOOP.format(body=body) + TAIL)
        plain = checked(path, 8, n, "none")
        ratios = [checked(path, 8, n, c) / plain for c in ("init", "race", "sync", "all")]
        print(f"  {name:28}" + "".join(f" {r:6.1f}" for r in ratios))
    product = [checked_product(c) for c in ("none", "init", "race", "sync", "all")]
    print(f"  {'pipelined bf16 product':28}" + "".join(f" {p / product[0]:6.1f}" for p in product[1:]))


def checked_product(checks):
    """Of the pipelined product, whose copies are asynchronous."""
    command = [TOOL, "--device=sim:sm_80", f"--check={checks}", "--dim=M=2", "--dim=N=2", "--arg=a=random:1", "--arg=b=random:2",
               str(KERNELS / "matmul_pipeline.tir")]
    return min(processor_time([*command, "--dim=K=64"]) - processor_time([*command, "--dim=K=4"]) for _ in range(3))


def main():
    with tempfile.TemporaryDirectory() as folder:
        fma = loop_rate(folder, FMA, 32 * 19, 8, 1000, 41000)
        copy = loop_rate(folder, COPY, 32 * 19, 8, 1000, 11000)
        small = small_ctas_rate(folder)
        mma = loop_rate(folder, MMA, 8, 8, 100, 2100)
        empty = pathlib.Path(folder) / "e.ptx"
        empty.write_text(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n")
        check_costs(folder)
        start = min(processor_time([BUILD / "bench/bench-sim-startup", empty]) for _ in range(5))
    print(f"FMA loop                 {fma / 1e9:8.2f} G lane instructions/s")
    print(f"copy, 16 bytes a lane    {copy / 1e6:8.0f} M lane instructions/s")
    print(f"vector add, small CTAs   {small / 1e6:8.0f} M lane instructions/s")
    print(f"mma.m16n8k16 bf16        {mma / 1e6:8.2f} M/s")
    print(f"1024^3 bf16 product      {matmul_time():8.2f} s")
    print(f"start-up to an empty kernel {start * 1e3:5.1f} ms")


main()
