/* What the targets that read TIR share: words for its mutations, and what every diagnostic must have. */
#include "Fuzz.h"

#include <tilefoundry/Diagnostics.h>

/* clang-format off */
const char *const fuzz_tir_words[] = {
    "(", ")", "[", "]", ",", ":", "=", "\n", "    ", "\t", "\"", "'", "\\", "#", "\\\n", "\r\n", ";", ".", "def ",
    "for ", "with ", "if ", "else:", "elif x:", "while ", "match ", "case _:", "@prim_func", "@module", "class A:",
    "@intrinsic", "assert ", "lambda", "return", "pass", "import T", "from a import b as c", " @ ", "not ", " and ",
    " or ", " < ", " // ", " ** ", " << ", " % ", " in ", " is ", "None", "True", "False", "...", "*", "**", "->",
    ":=", "+=", "r\"", "f\"", "b\"", "\"\"\"", "-", "~", "T.", "S", "B", "P", "Split(0)", "Broadcast()",
    "Partial(\"sum\")", "Dynamic()", "0", "-1", "9223372036854775807", "1e400", "float(\"nan\")", "float(\"inf\")",
    "DimVar(\"S\", 1, 9)", "DimVar(\"M\", 1, 1 << 40)", "Layout((4, 8))", "Layout((4, 8), (8, 1))",
    "ComposedLayout(None, 3, Layout((4,)))", "Swizzle(3, 3, 3)", "m", "m.a", "m[0]", "m[0:1, :]", "smem", "rmem",
    "gmem", "host", "\"f16\"", "\"i4\"", "\"f4e2m1\"", "\"u64\"", "Tensor[(4,), \"f32\"]", "ConstTensor",
    "CudaTarget(\"sm_75\")", "CudaTarget(\"sm_90a\")", "CpuTarget()", "T.tensor_view(x, 0)",
    "T.tensor_view(x, 0, shape=(4,), clip=0)", "T.memory_span(x)", "T.ptr_of(x)",
    "T.alloc_tensor(TensorType((4,), \"f32\", None, smem))", "T.spread(m, (64,), 4)", "T.reduced(l, (4, 8), (1,))",
    "T.coord(m.a)", "T.coord(m, 0)", "T.program_id(\"cta\")", "T.shape_of(x, 0)", "T.load(x, 0)",
    "T.cast(x, \"f32\")", "T.sync(m)", "T.copy(x, y)", "T.copy_async(x, y)", "T.cp_async_commit()",
    "T.cp_async_wait(0)", "T.fill(x, 0)", "T.store(x, 0, 1)", "T.abort(\"a\")",
    "T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN", "launch(k, x, grid=1, block=32)", "LaunchAttrs()", "kind=\"max\"",
    "axes=(-1,)", "layout=", "shape=", "clip=", "range(3)", "range(0, 9, -1)", "ceildiv(7, -3)", "dim_min(S, 3)",
    "loc=\"a\"", "output_count=1", "target=", "entry=\"k\"", "Mesh(Topology(\"thread\", 32), Layout((32,)))",
    "Mesh((Topology(\"cta\", 2), Topology(\"warp\", 4)), Layout((2, 4)), (\"c\", \"w\"))", "\xc3\xa9", "\xff",
    "\xef\xbb\xbf", "\xe2\x80\xa8", NULL};
/* clang-format on */

void fuzz_diagnostics(tf_context *context) {
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++) {
    const tf_diagnostic *diagnostic = tf_context_diagnostic(context, i);
    fuzz_demand(diagnostic->loc.line > 0 && diagnostic->loc.column > 0, diagnostic->message);
    fuzz_demand(diagnostic->message[0] != '\0', "a diagnostic without a message");
    if (i < 20) fuzz_demand(tf_diagnostic_render(context, diagnostic) != NULL, "a diagnostic does not render");
  }
}
