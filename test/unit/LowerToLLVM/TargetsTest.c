/* Every op for every target, in one process: PTX for that target, or a diagnostic that names what it lacks; LLVM must never
 * end the process. The corpus is checked against the tables of ops and kinds. Where ptxas is there it assembles, for each
 * target, another share of the corpus. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Lower.h>
#include <tilefoundry/Text.h>

#define NAMES(...)                                                                                                     \
  { __VA_ARGS__, NULL }
#define MOST_PARTS 256

static const char *const targets[] = {
#define TF_TARGET(NAME, SM, SUFFIX, PTX, SMEM) NAME,
#include <tilefoundry/Targets.def>
};
#define TARGETS (sizeof targets / sizeof *targets)

static char *parts[MOST_PARTS];
static unsigned part_count, faults;

/* ---- The corpus ------------------------------------------------------------------------------------------------------------- */

static const char head[] = "@prim_func\n"
                           "def k(%s):\n"
                           "    with Mesh((Topology(\"thread\", 128),), Layout(shape=(4, 32)), (\"w\", \"l\")) as g:\n";

/* A kernel with these parameters and this body; DT and TO in both are replaced. */
static void add(const char *parameters, const char *body, const char *dtype, const char *to) {
  char text[16384], *out = NULL;
  size_t size = 0;
  snprintf(text, sizeof text, head, parameters);
  strncat(text, body, sizeof text - strlen(text) - 1);
  FILE *file = open_memstream(&out, &size);
  for (const char *at = text; *at; at++) {
    bool own = strncmp(at, "DT", 2) == 0, other = strncmp(at, "TO", 2) == 0;
    if (own || other) fputs(own ? dtype : to, file);
    if (own || other)
      at++;
    else
      fputc(*at, file);
  }
  fclose(file);
  if (part_count == MOST_PARTS) abort();
  parts[part_count++] = out;
}

#define PARAMETERS                                                                                                     \
  "a: Tensor[(512,), \"DT\"], b: Tensor[(512,), \"DT\"], c: Tensor[(512,), \"DT\"], f: Tensor[(512,), \"bool\"]"
#define VIEWS                                                                                                          \
  "        own = T.spread(g, (512,), 4)\n"                                                                             \
  "        x = T.tensor_view(a, layout=own)\n        y = T.tensor_view(b, layout=own)\n"                               \
  "        z = T.tensor_view(c, layout=own)\n        p = T.tensor_view(f, layout=own)\n"

static const char *const floats[] = NAMES("f32", "f64", "f16", "bf16", "tf32", "fp8e4m3", "fp8e5m2", "f8e8m0");
static const char *const integers[] = NAMES("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64");

static void add_arithmetic(const char *dtype, bool is_float) {
  char body[8192] = VIEWS;
  static const char *const both[] = NAMES("add", "sub", "mul", "floor_div", "mod", "min", "max");
  static const char *const comparisons[] = NAMES("eq", "ne", "lt", "le", "gt", "ge");
  static const char *const unary[] = NAMES("abs", "relu", "square", "neg");
  static const char *const rounding[] = NAMES("ceil", "round");
  static const char *const functions[] = NAMES("exp", "exp2", "log", "log2", "rsqrt");
  size_t n = strlen(body);
#define SAY(...) n += (size_t)snprintf(body + n, sizeof body - n, "        " __VA_ARGS__)
  for (unsigned i = 0; both[i]; i++)
    SAY("T.binary(x, y, z, kind=\"%s\")\n", both[i]);
  if (is_float) SAY("T.binary(x, y, z, kind=\"div\")\n");
  for (unsigned i = 0; comparisons[i]; i++)
    SAY("T.binary(x, y, p, kind=\"%s\")\n", comparisons[i]);
  for (unsigned i = 0; unary[i]; i++)
    SAY("T.unary(x, z, kind=\"%s\")\n", unary[i]);
  for (unsigned i = 0; is_float && rounding[i]; i++)
    SAY("T.unary(x, z, kind=\"%s\")\n", rounding[i]);
  if (is_float)
    SAY("one = T.spread(g, (128,), 1)\n        u = T.tensor_view(a, 0, shape=(128,), layout=one)\n"
        "        v = T.tensor_view(c, 0, shape=(128,), layout=one)\n");
  for (unsigned i = 0; is_float && functions[i]; i++)
    SAY("T.unary(u, v, kind=\"%s\")\n", functions[i]);
  SAY("T.fma(x, y, z, z)\n        T.select(p, x, y, z)\n        T.relu(x, z)\n        T.clamp(x, z, min_val=1, "
      "max_val=2)\n");
  SAY("T.fill(z, 1)\n        T.copy(x, z)\n");
  if (!is_float) SAY("T.iota(z, axis=0)\n");
#undef SAY
  add(PARAMETERS, body, dtype, "");
}

static void add_casts(const char *from, const char *to) {
  add("a: Tensor[(512,), \"DT\"], c: Tensor[(512,), \"TO\"]",
      "        own = T.spread(g, (512,), 4)\n"
      "        T.unary(T.tensor_view(a, layout=own), T.tensor_view(c, layout=own), kind=\"cast\")\n",
      from, to);
}

static void add_reductions(const char *dtype, bool is_float) {
  static const char rows[] =
      "a: Tensor[(4, 512), \"DT\"], b: Tensor[(4, 1), \"DT\"], w: Tensor[(512,), \"DT\"], c: Tensor[(4, 512), \"DT\"]";
  static const char sums[] =
      "        lanes = ShardLayout(layout=Layout(shape=(4, 32, 16)), attrs=(Split(0), Split(1)), mesh=g)\n"
      "        whole = ShardLayout(layout=Layout(shape=(4, 4, 32, 4)), attrs=(Split(1), Split(2)), mesh=g)\n"
      "        r = T.alloc_tensor(TensorType(shape=(4, 512), dtype=\"DT\", layout=lanes, storage=rmem))\n"
      "        v = T.alloc_tensor(TensorType(shape=(4, 512), dtype=\"DT\", layout=whole, storage=rmem))\n"
      "        T.copy(T.tensor_view(a, layout=lanes), r)\n        T.copy(T.tensor_view(a, layout=whole), v)\n"
      "        T.reduce(r, T.tensor_view(b, layout=T.reduced(lanes, (4, 512), 1)), axes=(1,), kind=\"TO\")\n"
      "        T.reduce(v, T.tensor_view(b, layout=T.reduced(whole, (4, 512), 1)), axes=(1,), kind=\"TO\")\n";
  static const char *const kinds[] = NAMES("sum", "mean", "max", "min", "abs_max");
  for (unsigned i = 0; kinds[i]; i++)
    if (i < 3 || strcmp(dtype, "f32") == 0 || strcmp(dtype, "i32") == 0) add(rows, sums, dtype, kinds[i]);
  if (is_float)
    add(rows,
        "        T.rms_norm(T.tensor_view(a, layout=T.spread(g, (4, 512), 4)), T.tensor_view(c, layout=T.spread(g, (4, "
        "512), 4)), w, eps=1e-5)\n",
        dtype, "");
}

/* Three dtypes of a matrix instruction, as text writes them. */
static void add_mma(const char *name, int m, int n, int k, tf_dtype a, tf_dtype b, tf_dtype c) {
  char text[4096];
  snprintf(
      text, sizeof text,
      "        with Mesh((Topology(\"thread\", 32),), Layout(shape=(4, 8), strides=(1, 4))) as lanes:\n"
      "            atom = T.cuda.mma.atom(op=T.cuda.mma.%s)\n"
      "            x = T.alloc_tensor(TensorType(shape=(%d, %d), dtype=\"%s\", layout=atom.A, storage=rmem))\n"
      "            y = T.alloc_tensor(TensorType(shape=(%d, %d), dtype=\"%s\", layout=atom.B, storage=rmem))\n"
      "            acc = T.alloc_tensor(TensorType(shape=(%d, %d), dtype=\"%s\", layout=atom.C, storage=rmem))\n"
      "            T.copy(T.tensor_view(a, layout=atom.A), x)\n            T.copy(T.tensor_view(b, layout=atom.B), y)\n"
      "            T.fill(acc, 0)\n            T.mma(acc, x, y)\n            T.copy(acc, T.tensor_view(c, "
      "layout=atom.C))\n",
      name, m, k, tf_dtype_name(a), k, n, tf_dtype_name(b), m, n, tf_dtype_name(c));
  char parameters[256];
  snprintf(parameters, sizeof parameters,
           "a: Tensor[(%d, %d), \"%s\"], b: Tensor[(%d, %d), \"%s\"], c: Tensor[(%d, %d), \"%s\"]", m, k,
           tf_dtype_name(a), k, n, tf_dtype_name(b), m, n, tf_dtype_name(c));
  add(parameters, text, "", "");
}

static void add_others(void) {
  add(PARAMETERS,
      "        s = T.alloc_tensor(TensorType(shape=(512,), dtype=\"f16\", storage=smem))\n"
      "        own = T.spread(g, (512,), 4)\n"
      "        T.copy_async(T.tensor_view(a, layout=own), T.tensor_view(s, layout=own))\n"
      "        T.cp_async_commit()\n        T.cp_async_wait(0)\n        T.sync(g)\n        T.sync(g[0:2])\n        "
      "T.sync(g[1, 8:16])\n"
      "        T.copy(T.tensor_view(T.memory_span(s), layout=own), T.tensor_view(b, layout=own))\n"
      "        T.copy(T.tensor_view(T.ptr_of(s), shape=(512,), layout=own), T.tensor_view(c, layout=own))\n",
      "f16", "");
  add("a: Tensor[(64,), \"f32\"], n: Tensor[(), \"i32\"]",
      "        for i in range(0, n, 3):\n            if T.load(a, i) > 0.0 and i // 2 % 3 != 1 or i == T.coord(g.w):\n"
      "                T.store(a, T.cast(i * 2 + T.program_id(\"thread\"), \"f32\") / 3.0, i)\n"
      "            elif not (abs(-i) >= 5):\n                T.abort(\"too small\")\n"
      "        while T.load(a, 0) < 1.0:\n            T.store(a, 1.0 if n < 3 else 2.0, 0)\n",
      "", "");
}

static void make_corpus(void) {
  for (unsigned i = 0; floats[i]; i++) {
    add_arithmetic(floats[i], true);
    add_reductions(floats[i], true);
    for (unsigned j = 0; floats[j]; j++)
      if (i != j) add_casts(floats[i], floats[j]);
  }
  for (unsigned i = 0; integers[i]; i++) {
    add_arithmetic(integers[i], false);
    add_reductions(integers[i], false);
    add_casts(integers[i], floats[i % 8]);
    add_casts(floats[i % 8], integers[i]);
    add_casts(integers[i], integers[(i + 3) % 8]);
  }
  add(PARAMETERS,
      VIEWS "        T.unary(p, p, kind=\"not\")\n        T.binary(p, p, p, kind=\"and\")\n        T.binary(p, p, p, "
            "kind=\"or\")\n        T.unary(x, p, kind=\"cast\")\n",
      "f32", "");
#define TF_MMA_ATOM(NAME, M, N, K, A, B, C, ...) add_mma(#NAME, M, N, K, TF_DTYPE_##A, TF_DTYPE_##B, TF_DTYPE_##C);
#include <tilefoundry/MmaAtoms.def>
  add_others();
}

/* ---- Tests -------------------------------------------------------------------------------------------------------------------- */

static bool in_corpus(const char *text) {
  for (unsigned i = 0; i < part_count; i++)
    if (strstr(parts[i], text)) return true;
  return false;
}

START_TEST(corpus_is_complete) {
  static const char *const surfaces[] = {
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) #FORM "/" SURFACE,
#include <tilefoundry/Ops.def>
  };
  for (size_t i = 0; i < sizeof surfaces / sizeof *surfaces; i++) {
    char call[64];
    const char *name = strchr(surfaces[i], '/') + 1;
    if (strncmp(surfaces[i], "SCALAR", 6) == 0 || strcmp(name, "launch") == 0) continue;
    snprintf(call, sizeof call, "T.%s(", name);
    ck_assert_msg(in_corpus(call), "no kernel of the corpus has %s", name);
  }
#define TF_BINARY(ID, NAME) ck_assert_msg(in_corpus("kind=\"" NAME "\""), "no kernel has %s", NAME);
#define TF_UNARY(ID, NAME)  ck_assert_msg(in_corpus("kind=\"" NAME "\""), "no kernel has %s", NAME);
#define TF_REDUCE(ID, NAME) ck_assert_msg(in_corpus("kind=\"" NAME "\""), "no kernel has %s", NAME);
#include <tilefoundry/Kinds.def>
}
END_TEST

static void assemble(const char *ptx, const char *target) {
#ifdef TF_PTXAS
  char command[512];
  FILE *file = fopen("unit-targets.ptx", "w");
  ck_assert_ptr_nonnull(file);
  fputs(ptx, file);
  fclose(file);
  snprintf(command, sizeof command, "%s -arch=%s unit-targets.ptx -o unit-targets.cubin", TF_PTXAS, target);
  faults += system(command) != 0;
  remove("unit-targets.ptx");
  remove("unit-targets.cubin");
#else
  (void)ptx, (void)target;
#endif
}

/* Whether some message says what the target would have to be. */
static bool is_refusal(const tf_context *context) {
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++)
    if (strstr(tf_context_diagnostic(context, i)->message, "needs sm_")) return true;
  return false;
}

/* Whether the part is there on the target. */
static bool emits(unsigned part, unsigned target) {
  tf_context *context = NULL;
  const tf_module *module = NULL;
  const char *ptx = NULL;
  tf_lower_options options = TF_LOWER_OPTIONS_INIT;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  tf_status status = tf_parse(context, "part", parts[part], strlen(parts[part]), NULL, &module);
  options.target = tf_target_get(context, targets[target]);
  options.opt_level = 1;
  if (status == TF_OK) status = tf_emit_ptx(module, &options, &ptx);
  const char *said = tf_context_diagnostic_count(context) ? tf_context_diagnostic(context, 0)->message : "";
  if (status != TF_OK && !(status != TF_PARSE && is_refusal(context))) {
    fprintf(stderr, "%s: %s\n%s\n", targets[target], said, parts[part]);
    faults++;
  }
  if (status == TF_OK) {
    char line[32];
    snprintf(line, sizeof line, ".target %s", targets[target]);
    ck_assert_ptr_nonnull(strstr(ptx, line));
    if (part % (TARGETS + 1) == target) assemble(ptx, targets[target]);
  }
  tf_context_destroy(context);
  return status == TF_OK;
}

START_TEST(every_op_for_every_target) {
  for (unsigned part = 0; part < part_count; part++) {
    unsigned there = 0;
    for (unsigned target = 0; target < TARGETS; target++)
      there += emits(part, target);
    if (there == 0) fprintf(stderr, "on no target:\n%s\n", parts[part]);
    faults += there == 0;
  }
  ck_assert_uint_eq(faults, 0);
}
END_TEST

int main(void) {
  make_corpus();
  Suite *suite = suite_create("targets");
  TCase *tests = tcase_create("targets");
  tcase_set_timeout(tests, 0);
  tcase_add_test(tests, corpus_is_complete);
  tcase_add_test(tests, every_op_for_every_target);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  for (unsigned i = 0; i < part_count; i++)
    free(parts[i]);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
