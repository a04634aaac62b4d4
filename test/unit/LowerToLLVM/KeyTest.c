/* What the key of an executable depends on: every option and every part of a module that reaches an output, and nothing else. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/TileFoundry.h>

#include "Harness.h"
#include "LowerToLLVM/Key.h"
#include "LowerToLLVM/BuildId.h"
#include "Support/Context.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  ck_assert_uint_eq(tf_context_diagnostic_count(context), 0); /* keys are made in silence */
  tf_context_destroy(context);
}

/* The key's bytes; null if the module has none. */
static tf_string *key_of(const tf_module *module, const tf_lower_options *lower, bool host_code) {
  tf_executable_options options = TF_EXECUTABLE_OPTIONS_INIT;
  options.host_code = host_code;
  tf_string *out = TF_ARENA_NEW(&context->arena, tf_string);
  tf_string_init(out, &context->arena);
  return tf_executable_key(module, lower, &options, out) ? out : NULL;
}

static bool are_equal(const tf_string *a, const tf_string *b) {
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static const tf_module *parse(const char *name, const char *text) {
  const tf_module *module;
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  ck_assert_msg(tf_parse(context, name, text, strlen(text), &options, &module) == TF_OK, "%s", text);
  return module;
}

/* In a context of its own, as another process would make it. */
static tf_string *key_of_text(const char *name, const char *text) {
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  tf_context *outer = context;
  setup();
  const tf_string *key = key_of(parse(name, text), &lower, true);
  ck_assert_ptr_nonnull(key);
  tf_string *copy = TF_ARENA_NEW(&outer->arena, tf_string);
  tf_string_init(copy, &outer->arena);
  tf_string_append(copy, key->text, key->length);
  teardown();
  context = outer;
  return copy;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static void ignore_text(void *user, const char *pass, const char *text) {
  (void)user, (void)pass, (void)text;
}

static void ignore_time(void *user, const char *pass, double seconds) {
  (void)user, (void)pass, (void)seconds;
}

/* Every field with another value than INIT's. Without designators, so that a new field is a warning here, and warnings are
 * errors: give it a value, and a row below. */
static tf_lower_options others(void) {
  static int user;
  return (tf_lower_options){sizeof(tf_lower_options),
                            tf_target_get(context, "sm_90"),
                            "f",
                            85,
                            1,
                            true,
                            true,
                            true,
                            true,
                            true,
                            true,
                            true,
                            true,
                            "all",
                            ignore_text,
                            ignore_time,
                            &user};
}

typedef enum effect { ANOTHER, SAME, NONE } effect; /* of the field: another key, the same one, no key */

static const struct {
  const char *name;
  size_t offset, size;
  effect effect;
} fields[] = {
#define ROW(FIELD, EFFECT)                                                                                             \
  { #FIELD, offsetof(tf_lower_options, FIELD), sizeof(((tf_lower_options *)0)->FIELD), EFFECT }
    ROW(size, SAME), /* has only one value */
    ROW(target, ANOTHER),
    ROW(entry, ANOTHER),
    ROW(ptx_version, ANOTHER),
    ROW(opt_level, ANOTHER),
    ROW(debug_lines, ANOTHER),
    ROW(contract, ANOTHER),
    ROW(flush_denormals, ANOTHER),
    ROW(fast_math, ANOTHER),
    ROW(check_div, ANOTHER),
    ROW(check_bounds, ANOTHER),
    ROW(host_abort_traps, ANOTHER),
    ROW(linear_launches, ANOTHER),
    ROW(print_after, NONE),
    ROW(print, SAME),
    ROW(time, SAME),
    ROW(user, SAME),
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static const char add[] =
    "@prim_func(target=CudaTarget('sm_80'))\n"
    "def f(x: Tensor[(32,), 'f32'], y: Tensor[(32,), 'f32']):\n"
    "    with Mesh((Topology('cta', 1), Topology('thread', 32)), Layout((1, 32)), ('c', 't')) as m:\n"
    "        t = T.coord(m.t)\n"
    "        T.store(y, T.load(x, t) + 1.5, t)\n";

/* Rows lie one behind another; between them is room for alignment only. */
START_TEST(fields_are_complete) {
  size_t end = 0;
  for (size_t i = 0; i < FIELD_COUNT; i++) {
    ck_assert_uint_ge(fields[i].offset, end);
    ck_assert_uint_lt(fields[i].offset - end, fields[i].size);
    end = fields[i].offset + fields[i].size;
  }
  ck_assert_uint_lt(sizeof(tf_lower_options) - end, sizeof(void *));
}
END_TEST

START_TEST(fields_in_the_key) {
  const tf_module *module = parse("add.tir", add);
  tf_lower_options init = TF_LOWER_OPTIONS_INIT, other = others();
  const tf_string *usual = key_of(module, &init, true), *seen[FIELD_COUNT + 2] = {usual};
  size_t count = 1;
  for (size_t i = 0; i < FIELD_COUNT; i++) {
    tf_lower_options changed = TF_LOWER_OPTIONS_INIT;
    memcpy((char *)&changed + fields[i].offset, (char *)&other + fields[i].offset, fields[i].size);
    const tf_string *key = key_of(module, &changed, true);
    ck_assert_msg((key == NULL) == (fields[i].effect == NONE), "%s", fields[i].name);
    if (fields[i].effect == SAME) ck_assert_msg(are_equal(key, usual), "%s changes the key", fields[i].name);
    if (fields[i].effect == ANOTHER) seen[count++] = key;
  }
  seen[count++] = key_of(module, &init, false);
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++)
      ck_assert_msg(!are_equal(seen[i], seen[k]), "options %zu and %zu have one key", i, k);
}
END_TEST

/* "" is an entry's name, and so is "-". */
START_TEST(entries_and_nothing) {
  const tf_module *module = parse("add.tir", add);
  const char *names[] = {NULL, "", "-", "0:"};
  tf_string *keys[4];
  for (int i = 0; i < 4; i++) {
    tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
    lower.entry = names[i];
    keys[i] = key_of(module, &lower, true);
    for (int k = 0; k < i; k++)
      ck_assert(!are_equal(keys[i], keys[k]));
  }
}
END_TEST

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* The text with the first `from` replaced. */
static char *edit(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  ck_assert_msg(at != NULL, "no '%s'", from);
  return tf_arena_printf(&context->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static const char program[] =
    "N = DimVar('N', 1, 1000)\n"
    "K = 3\n"
    "@intrinsic(ptx='nanosleep.u32 {time};')\n"
    "def pause(time: Expr) -> None:\n"
    "    assert time < 100, 'too long'\n"
    "@module(entry='main')\n"
    "class Program:\n"
    "    @prim_func(target=CudaTarget('sm_80'))\n"
    "    def grow(x: Tensor[(N,), 'i32'], by: Tensor[(), 'i32']):\n"
    "        with Mesh((Topology('cta', 1), Topology('thread', 32)), Layout((1, 32)), ('c', 't')) as mesh:\n"
    "            first = T.coord(mesh.t)\n"
    "            for step in range(first, N, 32):\n"
    "                if by > 100:\n"
    "                    T.abort('too much')\n"
    "                pause(DType.u32(20))\n"
    "                T.store(x, T.load(x, step) + by * K, step)\n"
    "    @prim_func(target=CpuTarget())\n"
    "    def main(x: Tensor[(N,), 'i32'], by: Tensor[(), 'i32']):\n"
    "        grow(x, by)\n";

/* What no output can tell from the original, and what some output tells. */
static const struct {
  const char *from, *to;
  effect effect;
} edits[] = {
    {"\n    @prim_func(target=CpuTarget())", "  # a remark\n    @prim_func(target=CpuTarget())", SAME},
    {"K = 3", "K = 2 + 1", SAME},
    {"'too much'", "\"too much\"", SAME},
    {"T.load(x, step) + by", "T.load(x,  step)  +  by", ANOTHER}, /* lengths are places, too */
    {"K = 3", "K = 4", ANOTHER},
    {"K = 3\n", "K = 3\n\n", ANOTHER},
    {"            for step", "\n            for step", ANOTHER},
    {"    def main(", "    def other(", ANOTHER},
    {"1000)", "1001)", ANOTHER},
    {"{time};", "{time}; ", ANOTHER},
    {"too much", "far too much", ANOTHER},
    {"sm_80", "sm_90", ANOTHER},
    {"first = ", "begin = ", NONE}, /* and at its use, below */
    {"class Program", "class Another", ANOTHER},
    {"DType.u32(20)", "DType.u32(21)", ANOTHER},
};

START_TEST(edits_in_the_key) {
  const tf_string *original = key_of_text("program.tir", program);
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    char *text = edit(program, edits[i].from, edits[i].to);
    if (edits[i].effect == NONE) text = edit(text, "range(first", "range(begin");
    if (strstr(edits[i].from, "main(")) text = edit(text, "entry='main'", "entry='other'");
    ck_assert_msg(are_equal(key_of_text("program.tir", text), original) == (edits[i].effect == SAME), "%s -> %s",
                  edits[i].from, edits[i].to);
  }
}
END_TEST

/* Files are numbers in a context; their names are in the key. */
START_TEST(files_in_the_key) {
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  const tf_string *original = key_of_text("program.tir", program);
  ck_assert(!are_equal(key_of_text("folder/program.tir", program), original));
  tf_context_add_source(context, "something else", "", 0);
  for (int i = 0; i < 2; i++)
    ck_assert(are_equal(key_of(parse("program.tir", program), &lower, true), original));
}
END_TEST

/* A static that -D overrides is in the module. */
START_TEST(defines_in_the_key) {
  const tf_module *module;
  tf_define define = {"K", "5"};
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  options.define_count = 1;
  options.defines = &define;
  ck_assert_int_eq(tf_parse(context, "program.tir", program, strlen(program), &options, &module), TF_OK);
  ck_assert(!are_equal(key_of(module, &lower, true), key_of_text("program.tir", program)));
}
END_TEST

/* ---- Modules that C builds --------------------------------------------------------------------------------------- */

static tf_status lower_nothing(void *user, const tf_intrinsic_lowering *at) {
  (void)user, (void)at;
  return TF_OK;
}

/* A kernel that uses one intrinsic, with a variable and a parameter of the given names. */
static const tf_module *build(const char *ptx, tf_intrinsic_lower_fn lower, const char *var, const char *param) {
  tf_builder *b;
  const tf_module *module;
  const tf_intrinsic *pause;
  tf_intrinsic_options options = TF_INTRINSIC_OPTIONS_INIT;
  options.name = "pause";
  options.param_count = 1;
  options.params = (const char *const[]){"time"};
  options.ptx = ptx;
  options.lower = lower;
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &pause), TF_OK);
  ck_assert_int_eq(tf_builder_create(context, &b), TF_OK);
  tf_function_options function = TF_FUNCTION_OPTIONS_INIT;
  function.target = tf_target_get(context, "sm_80");
  function.output_count = 0;
  const tf_dim *extent = tf_dim_int(context, 32);
  const tf_topology levels[] = {{TF_LEVEL_CTA, tf_dim_int(context, 1)}, {TF_LEVEL_THREAD, extent}};
  const tf_layout *line = tf_layout_plain(context, tf_tuple_ints(context, 1, (const int64_t[]){32}), NULL);
  tf_builder_begin_module(b, NULL, NULL);
  tf_builder_begin_function(b, "wait", &function);
  tf_builder_param(b, param, tf_type_tensor(context, 1, &extent, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM), false);
  tf_builder_begin_mesh(b, var, tf_mesh_get(context, 2, levels, line, 0, NULL));
  const tf_expr *time = tf_builder_int(b, TF_DTYPE_U32, 250);
  tf_builder_intrinsic(b, pause, 1, &time);
  tf_builder_end(b);
  tf_builder_end(b);
  ck_assert_int_eq(tf_builder_finish(b, &module), TF_OK);
  tf_builder_destroy(b);
  return module;
}

/* Beside a parameter x, text numbers a variable x: it prints as one that is called x_1. Messages tell them apart. */
START_TEST(built_modules) {
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  tf_string *original = key_of(build("nanosleep.u32 {time};", NULL, "m", "x"), &lower, true);
  ck_assert_ptr_nonnull(original);
  ck_assert(are_equal(key_of(build("nanosleep.u32 {time};", NULL, "m", "x"), &lower, true), original));
  ck_assert(!are_equal(key_of(build("nanosleep.u32  {time};", NULL, "m", "x"), &lower, true), original));
  ck_assert(!are_equal(key_of(build(NULL, NULL, "m", "x"), &lower, true), original));
  ck_assert(!are_equal(key_of(build("nanosleep.u32 {time};", NULL, "m", "y"), &lower, true), original));
  const tf_string *bound = key_of(build("nanosleep.u32 {time};", NULL, "x_1", "x"), &lower, true);
  ck_assert(!are_equal(key_of(build("nanosleep.u32 {time};", NULL, "x", "x"), &lower, true), bound));
}
END_TEST

/* Code of a callback may change from run to run; a name that text cannot say has no canonical text. */
START_TEST(no_key) {
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  ck_assert_ptr_null(key_of(build(NULL, lower_nothing, "m", "x"), &lower, true));
  ck_assert_ptr_null(key_of(build(NULL, NULL, "m", "no name"), &lower, true));
}
END_TEST

/* ---- Builds ------------------------------------------------------------------------------------------------------ */

START_TEST(builds_in_the_key) {
  static const int constant = 1;
  char id[TF_BUILD_ID_TEXT], line[TF_BUILD_ID_TEXT + 32];
  const tf_string *key = key_of_text("add.tir", add);
  ck_assert(tf_build_id(&constant, id));
  snprintf(line, sizeof line, "\nbuild %zu:%s\n", strlen(id), id);
  ck_assert_msg(strstr(key->text, line) != NULL, "%s", key->text);
  ck_assert(strstr(key->text, "\nllvm_build ") && strstr(key->text, "\ntilefoundry " TF_VERSION "\n") &&
            strstr(key->text, "\nllvm " LLVM_VERSION "\n") && strstr(key->text, "\nhost "));
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("key");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, fields_are_complete);
  tcase_add_test(tests, fields_in_the_key);
  tcase_add_test(tests, entries_and_nothing);
  tcase_add_test(tests, edits_in_the_key);
  tcase_add_test(tests, files_in_the_key);
  tcase_add_test(tests, defines_in_the_key);
  tcase_add_test(tests, built_modules);
  tcase_add_test(tests, no_key);
  tcase_add_test(tests, builds_in_the_key);
  return run_case("executable-key", tests);
}
