"""compare.py LIBRARIES SCRATCH CC FIRST:LAST: random host functions by Python's own execution, as machine code in this process, by the
manifest's plan, and as objects in a shared library; tensors and errors must be the same. A mismatch leaves its text in SCRATCH."""
import ctypes as c
import math
import pathlib
import re
import subprocess
import sys
import traceback

import generate
import model
import native

# What the compiler knows of constants.
EXPECTED = re.compile("lies outside the source's|does not fit its parameter '\\w+': its extent|counts are 0 to 63|step of a loop is 0|does not fit: integers have|is outside of the "
                      "extent|outside of the range|division by zero|divided by 0")


def expect(case):
    """The model's message, its line, and the arrays afterwards."""
    functions = model.Functions(case.text, case.signatures, case.kernels, (case.lo, 100))
    tensors, given = {}, []
    for name, dtype, shape, storage, _ in case.params:
        bits = case.arguments[name]
        if shape is None:
            value = model.decode(dtype, bits)
            given.append(value if dtype == "bool" else model.Num(dtype, value))
            continue
        tensors[name] = model.Tensor(dtype, storage, bits.flatten(), bits.shape)
        given.append(tensors[name])
    message = None
    try:
        functions.names["main"](*given)
    except model.Fault as fault:
        frames = [f for f in traceback.extract_tb(fault.__traceback__) if f.filename == "kernel.tir"]
        message = (str(fault), frames[-1].lineno if frames else 0)
    return message, {n: t.bits.reshape(t.shape) for n, t in tensors.items()}


def same_bits(dtype, got, want):
    """NaNs are equal to each other."""
    if model.DTYPES[dtype][0] != "f":
        return got == want
    a, b = model.decode(dtype, int(got)), model.decode(dtype, int(want))
    return got == want or (math.isnan(a) and math.isnan(b))


def difference(case, wanted, got):
    """What is different, or None."""
    (fault, arrays), (message, found) = wanted, got
    place = f"kernel.tir:{fault[1]}:" if fault else ""
    if fault and message and place in message and "T.fill(" in case.text.split("\n")[fault[1] - 1]:
        fault = ("", fault[1])  # value and window of a fill: which is looked at first is not said
    if fault and (message is None or fault[0] not in message or place not in message):
        return f"said {message!r}, expected {fault}"
    if not fault and message:
        return f"failed with {message!r}"
    for name, dtype, shape, *_ in case.params:
        if shape is None:
            continue
        for index, want in enumerate(arrays[name].flatten()):
            have = found[name].flatten()[index]
            if not same_bits(dtype, have, want):
                return f"{name}[{index}] is {model.decode(dtype, int(have))}, expected {model.decode(dtype, int(want))}"
    return None


def report(case, scratch, way, why):
    path = scratch / f"case{case.seed}.tir"
    path.write_text(case.text)
    print(f"case {case.seed}, {way}: {why}\n    {path}", file=sys.stderr)
    return 1


def link(cc, scratch, objects):
    paths = []
    for seed, data in objects.items():
        paths.append(scratch / f"case{seed}.o")
        paths[-1].write_bytes(data)
    # Undefined: what RTLD_GLOBAL gives.
    subprocess.run([cc, "-shared", *map(str, paths), "-o", str(scratch / "objects.so")], check=True)
    return c.CDLL(str(scratch / "objects.so"))


def main():
    libraries, scratch, cc, span = sys.argv[1:]
    scratch = pathlib.Path(scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    first, last = map(int, span.split(":"))
    compiler, runtime = native.load_compiler(libraries), native.Runtime(libraries)
    cases, wanted, objects, bad, faults, plans, refused = [], {}, {}, 0, 0, 0, 0
    for seed in range(first, last):
        case = generate.Case(seed)
        try:
            compiled = native.Compiled(compiler, case.text, f"case{seed}_")
            wanted[seed] = expect(case)
        except SyntaxError as error:
            refused += 1
            bad += report(case, scratch, "compiler", error) if not EXPECTED.search(str(error)) else 0
            continue
        faults += wanted[seed][0] is not None
        why = difference(case, wanted[seed], runtime.run_program(compiled, case.params, case.arguments, True))
        bad += report(case, scratch, "machine code", why) if why else 0
        planned = runtime.run_program(compiled, case.params, case.arguments, False)
        if planned[0] is None or "exists as compiled code only" not in planned[0]:
            plans += 1
            why = difference(case, wanted[seed], planned)
            bad += report(case, scratch, "plan", why) if why else 0
        objects[seed] = compiled.object
        cases.append(case)
        compiled.close()
    library = link(cc, scratch, objects)
    for case in cases:
        why = difference(case, wanted[case.seed], runtime.run_object(library, f"case{case.seed}_main", case.params, case.arguments))
        bad += report(case, scratch, "object", why) if why else 0
    runtime.close()
    print(f"{len(cases)} programs, {faults} of them ending with an error, {plans} with a plan; {refused} refused; {bad} mismatches")
    sys.exit(bad != 0 or 20 * refused > len(cases))


main()
