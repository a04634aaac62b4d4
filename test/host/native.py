"""The C API from Python, as far as random host functions need it: compile a text in each of the ways, call the entry on arrays of bits."""
import ctypes as c
import pathlib

import numpy as np

from model import DTYPES


class Device(c.Structure):
    _fields_ = [("type", c.c_int), ("id", c.c_int)]


class Dtype(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", Device), ("ndim", c.c_int), ("dtype", Dtype),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Value(c.Union):
    _fields_ = [("tensor", c.POINTER(Tensor)), ("i", c.c_int64), ("u", c.c_uint64), ("f", c.c_double)]


class Argument(c.Structure):
    TENSOR, INT, UINT, FLOAT, BITS, OUTPUT = range(6)
    _fields_ = [("kind", c.c_int), ("value", Value)]


class Source(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("image", c.c_char_p), ("image_size", c.c_size_t), ("manifest", c.c_char_p),
                ("manifest_size", c.c_size_t), ("entries", c.c_void_p), ("entry_count", c.c_uint), ("cubin", c.c_void_p), ("cubin_size", c.c_size_t)]


class ParseOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("define_count", c.c_size_t), ("defines", c.c_void_p)]


class LowerOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("target", c.c_void_p), ("entry", c.c_char_p), ("ptx_version", c.c_uint), ("opt_level", c.c_uint),
                ("flags", c.c_bool * 7), ("print_after", c.c_char_p), ("print", c.c_void_p), ("time", c.c_void_p), ("user", c.c_void_p)]


class ObjectOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("prefix", c.c_char_p), ("cubin", c.c_void_p), ("cubin_size", c.c_size_t)]


class DeviceInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("device", Device), ("rest", c.c_char * 256)]


class DeviceOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("target", c.c_char_p), ("checks", c.c_char_p), ("seed", c.c_uint64), ("threads", c.c_uint),
                ("budget", c.c_uint64), ("cancel", c.c_void_p), ("counters", c.c_bool), ("adversarial", c.c_bool), ("fail", c.c_char_p)]


# DLPack's codes and C's types.
CODES = {"b": 6, "i": 0, "u": 1, "f": 2, "bf16": 4, "fp8e4m3": 10, "fp8e5m2": 12, "f8e8m0": 14}
C_TYPES = {"bool": c.c_bool, "f32": c.c_float, "tf32": c.c_float, "f64": c.c_double}


def dlpack(dtype):
    kind, bits = DTYPES[dtype][:2]
    return Dtype(CODES.get(dtype, CODES[kind]), bits, 1)


class Compiled:
    """A text, compiled: the strings for a program, its machine code, its object."""

    def __init__(self, compiler, text, prefix):
        self.compiler = compiler
        self.context, module, ptx, manifest, self.code = (c.c_void_p() for _ in range(5))
        compiler.tf_context_create(c.byref(self.context))
        raw, parse, lower = text.encode(), ParseOptions(c.sizeof(ParseOptions)), LowerOptions(c.sizeof(LowerOptions), opt_level=1)
        self.must(compiler.tf_parse(self.context, b"kernel.tir", raw, c.c_size_t(len(raw)), c.byref(parse), c.byref(module)))
        self.must(compiler.tf_emit_ptx(module, c.byref(lower), c.byref(ptx)))
        self.must(compiler.tf_emit_manifest(module, c.byref(lower), c.byref(manifest)))
        self.must(compiler.tf_host_code_create(module, c.byref(lower), c.byref(self.code)))
        self.ptx, self.manifest = c.string_at(ptx), c.string_at(manifest)
        bytes_, size, options = c.c_void_p(), c.c_size_t(), ObjectOptions(c.sizeof(ObjectOptions), prefix.encode())
        self.must(compiler.tf_emit_object(module, c.byref(lower), c.byref(options), c.byref(bytes_), c.byref(size)))
        self.object = c.string_at(bytes_, size.value)
        compiler.tf_context_destroy(self.context)  # machine code does not need it

    def must(self, status):
        if status:
            count = self.compiler.tf_context_diagnostic_count(self.context)
            lines = [self.compiler.tf_diagnostic_render(self.context, c.c_void_p(self.compiler.tf_context_diagnostic(self.context, c.c_size_t(i)))) for i in range(count)]
            raise SyntaxError(b"".join(lines).decode())

    def close(self):
        self.compiler.tf_host_code_destroy(self.code)


def load_compiler(folder):
    compiler = c.CDLL(str(pathlib.Path(folder) / "libtilefoundry.so"))
    compiler.tf_diagnostic_render.restype = c.c_char_p
    compiler.tf_context_diagnostic.restype = c.c_void_p
    compiler.tf_context_diagnostic_count.restype = c.c_size_t
    compiler.tf_host_code_entries.restype = c.c_void_p
    return compiler


class Runtime:
    def __init__(self, folder, target=b"sm_80"):
        # Global, so that the objects find it.
        self.library = c.CDLL(str(pathlib.Path(folder) / "libtilefoundry-runtime.so"), mode=c.RTLD_GLOBAL)
        self.library.tf_runtime_message.restype = c.c_char_p
        self.handle, info = c.c_void_p(), DeviceInfo()
        self.library.tf_runtime_create(c.byref(self.handle))
        options = DeviceOptions(c.sizeof(DeviceOptions), target, b"mem,init", threads=1)
        self.must(self.library.tf_device_open(self.handle, b"sim", c.byref(options)))
        self.must(self.library.tf_device_get_info(self.handle, c.byref(info)))
        self.device = info.device

    def message(self):
        text = self.library.tf_runtime_message(self.handle).decode()
        self.library.tf_runtime_clear_error(self.handle)
        return text

    def must(self, status):
        if status:
            raise RuntimeError(f"status {status}: {self.message()}")

    def close(self):
        self.library.tf_runtime_destroy(self.handle)

    # ---- Arguments: [(dtype, storage or None for a scalar, bits)] to tensors in memory, and back.

    def upload(self, dtype, storage, array):
        shape = (c.c_int64 * array.ndim)(*array.shape)
        if storage == "host":
            memory = np.zeros(array.nbytes + 64, np.uint8)  # aligned to 64
            pointer = memory.ctypes.data + -memory.ctypes.data % 64
            c.memmove(pointer, array.ctypes.data, array.nbytes)
            tensor = Tensor(pointer, Device(1, 0), array.ndim, dlpack(dtype), shape)
            tensor.memory = memory
            return tensor
        pointer = c.c_void_p()
        self.must(self.library.tf_device_alloc(self.handle, c.c_size_t(array.nbytes), c.byref(pointer)))
        self.must(self.library.tf_device_copy_in(self.handle, pointer, c.c_void_p(array.ctypes.data), c.c_size_t(array.nbytes), None))
        return Tensor(pointer, self.device, array.ndim, dlpack(dtype), shape)

    def download(self, tensor, like):
        out = np.zeros_like(like)
        if tensor.device.type == 1:
            c.memmove(out.ctypes.data, tensor.data, out.nbytes)
        else:
            self.must(self.library.tf_device_copy_out(self.handle, c.c_void_p(out.ctypes.data), c.c_void_p(tensor.data), c.c_size_t(out.nbytes), None))
        return out

    def run(self, params, arrays, call):
        """params: (name, dtype, shape, storage, const). call(tensors by name) returns a status. (message or None, arrays afterwards)."""
        tensors = {n: self.upload(d, s, arrays[n]) for n, d, shape, s, _ in params if shape is not None}
        try:
            status = call(tensors)
            message = self.message() if status else None
            self.must(self.library.tf_stream_synchronize(self.handle, None))
            return message, {n: self.download(t, arrays[n]) for n, t in tensors.items()}
        finally:
            for t in tensors.values():
                if t.device.type != 1:
                    self.library.tf_device_free(self.handle, c.c_void_p(t.data))

    def run_program(self, compiled, params, arrays, machine_code):
        """Through tf_entry_call: machine code, or the manifest's plan (None if it has none)."""
        source = Source(c.sizeof(Source), b"kernel.tir", compiled.ptx, len(compiled.ptx), compiled.manifest, len(compiled.manifest))
        if machine_code:
            count = c.c_uint()
            source.entries = compiled.compiler.tf_host_code_entries(compiled.code, c.byref(count))
            source.entry_count = count.value
        program, entry = c.c_void_p(), c.c_void_p()
        self.must(self.library.tf_program_load(self.handle, c.byref(source), c.byref(program)))
        self.must(self.library.tf_program_entry(program, None, c.byref(entry)))

        def call(tensors):
            arguments = (Argument * len(params))()
            for a, (name, _, shape, *_) in zip(arguments, params):
                a.kind, a.value = (Argument.BITS, Value(u=arrays[name])) if shape is None else (Argument.TENSOR, Value(tensor=c.pointer(tensors[name])))
            return self.library.tf_entry_call(entry, None, arguments, len(params))

        try:
            return self.run(params, arrays, call)
        finally:
            self.library.tf_program_unload(program)

    def run_object(self, library, name, params, arrays):
        """Through the C function of an object."""
        function = getattr(library, name)
        function.argtypes = [c.c_void_p, c.c_void_p] + [c.c_void_p if shape is not None else c_type(dtype) for _, dtype, shape, *_ in params]

        def call(tensors):
            values = [c.byref(tensors[n]) if shape is not None else c_value(dtype, arrays[n]) for n, dtype, shape, *_ in params]
            return function(self.handle, None, *values)

        return self.run(params, arrays, call)


def c_type(dtype):
    kind, bits = DTYPES[dtype][:2]
    return C_TYPES.get(dtype) or getattr(c, f"c_{'u' if kind != 'i' else ''}int{bits}")


def c_value(dtype, bits):
    if dtype in C_TYPES:
        raw = bits.to_bytes(DTYPES[dtype][1] // 8, "little")
        return C_TYPES[dtype].from_buffer_copy(raw)
    return c_type(dtype)(bits)
