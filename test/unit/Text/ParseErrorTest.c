/* Every message of the text stage, at its exact place; recovery: all faults of a text in one run, and no others.
 *
 * A case is a text and what must be reported, in order, as "line:column ID". The last test fails when a row of DiagsText.def
 * has no case. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilefoundry/Text.h>

#include "Harness.h"
#include "IR/Text/ElaborateIntrinsic.h"
#include "IR/Nodes.h"

typedef struct error_case {
  const char *text, *expected;
} error_case;

#define K    "@prim_func\ndef k(x: Tensor[(8, 4), \"f32\"], n: Tensor[(), \"i32\"]):\n"
#define MESH "M = Mesh(Topology(\"thread\", 32), Layout((4, 8)), (\"a\", \"b\"))\n"

static const error_case lexer_cases[] = {
    {"x = 1\ny = \"\xff\"\n", "2:6 LEX_ENCODING"},
    {"if x:\n        y = 1\n\tz = 2\n", "3:1 LEX_TABS 1:1 STMT_MISPLACED"},
    {"if x:\n        y = 1\n    z = 2\n    u = 3\nw = 1\n", "3:5 LEX_DEDENT 1:1 STMT_MISPLACED"},
    {"x = 1)\ny = (1\n", "1:6 LEX_UNMATCHED 2:5 LEX_UNCLOSED"},
    {"x = (1]\n", "1:7 LEX_MISMATCH"},
    {"x = (1,\ndef k():\n    pass\n", "1:5 LEX_UNCLOSED 2:5 DECORATOR_ONE"},
    {"x = 1 \\ 2\n", "1:7 LEX_CONTINUATION"},
    {"a = 0777\nb = 1__0\nc = 1_\nd = 0x\ne = 12ab\nf = 3j\ng = 18446744073709551616\nh = 1.5_\n",
     "1:5 LEX_NUMBER 2:5 LEX_NUMBER 3:5 LEX_NUMBER 4:5 LEX_NUMBER 5:5 LEX_NUMBER 6:5 LEX_NUMBER 7:5 LEX_NUMBER 8:5 "
     "LEX_NUMBER"},
    {"x = \"abc\ny = '''abc\n", "1:5 LEX_UNTERMINATED 2:5 LEX_UNTERMINATED"},
    {"x = f\"{y}\"\ny = b'a'\nz = rb'a'\n", "1:5 LEX_STRING_PREFIX 2:5 LEX_STRING_PREFIX 3:5 LEX_STRING_PREFIX"},
    {"x = \xc3\x97 + 1\ny = 1 \xe2\x88\x92 1\nz = \xe2\x80\x9c\"a\"\n",
     "1:5 LEX_NON_ASCII 2:7 LEX_NON_ASCII 3:5 LEX_NON_ASCII"},
    {"x = 1 $ 2\ny = 1 ? 2\nz = 1\x01\n", "1:7 LEX_STRAY 2:7 LEX_STRAY 3:6 LEX_STRAY"},
    {"x = \"a\\xz\"\ny = \"\\u12\"\nz = \"\\0\"\nw = \"\\N{DASH}\"\nv = \"\\ud800\"\n",
     "1:7 SYNTAX_ESCAPE 2:6 SYNTAX_ESCAPE 3:6 SYNTAX_ESCAPE 4:6 SYNTAX_ESCAPE 5:6 SYNTAX_ESCAPE"},
};

static const error_case syntax_cases[] = {
    {"x = \ny = 1 +\nz = (1 2)\nw = 3\n", "1:5 SYNTAX_EXPECTED 2:8 SYNTAX_EXPECTED 3:8 SYNTAX_EXPECTED"},
    {"x = lambda a: a\ny = [i for i in z]\nx += 1\nx: int = 3\na, b = 1, 2\na[0] = 1\ndel x\na = b = 1\n",
     "1:5 SYNTAX_UNSUPPORTED 2:8 SYNTAX_UNSUPPORTED 3:3 SYNTAX_UNSUPPORTED 4:2 SYNTAX_UNSUPPORTED 5:1 "
     "SYNTAX_UNSUPPORTED "
     "6:1 SYNTAX_UNSUPPORTED 7:1 SYNTAX_UNSUPPORTED 8:7 SYNTAX_UNSUPPORTED"},
    {"x = {1: 2}\ny = (z := 3)\nf(*a)\nwith a as b, c as d, e as f, g as h, i as j:\n    pass\nfor i in r:\n    "
     "pass\nelse:\n    pass\n",
     "1:5 SYNTAX_UNSUPPORTED 2:8 SYNTAX_UNSUPPORTED 3:3 SYNTAX_UNSUPPORTED 4:38 SYNTAX_UNSUPPORTED 8:1 "
     "SYNTAX_UNSUPPORTED "
     "6:1 STMT_MISPLACED"},
    {"try:\n    x = 1 +\nexcept E:\n    pass\nfinally:\n    pass\ny = 2 +\n",
     "1:1 SYNTAX_UNSUPPORTED 2:12 SYNTAX_EXPECTED 7:8 SYNTAX_EXPECTED"},
    {K "    while n < 3:\n        break\n    async with a as b:\n        pass\n    raise n\n    yield\n",
     "4:9 SYNTAX_UNSUPPORTED 5:5 SYNTAX_UNSUPPORTED 7:5 SYNTAX_UNSUPPORTED 8:5 SYNTAX_UNSUPPORTED"},
    {"with (a as b, c):\n    pass\nwith (a as b c as d):\n    pass\nwith a as (b, c):\n    pass\nwith (a):\n    "
     "pass\nwith a "
     "as b,:\n    pass\nfor (i, j) in r:\n    pass\n",
     "1:16 SYNTAX_EXPECTED 3:14 SYNTAX_EXPECTED 5:13 SYNTAX_EXPECTED 7:9 SYNTAX_EXPECTED 9:13 SYNTAX_EXPECTED 11:7 "
     "SYNTAX_EXPECTED"},
    {"x = 1\n    y = 2\n", "2:5 SYNTAX_INDENT"},
    {"@prim_func\ndef k():\nx = 1\n", "3:1 SYNTAX_BLOCK"},
    {K "    if n < 3:\n    x = 1 +\n", "4:5 SYNTAX_BLOCK 4:12 SYNTAX_EXPECTED"},
    {"x = f(a=1, a=2)\ny = f(a=1, 2)\n@prim_func\ndef k(x: T, x: T):\n    pass\n",
     "1:12 SYNTAX_REPEATED 2:12 SYNTAX_POSITIONAL 4:13 SYNTAX_REPEATED"},
    {K "    y = 1 if n\n    for i, j in range(3):\n        z = 1 +\n    for i range(3):\n        pass\n    else:\n     "
       "   pass\n",
     "3:15 SYNTAX_EXPECTED 4:10 SYNTAX_UNSUPPORTED 5:16 SYNTAX_EXPECTED 6:11 SYNTAX_EXPECTED 8:5 SYNTAX_UNSUPPORTED"},
};

static const error_case name_cases[] = {
    {"x = y\n", "1:5 NAME_UNKNOWN"},
    {K "    T.copi(x, x)\n    z = DType.f31\n", "3:7 NAME_ATTRIBUTE 4:15 NAME_ATTRIBUTE"},
    {K "    if n < 3:\n        y = n + 1\n    T.fill(x, y)\n", "5:15 NAME_UNKNOWN 4:9 NAME_ENDED"},
    {K "    a = n + 1\n    for i in range(3):\n        a = a + 1\n", "5:9 NAME_REBOUND"},
    {K "    a = n + 1\n    if n < 3:\n        a = n + 2\n    T.fill(x, a)\n",
     "5:9 NAME_REBOUND 6:15 NAME_REBOUND_READ"},
    {K "    a = n + 1\n    while a < 3:\n        a = n + 2\n", "5:9 NAME_REBOUND"},
    {K "    a = n + 1\n    for i in range(3):\n        if n < 3:\n            a = n + 2\n        else:\n            "
       "T.fill(x, a)\n",
     "6:13 NAME_REBOUND 8:23 NAME_REBOUND_READ"},
    {"N = 3\n" K "    for i in range(3):\n        N = 4\n    T.fill(x, N)\n",
     "5:9 NAME_REBOUND 6:15 NAME_REBOUND_READ"},
    {K "    for i in range(3):\n        for i in range(2):\n            pass\n        T.fill(x, i)\n",
     "4:13 NAME_REBOUND 6:19 NAME_REBOUND_READ"},
    {"x = 3(4)\ny = T(3)\n", "1:5 NOT_CALLABLE 2:5 NOT_CALLABLE"},
};

static const error_case values_cases[] = {
    {K "    y = T.tensor_view(x, layout=Layout((n, 4)))\n    with n as m:\n        pass\n",
     "3:40 STATIC_WANTED 4:10 STATIC_ONLY"},
    {"a = 9223372036854775807 * 4\nb = 1 // 0\nc = 1 << 64\nd = (-1.0) ** 0.5\ne = -2 ** 63 - 1\n",
     "1:5 STATIC_OVERFLOW 2:5 STATIC_DIV_ZERO 3:5 STATIC_SHIFT 4:5 STATIC_COMPLEX 5:5 STATIC_OVERFLOW"},
    {"S = DimVar(\"S\", 1, 9)\na = S // 0\nb = S * 9223372036854775807 * 2\n", "2:5 STATIC_DIV_ZERO 3:5 STATIC_DIM"},
    {"a = (((((((((((((((((((((((((((((((((1,),),),),),),),),),),),),),),),),),),),),),),),),),),),),),),),),)\n",
     "1:5 STATIC_LIST"},
    {K "    a = (n, 1)\n    b = (1, 2)[2]\n    c = (1, 2)[n]\n",
     "3:9 TUPLE_RUN_TIME 4:16 TUPLE_INDEX 5:16 STATIC_ONLY"},
    {"a = 1 + \"b\"\nb = -\"c\"\nc = True + 1\nd = not 3\ne = 3 in 4\nf = abs(None)\ng = len(3)\n",
     "1:5 OPERATOR_OPERANDS 2:5 OPERATOR_OPERAND 3:5 OPERATOR_OPERANDS 4:5 SCALAR_LOGIC 5:5 OPERATOR_OPERANDS "
     "6:5 OPERATOR_OPERAND 7:5 OPERATOR_OPERAND"},
    {"a = DType.i8(300)\nb = DType.f16(\"x\")\nc = DType.bool(1)\n" K "    y = DType.u8(255)\n    z = DType.u8(256)\n",
     "1:5 TYPED_LITERAL 2:5 TYPED_LITERAL 3:5 TYPED_LITERAL 7:9 TYPED_LITERAL"},
    {K "    y = x[0]\n    T.fill(x, T)\n    T.fill(x, ...)\n", "3:9 SUBSCRIPT 4:15 OPERAND_VALUE 5:15 EXPR_MISPLACED"},
    {"A = DimVar(\"A\", 5, 5)\nB1 = DimVar(\"B\", 1, 5)\nB2 = DimVar(\"B\", 1, 6)\nC = DimVar(\"a b\", 1, 2)\n",
     "1:5 DIM_VAR_RANGE 3:6 DIM_VAR_TWICE 4:12 CALL_ARGUMENT"},
    {"t = CudaTarget(\"sm_81\")\ns = Swizzle(30, 1, 1)\nr = Swizzle(1, 0, 0)\n",
     "1:16 TARGET_UNKNOWN 2:5 SWIZZLE_BITS 3:5 SWIZZLE_BITS"},
    {MESH
     "A = Mesh(Topology(\"thread\", 32), Layout((4, 8)), (\"a\",))\nB = ShardLayout(Layout((4,)), (Split(0),), M)\n"
     "C = 16 @ 4\nD = 8 @ M\n",
     "2:50 MESH_NAMES 3:31 SHARD_ATTRS 4:5 PLACE_OPERANDS 5:5 PLACE_OPERANDS"},
    {MESH K "    a = M[n]\n    b = M[0:4:2]\n    c = M[4:8]\n    d = M[1:2][0]\n    e = M[1, 2, 3]\n    f = M[2:2]\n   "
            " g = M[-5]\n",
     "4:11 SLICE_DYNAMIC 5:11 SLICE_REFUSED 6:9 SLICE_REFUSED 7:9 SLICE_REFUSED 8:9 SLICE_REFUSED 9:9 SLICE_REFUSED "
     "10:9 SLICE_REFUSED"},
};

static const error_case call_cases[] = {
    {"a = Layout((4,), stride=(1,))\nb = Layout(1, 2, 3)\nc = Layout(4, shape=4)\nd = Topology(\"cta\")\n",
     "1:25 CALL_KEYWORD 2:18 CALL_TOO_MANY 3:21 CALL_TWICE 4:5 CALL_MISSING"},
    {"a = min(1)\nb = ceildiv(1, 2, 3)\nc = Topology(\"core\", 4)\nd = Layout((4, 4), (1,))\n",
     "1:5 CALL_COUNT 2:5 CALL_COUNT 3:14 CALL_ARGUMENT 4:12 CALL_REFUSED"},
    {K "    T.copy(x)\n    T.copy(x, x, x)\n    T.fill(x, 0.0, loc=3)\n    T.unary(x, x, kind=\"tan\")\n    T.copy(x, "
       "x, axis=1)\n",
     "3:5 CALL_MISSING 4:18 OP_TOO_MANY 5:24 LOC_TEXT 6:24 CALL_ARGUMENT 7:23 CALL_KEYWORD"},
    {K "    y = T.copy(x, x)\n    T.tensor_view(x)\n    n + 1\n    k(k(x, n), n)\n",
     "3:9 EFFECT_AS_VALUE 4:5 VALUE_UNUSED 5:5 EXPR_UNUSED 6:7 EFFECT_AS_VALUE"},
    {K "    while T.load(T.tensor_view(x, 0, 0, shape=(1, 1)), 0, 0) < 1.0:\n        pass\n"
       "    T.fill(T.alloc_tensor(TensorType((4,), \"f32\", None, \"rmem\")), 0.0)\n"
       "    a = n < 1 and T.load(T.tensor_view(x, 0, 0, shape=(1, 1)), 0, 0) < 1.0\n",
     "3:18 VALUE_OP_NESTED 5:12 VALUE_OP_NESTED 6:26 VALUE_OP_NESTED"},
    {"a = T.program_id(\"cta\")\n", "1:5 OUTSIDE_FUNCTION"},
    {MESH K "    a = T.coord(M.a)\n    b = T.shape_of(n + 1, 0)\n    c = T.shape_of(x, 2)\n    T.store(x, 1.0)\n    "
            "T.abort(3)\n",
     "4:17 MESH_NOT_BOUND 5:9 SHAPE_OF_PARAM 6:23 SHAPE_OF_AXIS 7:5 STORE_ARGUMENTS 8:5 ABORT_MESSAGE"},
    {K "    launch(x, grid=1, block=1)\n    launch(k, x, n, grid=(1, 1, 1, 1), block=1)\n    launch(k, x, n, grid=1)\n",
     "3:5 LAUNCH_KERNEL 4:26 LAUNCH_EXTENTS 5:5 CALL_MISSING"},
};

static const error_case statement_cases[] = {
    {K "    import a\n    assert n\n    def f():\n        pass\n    class C:\n        pass\n",
     "3:5 STMT_MISPLACED 4:5 STMT_MISPLACED 5:5 STMT_MISPLACED 7:5 STMT_MISPLACED"},
    {K "    for i in x:\n        pass\n    for i in range():\n        pass\n    with 3 as m:\n        pass\n    return "
       "x\n",
     "3:14 FOR_RANGE 5:14 FOR_RANGE 7:10 WITH_MESH 9:12 RETURN_VALUE"},
    {K "    match n:\n        case _:\n            T.abort()\n", "3:11 DISPATCH_SUBJECT"},
    {K "    match T.dispatch(\"d\", T.shape_of(x, 0)):\n        case 3:\n            k(x, n)\n"
       "        case DimVarRangePat(\"S\", 1, 2):\n            T.copy(x, x)\n        case _:\n            k(x, n)\n",
     "4:14 DISPATCH_PATTERN 7:13 DISPATCH_CASE_CALL 8:9 DISPATCH_FALLBACK"},
    {K
     "    match T.dispatch(\"d\", T.shape_of(x, 0)):\n        case DimVarRangePat(\"S\", 1, 2):\n            k(x, n)\n",
     "3:5 DISPATCH_FALLBACK"},
};

static const error_case function_cases[] = {
    {"def k():\n    pass\n@prim_func\n@prim_func\ndef l():\n    pass\nclass C:\n    pass\n@module\ndef m():\n    "
     "pass\n",
     "1:5 DECORATOR_ONE 4:2 DECORATOR_ONE 7:7 DECORATOR_ONE 9:2 DECORATOR_ONE"},
    {"@prim_func(target=3)\ndef k():\n    pass\n@prim_func(outputs=3)\ndef l():\n    pass\n@module(name=3)\nclass C:\n "
     "   pass\n",
     "1:19 DECORATOR_ARGUMENT 4:20 DECORATOR_ARGUMENT 7:14 DECORATOR_ARGUMENT"},
    {"@prim_func\ndef k(a, b: 3, c: Tensor[(4,)], d: Tensor[(4,), 3], e: Tensor[(4,), \"f32\", 3]) -> 3:\n    "
     "T.copy(a, b)\n",
     "2:83 FUNCTION_RETURN 2:7 PARAM_ANNOTATION 2:13 PARAM_ANNOTATION 2:19 TENSOR_FORM 2:49 TENSOR_ITEM 2:76 "
     "TENSOR_ITEM"},
    {"@intrinsic\ndef f(a: Expr, b: Tensor) -> None:\n    pass\n@intrinsic\ndef g(a: Expr):\n    pass\n"
     "@intrinsic\ndef h(a: Expr) -> None:\n    T.copy(a, a)\n    assert a\n",
     "2:16 INTRINSIC_PARAM 5:5 INTRINSIC_RETURN 9:5 INTRINSIC_BODY 10:5 INTRINSIC_BODY"},
    {"@intrinsic(ptx=\"mov {a}, {b};\")\ndef f(a: Expr) -> None:\n    pass\n@intrinsic\ndef g() -> None:\n    pass\n"
     "@intrinsic\ndef g() -> None:\n    pass\n@intrinsic\ndef Big() -> None:\n    pass\n@intrinsic\ndef copy() -> "
     "None:\n    pass\n",
     "1:16 INTRINSIC_OPERAND 8:5 INTRINSIC_TWICE 5:5 NAME_FIRST 11:5 INTRINSIC_NAME 14:5 INTRINSIC_NAME"},
    /* Names of forms, of functions before and behind; by name: unknown, twice, missing, of a function. */
    {"@intrinsic\ndef store() -> None:\n    pass\n@intrinsic\ndef spread() -> None:\n    pass\n"
     "@intrinsic\ndef f(a: Expr, b: Expr) -> None:\n    pass\n@prim_func\ndef f(x: Tensor[(4,), \"f32\"]):\n    pass\n",
     "2:5 INTRINSIC_NAME 5:5 INTRINSIC_NAME 8:5 INTRINSIC_NAME 11:5 FUNCTION_HERE"},
    {"@prim_func\ndef f(x: Tensor[(4,), \"f32\"]):\n    pass\n@intrinsic\ndef f(a: Expr, b: Expr) -> None:\n    pass\n",
     "5:5 INTRINSIC_NAME 2:5 FUNCTION_HERE"},
    {"@intrinsic\ndef f(a: Expr, b: Expr) -> None:\n    pass\n@prim_func\ndef k(x: Tensor[(4,), \"f32\"]):\n    f(x, "
     "c=1)\n"
     "    f(x, a=1)\n    f(b=1)\n    f(x, x, b=1)\n    f(b=1, a=x)\n    k(y=x)\n    k(x=x)\n",
     "6:12 CALL_KEYWORD 7:12 CALL_TWICE 8:5 CALL_MISSING 9:15 CALL_TWICE 11:9 CALL_KEYWORD"},
    {"@prim_func\ndef range():\n    pass\n@prim_func\ndef T():\n    pass\n@intrinsic\ndef len(a: Expr) -> None:\n    "
     "pass\n",
     "2:5 NAME_HIDES 5:5 NAME_HIDES 8:5 INTRINSIC_NAME"},
    {"@prim_func\ndef k(Mesh: Tensor[(4,), \"f32\"], len: Tensor[(4,), \"f32\"], max: Tensor[(4,), \"f32\"], launch: "
     "Tensor[(4,), \"f32\"]):\n    pass\n",
     "2:7 NAME_HIDES 2:86 NAME_HIDES"},
};

static bool seen[TF_DIAG_COUNT];
static unsigned mismatches;

static void check_case(const error_case *c) {
  tf_context *context;
  const tf_module *module = NULL;
  char got[4096] = "";
  size_t length = 0;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  tf_status status = tf_parse(context, "case", c->text, strlen(c->text), NULL, &module);
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++) {
    const tf_diagnostic *d = tf_context_diagnostic(context, i);
    seen[d->id] = true;
    length += (size_t)snprintf(got + length, sizeof got - length, "%s%u:%u %s", i ? " " : "", d->loc.line,
                               d->loc.column, tf_diag_name(d->id));
  }
  if (strcmp(got, c->expected) != 0 || status != TF_PARSE || module) {
    fprintf(stderr, "%s\nexpected %s\ngot      %s\n", c->text, c->expected, got);
    mismatches++;
  }
  tf_context_destroy(context);
}

#define TABLE_TEST(TABLE)                                                                                              \
  START_TEST(TABLE) {                                                                                                  \
    for (size_t i = 0; i < sizeof TABLE##_cases / sizeof *TABLE##_cases; i++)                                          \
      check_case(&TABLE##_cases[i]);                                                                                   \
    ck_assert_uint_eq(mismatches, 0);                                                                                  \
  }                                                                                                                    \
  END_TEST

TABLE_TEST(lexer)
TABLE_TEST(syntax)
TABLE_TEST(name)
TABLE_TEST(values)
TABLE_TEST(call)
TABLE_TEST(statement)
TABLE_TEST(function)

/* Near misses: names bound anew where Python sees what we see, odd but legal forms. */
START_TEST(accepted) {
  static const char *const texts[] = {
      K "    a = n + 1\n    if n < 3:\n        a = n + 2\n        T.fill(x, T.cast(a, \"f32\"))\n    else:\n"
        "        T.fill(x, T.cast(a, \"f32\"))\n",
      K "    a = n + 1\n    if n < 3:\n        a = n + 2\n    elif a < 3:\n        a = n + 3\n    a = n\n    T.fill(x, "
        "T.cast(a, \"f32\"))\n",
      K "    a = n + 1\n    a = a + 1\n    n = a\n",
      K "    for i in range(3):\n        a = n + 1\n        a = a + 1\n    for i in range(3):\n        i = i + 1\n",
      "N = 3\n" K "    N = 4\n    for i in range(N):\n        M = N\n",
      K "    a = n + 1\n    for i in range(a):\n        b = n\n        for j in range(b):\n            a = j\n",
      "match = 3\ncase = match\n" K "    pass\n",
      "N = 4\n@prim_func\ndef a(x: Tensor[(N,), \"f32\"]):\n    T.fill(x, N)\nN = 8\n@prim_func\ndef b(x: Tensor[(N,), "
      "\"f32\"]):\n"
      "    a(x)\n",
      "",
      "\n\n# nothing\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tf_context *context;
    const tf_module *module = NULL;
    ck_assert_int_eq(tf_context_create(&context), TF_OK);
    tf_status status = tf_parse(context, "case", texts[i], strlen(texts[i]), NULL, &module);
    if (status != TF_OK)
      ck_abort_msg("%s\n%s", texts[i], tf_diagnostic_render(context, tf_context_diagnostic(context, 0)));
    ck_assert_ptr_nonnull(module);
    tf_context_destroy(context);
  }
}
END_TEST

/* Texts that would be too long to write down: each reports one fault and ends. */
static char *repeated(const char *head, const char *part, unsigned count, const char *tail) {
  size_t part_length = strlen(part);
  char *text = malloc(strlen(head) + part_length * count + strlen(tail) + 1);
  char *at = stpcpy(text, head);
  for (unsigned i = 0; i < count; i++)
    at = stpcpy(at, part);
  strcpy(at, tail);
  return text;
}

START_TEST(depth) {
  static const char *const expected[] = {"1:205 LEX_DEPTH",  "1:405 SYNTAX_DEPTH", "1:5 SYNTAX_DEPTH", "4:5 IF_CLAUSES",
                                         "1:5 SYNTAX_DEPTH", "1:5 SYNTAX_DEPTH",   "1:5 SYNTAX_DEPTH"};
  char *texts[] = {repeated("x = ", "(", 10000, "1\n"),
                   repeated("x = ", "-", 100000, "1\n"),
                   repeated("x = 1", " + 1", 100000, "\n"),
                   repeated(K "\n    if n < 1:\n        pass\n", "    elif n < 2:\n        pass\n", 2000, ""),
                   repeated("x = a", " and a", 100000, "\n"),
                   repeated("x = 1", " < 1", 100000, "\n"),
                   repeated("x = min(", "1, ", 100000, "1)\n")};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tf_context *context;
    const tf_module *module;
    char got[128];
    ck_assert_int_eq(tf_context_create(&context), TF_OK);
    ck_assert_int_eq(tf_parse(context, "deep", texts[i], strlen(texts[i]), NULL, &module), TF_PARSE);
    ck_assert_uint_eq(tf_context_diagnostic_count(context), 1);
    const tf_diagnostic *d = tf_context_diagnostic(context, 0);
    seen[d->id] = true;
    snprintf(got, sizeof got, "%u:%u %s", d->loc.line, d->loc.column, tf_diag_name(d->id));
    if (i != 1) ck_assert_str_eq(got, expected[i]);
    ck_assert_str_eq(strchr(got, ' '), strchr(expected[i], ' '));
    tf_context_destroy(context);
    free(texts[i]);
  }
}
END_TEST

/* A chain inside of chains inside of a while condition, where nothing can be bound to a name before the statement. */
START_TEST(chain_operand) {
  char text[4096] = K "    while 0 < (n";
  for (int i = 0; i < 70; i++)
    strcat(text, " + n");
  strcat(text, ") < 5:\n        pass\n");
  check_case(&(error_case){text, "3:15 CHAIN_OPERAND"});
  ck_assert_uint_eq(mismatches, 0);
}
END_TEST

static tf_status parse_with(tf_context *context, const char *text, const tf_define *define, const tf_module **module) {
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  options.define_count = 1;
  options.defines = define;
  return tf_parse(context, "case", text, strlen(text), &options, module);
}

START_TEST(defines) {
  static const struct {
    const char *text;
    tf_define define;
    tf_diag_id id; /* TF_DIAG_COUNT: fine */
  } cases[] = {
      {"N = 4\n", {"N", "8 * 4"}, TF_DIAG_COUNT},          {"N = 4\n", {"M", "8"}, TF_DIAG_DEFINE_UNKNOWN},
      {"N = \"s\"\n", {"N", "8"}, TF_DIAG_DEFINE_UNKNOWN}, {"N = 4\n", {"N", "\"s\""}, TF_DIAG_DEFINE_VALUE},
      {"N = 4\n", {"N", "8 +"}, TF_DIAG_SYNTAX_EXPECTED},  {"N = 4\n", {"N", "8 8"}, TF_DIAG_SYNTAX_EXPECTED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tf_context *context;
    const tf_module *module;
    ck_assert_int_eq(tf_context_create(&context), TF_OK);
    tf_status status = parse_with(context, cases[i].text, &cases[i].define, &module);
    ck_assert_int_eq(status, cases[i].id == TF_DIAG_COUNT ? TF_OK : TF_PARSE);
    if (cases[i].id != TF_DIAG_COUNT) {
      ck_assert_uint_ge(tf_context_diagnostic_count(context), 1);
      ck_assert_int_eq(tf_context_diagnostic(context, 0)->id, cases[i].id);
      seen[cases[i].id] = true;
    }
    tf_context_destroy(context);
  }
}
END_TEST

/* Conditions of an intrinsic, evaluated at a use. */
START_TEST(intrinsic_conditions) {
  static const char text[] = "LIMIT = 8\n@intrinsic\ndef f(a: Expr, b: Expr) -> None:\n"
                             "    assert a.dtype == \"f32\" and a.shape[0] <= LIMIT, \"first\"\n"
                             "    assert len(a.shape) == 2 and b in (1, 2), \"second\"\n" K
                             "    f(x, 2)\n    f(x, 3)\n    f(x, n)\n    f(n, 1)\n";
  static const char *const expected[] = {"", "F: second", "F: a condition", "F: first"};
  tf_context *context;
  const tf_module *module;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_parse(context, "case", text, strlen(text), NULL, &module), TF_OK);
  const tf_stmt *body = tf_stmt_body(tf_module_function(module, 0));
  for (unsigned i = 0; i < 4; i++) {
    const tf_stmt *use = tf_sequential_get(body, i);
    tf_context_clear_diagnostics(context);
    ck_assert_int_eq(tf_intrinsic_check(context, use), i == 0);
    if (i == 0) continue;
    const tf_diagnostic *d = tf_context_diagnostic(context, 0);
    for (size_t k = 0; k < tf_context_diagnostic_count(context); k++)
      seen[tf_context_diagnostic(context, k)->id] = true;
    ck_assert_uint_eq(d->loc.line, 8 + i);
    ck_assert_int_eq(strncmp(d->message, expected[i], strlen(expected[i])), 0);
  }
  tf_context_destroy(context);
}
END_TEST

/* Every row has been reported by a test above; the printer's own is PrintTest's. */
START_TEST(every_row_has_a_case) {
#define TF_DIAG(ID, SEVERITY, RULE, FORMAT)                                                                            \
  if (TF_DIAG_##ID != TF_DIAG_PRINT_NAME && !seen[TF_DIAG_##ID]) ck_abort_msg("no case reports %s", #ID);
#include <tilefoundry/DiagsText.def>
#undef TF_DIAG
}
END_TEST

int main(void) {
  TCase *all = tcase_create("all");
  tcase_add_test(all, lexer);
  tcase_add_test(all, syntax);
  tcase_add_test(all, name);
  tcase_add_test(all, values);
  tcase_add_test(all, call);
  tcase_add_test(all, statement);
  tcase_add_test(all, function);
  tcase_add_test(all, accepted);
  tcase_add_test(all, depth);
  tcase_add_test(all, chain_operand);
  tcase_add_test(all, defines);
  tcase_add_test(all, intrinsic_conditions);
  tcase_add_test(all, every_row_has_a_case);
  return run_case("parse errors", all);
}
