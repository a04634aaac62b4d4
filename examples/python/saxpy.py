#!/usr/bin/env python3
"""From Python, with nothing but ctypes and NumPy: compile a string, run it on arrays.

    LD_LIBRARY_PATH=<prefix>/lib python3 saxpy.py

`Kernel(source)` compiles, or finds on disk what an earlier run compiled; calling it takes numbers and NumPy arrays in the order of the entry's parameters, and writes what
the kernel writes back into the arrays. It runs on the first CUDA device, or on the simulated one where there is none.
"""
import ctypes as c

import numpy as np

# ---- The C API, as far as it is needed: the structs of the headers, in their order ----------------------------------


class Device(c.Structure):  # DLDevice
    _fields_ = [("type", c.c_int), ("id", c.c_int)]


class Dtype(c.Structure):  # DLDataType
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):  # DLTensor
    _fields_ = [("data", c.c_void_p), ("device", Device), ("ndim", c.c_int), ("dtype", Dtype),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Value(c.Union):
    _fields_ = [("tensor", c.POINTER(Tensor)), ("i", c.c_int64), ("u", c.c_uint64), ("f", c.c_double)]


class Argument(c.Structure):  # tf_argument
    TENSOR, INT, UINT, FLOAT = range(4)
    _fields_ = [("kind", c.c_int), ("value", Value)]


class Source(c.Structure):  # tf_program_source
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("image", c.c_char_p), ("image_size", c.c_size_t),
                ("manifest", c.c_char_p), ("manifest_size", c.c_size_t), ("entries", c.c_void_p),
                ("entry_count", c.c_uint)]


class LowerOptions(c.Structure):  # tf_lower_options
    _fields_ = [("size", c.c_size_t), ("target", c.c_void_p), ("entry", c.c_char_p), ("ptx_version", c.c_uint),
                ("opt_level", c.c_uint), ("flags", c.c_bool * 8), ("print_after", c.c_char_p), ("print", c.c_void_p),
                ("time", c.c_void_p), ("user", c.c_void_p)]


class DeviceInfo(c.Structure):  # the head of tf_device_info; the C side writes all of it
    _fields_ = [("name", c.c_char_p), ("device", Device), ("compute", c.c_uint), ("simulated", c.c_bool),
                ("rest", c.c_char * 256)]


compiler = c.CDLL("libtilefoundry.so.0")
runtime = c.CDLL("libtilefoundry-runtime.so.0")
compiler.tf_diagnostic_render.restype = c.c_char_p
compiler.tf_context_diagnostic.restype = c.c_void_p
compiler.tf_context_diagnostic_count.restype = c.c_size_t
runtime.tf_runtime_message.restype = c.c_char_p

# ---- Compiling ------------------------------------------------------------------------------------------------------


def compile_source(name, text):
    """A tf_executable of the text."""
    context, module, executable = c.c_void_p(), c.c_void_p(), c.c_void_p()
    compiler.tf_context_create(c.byref(context))
    lower = LowerOptions(size=c.sizeof(LowerOptions), opt_level=3)
    raw = text.encode()
    failed = compiler.tf_parse(context, name.encode(), raw, c.c_size_t(len(raw)), None, c.byref(module))
    failed = failed or compiler.tf_executable_create(module, c.byref(lower), None, c.byref(executable))
    try:
        if failed:
            count = compiler.tf_context_diagnostic_count(context)
            diagnostics = [c.c_void_p(compiler.tf_context_diagnostic(context, c.c_size_t(i))) for i in range(count)]
            raise SyntaxError("\n" + b"".join(compiler.tf_diagnostic_render(context, d) for d in diagnostics).decode())
        return executable
    finally:
        compiler.tf_context_destroy(context)


# ---- Running --------------------------------------------------------------------------------------------------------

CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # DLPack's, by NumPy's letters


class Kernel:
    def __init__(self, text, name="<string>", device="auto"):
        self.executable = compile_source(name, text)
        self.runtime, self.program, self.entry = c.c_void_p(), c.c_void_p(), c.c_void_p()
        runtime.tf_runtime_create(c.byref(self.runtime))
        self.do("tf_device_open", device.encode(), None)
        source = Source(c.sizeof(Source), name.encode())
        compiler.tf_executable_source(self.executable, c.byref(source))
        self.do("tf_program_load", c.byref(source), c.byref(self.program))
        if runtime.tf_program_entry(self.program, None, c.byref(self.entry)):
            raise RuntimeError(runtime.tf_runtime_message(self.runtime).decode())
        info = DeviceInfo()
        self.do("tf_device_get_info", c.byref(info))
        self.device, self.device_name = info.device, info.name.decode()

    def do(self, function, *arguments):
        if getattr(runtime, function)(self.runtime, *arguments):
            message = runtime.tf_runtime_message(self.runtime).decode()
            runtime.tf_runtime_clear_error(self.runtime)
            raise RuntimeError(message)

    def upload(self, array):
        pointer = c.c_void_p()
        self.do("tf_device_alloc", c.c_size_t(array.nbytes), c.byref(pointer))
        self.do("tf_device_copy_in", pointer, c.c_void_p(array.ctypes.data), c.c_size_t(array.nbytes), None)
        shape = (c.c_int64 * array.ndim)(*array.shape)
        return Tensor(pointer, self.device, array.ndim, Dtype(CODES[array.dtype.kind], array.itemsize * 8, 1), shape)

    def argument(self, value, tensors):
        if isinstance(value, np.ndarray):
            tensors.append((value, self.upload(value)))
            return Argument(Argument.TENSOR, Value(tensor=c.pointer(tensors[-1][1])))
        return Argument(Argument.INT, Value(i=value)) if isinstance(value, int) else Argument(Argument.FLOAT, Value(f=value))

    def __call__(self, *values):
        tensors = []
        try:
            arguments = (Argument * len(values))(*[self.argument(value, tensors) for value in values])
            if runtime.tf_entry_call(self.entry, None, arguments, len(values)):
                message = runtime.tf_runtime_message(self.runtime).decode()
                runtime.tf_runtime_clear_error(self.runtime)
                raise RuntimeError(message)
            for array, tensor in tensors:
                self.do("tf_device_copy_out", c.c_void_p(array.ctypes.data), c.c_void_p(tensor.data),
                        c.c_size_t(array.nbytes), None)
        finally:
            for _, tensor in tensors:
                runtime.tf_device_free(self.runtime, c.c_void_p(tensor.data))

    def close(self):
        runtime.tf_program_unload(self.program)
        runtime.tf_runtime_destroy(self.runtime)
        compiler.tf_executable_destroy(self.executable)


# ---- Used -----------------------------------------------------------------------------------------------------------

SAXPY = """
S = DimVar("S", 1, 65536)

@prim_func(target=CudaTarget("sm_80"))
def saxpy(a: Tensor[(), "f32"], x: Tensor[(S, 512), "f32"], y: Tensor[(S, 512), "f32"]) -> None:
    with Mesh((Topology("cta", S), Topology("thread", 128)), Layout(shape=(S, 128)), ("row", "t")) as m:
        own = ShardLayout(layout=Layout(shape=(S, 128, 4)), attrs=(Split(0), Split(1)), mesh=m)
        r = T.alloc_tensor(TensorType(shape=(S, 512), dtype=DType.f32, layout=own, storage=StorageKind.RMEM))
        T.copy(T.tensor_view(x, layout=own), r)
        T.binary(r, a, r, kind="mul")
        T.binary(r, T.tensor_view(y, layout=own), r, kind="add")
        T.copy(r, T.tensor_view(y, layout=own))
"""

if __name__ == "__main__":
    saxpy = Kernel(SAXPY, "saxpy.tir")
    print("on", saxpy.device_name)
    rng = np.random.default_rng(5)
    x = rng.standard_normal((37, 512), dtype=np.float32)
    y = rng.standard_normal((37, 512), dtype=np.float32)
    expected = np.float32(1.5) * x + y
    saxpy(1.5, x, y)
    assert np.array_equal(y, expected)
    print(y.size, "values of a*x + y are right")

    try:
        saxpy(1.5, x, y.astype(np.float64))
    except RuntimeError as error:
        print("refused:", error)
    else:
        raise SystemExit("a float64 array was taken for f32")
    try:
        Kernel(SAXPY.replace("T.copy(r", "T.copy(q"), "typo.tir")
    except SyntaxError as error:
        print("refused:", error)
    else:
        raise SystemExit("an unknown name was compiled")
    saxpy.close()
