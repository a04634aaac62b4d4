"""Objects and headers from the installed tree: examples/aot is built with nothing but the runtime and run, against its static
library too; a module whose names C lacks and whose scalars have every dtype is called from C and from C++; names that C, its
library or a header has taken; two objects in one program; the same input gives the same bytes."""
import re
import shutil

DTYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "f16", "bf16", "tf32", "fp8e4m3", "fp8e5m2"]

NAMES = '''\
from tilefoundry import *


@module(entry="main")
class Größe:
    @prim_func(target=CudaTarget("sm_80"))
    def keep(%(params)s):
        with Mesh((Topology("cta", 1), Topology("thread", 1)), Layout((1, 1)), ("c", "t")) as m:
%(stores)s

    @prim_func(target=CpuTarget(), output_count=%(count)d)
    def main(%(params)s):
        keep(%(arguments)s)

    @prim_func(target=CpuTarget(), output_count=%(count)d)
    def main_(%(params)s):
        main(%(arguments)s)

    @prim_func(target=CpuTarget())
    def größe(double: Tensor[(1,), "i32"], stream: Tensor[(), "i32"], stream_: Tensor[(), "i32"]):
        T.fill(double, stream * 1000 + stream_)
'''

# What each scalar is given, and the bytes that come back: ends of ranges, a NaN with a payload, values that other dtypes lack.
VALUES = {
    "bool": ("true", "01"), "i8": ("INT8_MIN", "80"), "i16": ("-2", "feff"), "i32": ("INT32_MIN", "00000080"),
    "i64": ("INT64_MIN + 3", "0300000000000080"), "u8": ("200", "c8"), "u16": ("65535", "ffff"), "u32": ("4000000000u", "00286bee"),
    "u64": ("UINT64_MAX - 1", "feffffffffffffff"), "f32": ("nan_with_payload()", "cdab81ff"), "f64": ("0x1.123456789abcdp-1000", "cdab896745237101"),
    "f16": ("0x7c01", "017c"), "bf16": ("0x8001", "0180"), "tf32": ("1.0f / 3", "00a0aa3e"), "fp8e4m3": ("0x7f", "7f"), "fp8e5m2": ("0xfe", "fe"),
}

MAIN = '''\
#include <stdio.h>
#include <string.h>

#include "names.h"

static float nan_with_payload(void) {
  uint32_t bits = 0xff81abcd;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

int main(void) {
  tf_runtime *rt;
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  DLTensor out[%(count)d], value;
  unsigned char bytes[8];
  int64_t one[1] = {1};
  memset(out, 0, sizeof out);
  options.target = %(macro)s_TARGET;
  if (tf_runtime_create(&rt) != TF_OK || tf_device_open(rt, "auto", &options) != TF_OK) return 1;
  if (%(function)s(rt, NULL, %(values)s, %(outputs)s) != TF_OK) return puts(tf_runtime_message(rt)), 1;
  for (int i = 0; i < %(count)d; i++) {
    size_t size = out[i].dtype.bits / 8u;
    if (tf_device_copy_out(rt, bytes, out[i].data, size, NULL) != TF_OK) return 1;
    for (size_t j = 0; j < size; j++) printf("%%02x", bytes[j]);
    printf(" ");
    tf_tensor_free(rt, &out[i]);
  }
  memset(&value, 0, sizeof value);
  value.ndim = 1;
  value.dtype.code = kDLInt;
  value.dtype.bits = 32;
  value.dtype.lanes = 1;
  value.shape = one;
  tf_device_info info;
  if (tf_device_get_info(rt, &info) != TF_OK || tf_device_alloc(rt, 4, &value.data) != TF_OK) return 1;
  value.device = info.device;
  if (gr_xc3_xb6_xc3_x9fe(rt, NULL, &value, 7, 8) != TF_OK) return puts(tf_runtime_message(rt)), 1;
  if (tf_device_copy_out(rt, bytes, value.data, 4, NULL) != TF_OK) return 1;
  printf("%%d\\n", bytes[0] + 256 * bytes[1]);
  tf_device_free(rt, value.data);
  tf_runtime_destroy(rt);
  return 0;
}
'''


def names_module():
    params = [f'a{i}: Tensor[(), "{d}"]' for i, d in enumerate(DTYPES)] + [f'y{i}: Tensor[(1,), "{d}"]' for i, d in enumerate(DTYPES)]
    stores = "\n".join(f"            T.store(y{i}, a{i}, 0)" for i in range(len(DTYPES)))
    arguments = ", ".join([f"a{i}" for i in range(len(DTYPES))] + [f"y{i}" for i in range(len(DTYPES))])
    return NAMES % {"params": ", ".join(params), "stores": stores, "arguments": arguments, "count": len(DTYPES)}


def check_names(tool, work, cc, run, flags, environment):
    (work / "names.tir").write_text(names_module())
    for kind, name in (("obj", "names.o"), ("header", "names.h"), ("obj", "again.o"), ("header", "again.h")):
        run(tool, f"--emit={kind}", work / "names.tir", "-o", work / name)
    assert (work / "names.o").read_bytes() == (work / "again.o").read_bytes()
    assert (work / "names.h").read_bytes() == (work / "again.h").read_bytes()
    prototypes = re.findall(r"^tf_status (\w+)\(", (work / "names.h").read_text(), re.M)
    assert prototypes == ["main_", "main__", "gr_xc3_xb6_xc3_x9fe"], prototypes
    expected = " ".join(VALUES[d][1] for d in DTYPES) + " 7008\n"
    for function in ("main_", "main__"):
        text = MAIN % {"count": len(DTYPES), "function": function, "macro": "GR____E", "values": ", ".join(VALUES[d][0] for d in DTYPES),
                       "outputs": ", ".join(f"&out[{i}]" for i in range(len(DTYPES)))}
        (work / "names.c").write_text(text)
        run(cc, "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", work / "names.c", work / "names.o", *flags, "-o", work / "names")
        said = run(work / "names", env=environment)
        assert said == expected, (said, expected)
    cxx = shutil.which("c++") or shutil.which("g++")
    if cxx:
        run(cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-x", "c++", work / "names.c", "-x", "none", work / "names.o", *flags, "-o", work / "names++")
        assert run(work / "names++", env=environment) == expected
    # Position-independent: it goes into a shared library, too.
    run(cc, "-shared", "-Wl,-z,defs", "-Wl,-z,text", work / "names.o", *flags, "-o", work / "libnames.so")


def check_prefix(tool, work, run):
    run(tool, "--emit=header", "--prefix=my_", work / "names.tir", "-o", work / "my.h")
    prototypes = re.findall(r"^tf_status (\w+)\(", (work / "my.h").read_text(), re.M)
    assert prototypes == ["my_main", "my_main_", "my_gr_xc3_xb6_xc3_x9fe"], prototypes
    run(tool, "--emit=obj", "--prefix=my_", "--no-cubin", work / "names.tir", "-o", work / "my.o")
    symbols = [line.split() for line in run("nm", work / "my.o").splitlines()]
    assert sorted(s[-1] for s in symbols if s[-2] == "T") == sorted(prototypes), symbols
    assert [s[-1] for s in symbols if s[-2] == "U"] == ["tf_compiled_call"], symbols
    assert len((work / "my.o").read_bytes()) <= len((work / "names.o").read_bytes())


# ---- Names that are taken ----------------------------------------------------------------------------------------------

# Keywords, types and macros of the headers that a generated one includes or may meet.
PARAMS = """double bool_ _Bool _Atomic __attribute__ int32_t uint8_t size_t NULL INT8_MIN UINT64_MAX offsetof errno I EOF stdin linux unix
            DLTensor kDLCPU tf_status tf_runtime TF_OK TF_API runtime stream runtime_ x1 N""".split()
FUNCTIONS = """main main_ exp expf fmaxl abs index read write select step free memcpy tf_runtime_create json_loadb DLTensor NULL union
               environ kernel expand""".split()

TAKEN_MAIN = """\
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "2 taken.h"
int main(void) { return TIR_2_TAKEN_TARGET[0] != 's'; }
"""


def check_taken(tool, work, cc, run, flags, runtime):
    params = ", ".join(f'{name}: Tensor[(), "i32"]' for name in PARAMS)
    body = "".join(f'@prim_func(target=CpuTarget())\ndef {name}({params}, x: Tensor[(1,), "i32"]):\n    T.fill(x, 1)\n\n\n' for name in FUNCTIONS)
    (work / "2 taken.tir").write_text(body)
    for kind, name in (("header", "2 taken.h"), ("obj", "2 taken.o")):
        run(tool, f"--emit={kind}", "--entry=kernel", "2 taken.tir", "-o", name, cwd=work)
    (work / "taken.c").write_text(TAKEN_MAIN)
    # With cc's own dialect: it has macros without underscores.
    run(cc, "-Wall", "-Wextra", "-Werror", "taken.c", "2 taken.o", *flags, "-o", "taken", cwd=work)
    cxx = shutil.which("c++") or shutil.which("g++")
    for standard in ("c++11", "gnu++20") if cxx else ():
        run(cxx, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "taken.c", *flags, cwd=work)
    kept = set(re.findall(r"^tf_status (\w+)\(", (work / "2 taken.h").read_text(), re.M)) & set(FUNCTIONS)
    assert kept == {"main_", "step", "kernel", "expand"}, kept

    # A function of the program that has the name of one that the runtime calls would be called in its place.
    needed = [line.split()[-1].split("@")[0] for line in run("nm", "-D", "--undefined-only", runtime).splitlines()]
    needed = sorted({name for name in needed if not name.startswith("_")})
    assert "malloc" in needed and "open" in needed, needed
    (work / "needed.tir").write_text("".join(f'@prim_func(target=CpuTarget())\ndef {name}(x: Tensor[(1,), "i32"]):\n    T.fill(x, 1)\n\n\n' for name in needed))
    header = run(tool, "--emit=header", f"--entry={needed[0]}", work / "needed.tir")
    both = set(re.findall(r"^tf_status (\w+)\(", header, re.M)) & set(needed)
    assert not both, both


# ---- Two objects in one program, which were modules of one name ----------------------------------------------------------

TWO = """\
@module(entry="fill")
class Module:
    @prim_func(target=CudaTarget("%(target)s"))
    def kernel(x: Tensor[(4,), "i32"]):
        T.fill(x, %(value)d)

    @prim_func(target=CpuTarget(), output_count=1)
    def %(entry)s(y: Tensor[(4,), "i32", None, host]):
        t = T.alloc_tensor(TensorType((4,), "i32", None, gmem))
        kernel(t)
        T.copy(t, y)
"""

TWO_MAIN = """\
#include <stdio.h>
#include "one.h"
#include "two.h"
#include "three.h"
int main(void) {
  tf_runtime *rt;
  DLTensor a, b, c;
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.target = MODULE_TARGET;
  a = b = c = (DLTensor){0};
  if (tf_runtime_create(&rt) != TF_OK || tf_device_open(rt, "auto", &options) != TF_OK) return 1;
  if (fill(rt, NULL, &a) != TF_OK || other(rt, NULL, &b) != TF_OK || my_fill(rt, NULL, &c) != TF_OK) return puts(tf_runtime_message(rt)), 1;
  printf("%d %d %d %s\\n", ((int *)a.data)[3], ((int *)b.data)[3], ((int *)c.data)[3], MY_MODULE_TARGET);
  tf_tensor_free(rt, &a);
  tf_tensor_free(rt, &b);
  tf_tensor_free(rt, &c);
  tf_runtime_destroy(rt);
}
"""


def check_two(tool, work, cc, run, flags, environment):
    for name, target, value, entry, prefix in (("one", "sm_80", 11, "fill", ""), ("two", "sm_80", 22, "other", ""), ("three", "sm_75", 33, "fill", "my_")):
        text = TWO % {"target": target, "value": value, "entry": entry}
        (work / f"{name}.tir").write_text(text.replace('entry="fill"', f'entry="{entry}"'))
        for kind, end in (("header", "h"), ("obj", "o")):
            run(tool, f"--emit={kind}", f"--prefix={prefix}", f"{name}.tir", "-o", f"{name}.{end}", cwd=work)
    (work / "two.c").write_text(TWO_MAIN)
    run(cc, "-Wall", "-Wextra", "-Werror", "two.c", "one.o", "two.o", "three.o", *flags, "-o", "two", cwd=work)
    said = run(work / "two", env=environment)
    assert said == "11 22 33 sm_75\n", said


def check(source, prefix, work, cc, run, flags, static_flags, environment):
    tool = prefix / "bin/tf-llc"
    for name in ("smooth.tir", "main.c"):
        shutil.copy(source / "examples/aot" / name, work)
    run(tool, "--emit=obj", "smooth.tir", "-o", "smooth.o", cwd=work)
    run(tool, "--emit=header", "smooth.tir", "-o", "smooth.h", cwd=work)
    run(cc, "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.c", "smooth.o", *flags, "-o", "main", cwd=work)
    assert "LLVM" not in run("ldd", work / "main", env=environment)
    said = run(work / "main", env=environment)
    assert said == """1000 values smoothed 7 times, 0 wrong
refused: smooth: argument 'x': the tensor's dtype is float64, expected f32
refused: smooth.tir:23:13: smooth: abort: the number of rounds is negative
""", said
    run(cc, "main.c", "smooth.o", *static_flags, "-o", "main-static", cwd=work)
    assert "tilefoundry" not in run("ldd", work / "main-static")
    assert run(work / "main-static", env=environment) == said
    check_taken(tool, work, cc, run, flags, next(prefix.rglob("libtilefoundry-runtime.so")))
    check_two(tool, work, cc, run, flags, environment)
    check_names(tool, work, cc, run, flags, environment)
    check_prefix(tool, work, run)
