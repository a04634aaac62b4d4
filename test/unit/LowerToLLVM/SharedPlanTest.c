/* The shared-memory plan. Every case is a kernel of which a person can say whether two tiles may share bytes: what would go
 * wrong if they did is written beside it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Text.h>
#include <tilefoundry/Verify.h>

#include "Harness.h"
#include "IR/Target.h"
#include "LowerToLLVM/SharedPlan.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static void print_diagnostics(void) {
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++)
    fprintf(stderr, "%s", tf_diagnostic_render(context, tf_context_diagnostic(context, i)));
}

static tf_shared_plan *plan_of(const char *text) {
  const tf_module *module = NULL;
  const tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  const tf_verify_options verify = TF_VERIFY_OPTIONS_INIT;
  tf_status status = tf_parse(context, "case.tir", text, strlen(text), &parse, &module);
  if (status == TF_OK) status = tf_verify(module, &verify);
  if (status != TF_OK) print_diagnostics();
  ck_assert_int_eq(status, TF_OK);
  const tf_kernel *kernel = tf_kernel_of(module, tf_module_find(module, "kernel"));
  ck_assert_ptr_nonnull(kernel);
  tf_shared_plan *plan = tf_shared_plan_create(module, kernel);
  return plan;
}

static const tf_shared_buffer *buffer_named(const tf_shared_plan *plan, const char *name, unsigned which) {
  for (size_t i = 0; i < plan->buffers.count; i++)
    if (strcmp(plan->buffers.items[i].name, name) == 0 && which-- == 0) return &plan->buffers.items[i];
  ck_abort_msg("no buffer %s", name);
  return NULL;
}

static bool overlap(const tf_shared_buffer *a, const tf_shared_buffer *b) {
  return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* A kernel of 64 threads around the body; v are registers, x and y global memory, read and write move a whole tile. */
#define MESH                                                                                                           \
  "    with Mesh((Topology(\"thread\", 64),), Layout(shape=(2, 32), strides=(32, 1)), (\"w\", \"l\")) as m:\n"
#define KERNEL                                                                                                         \
  "@prim_func(target=CudaTarget(\"sm_90\"))\n"                                                                         \
  "def kernel(n: Tensor[(), \"i32\"], x: Tensor[(64,), \"f32\"], y: Tensor[(64,), \"f32\"]) -> None:\n" MESH           \
  "        t = T.coord(m.w) * 32 + T.coord(m.l)\n"
#define READS                                                                                                          \
  "@prim_func(target=CudaTarget(\"sm_90\"))\n"                                                                         \
  "def read(s: Tensor[(64,), \"f32\", smem], y: Tensor[(64,), \"f32\"]) -> None:\n" MESH                               \
  "        T.store(y, T.load(s, T.coord(m.w) * 32 + T.coord(m.l)), T.coord(m.w) * 32 + T.coord(m.l))\n"
#define ROUND_TRIP                                                                                                     \
  "@prim_func(target=CudaTarget(\"sm_90\"))\n"                                                                         \
  "def round_trip(x: Tensor[(64,), \"f32\"], y: Tensor[(64,), \"f32\"]) -> None:\n" MESH                               \
  "        inner = T.alloc_tensor(TensorType(shape=(64,), dtype=DType.f32, storage=smem))\n"                           \
  "        T.store(inner, T.load(x, T.coord(m.w) * 32 + T.coord(m.l)), T.coord(m.w) * 32 + T.coord(m.l))\n"            \
  "        T.sync(m)\n"                                                                                                \
  "        T.store(y, T.load(inner, 63 - T.coord(m.w) * 32 - T.coord(m.l)), T.coord(m.w) * 32 + T.coord(m.l))\n"

/* The kernel, with the functions that its body calls. */
static const char *kernel_with(const char *body) {
  static char text[16384];
  int length = snprintf(text, sizeof text, "from tilefoundry import *\n%s%s%s%s", strstr(body, " read(") ? READS : "",
                        strstr(body, "round_trip(") ? ROUND_TRIP : "", KERNEL, body);
  ck_assert_int_lt(length, (int)sizeof text);
  return text;
}

#define TILE(indent, name)  indent name " = T.alloc_tensor(TensorType(shape=(64,), dtype=DType.f32, storage=smem))\n"
#define WRITE(indent, name) indent "T.store(" name ", T.load(x, t), t)\n"
#define READ(indent, name)  indent "T.store(y, T.load(" name ", 63 - t), t)\n"
#define SYNC(indent)        indent "T.sync(m)\n"
#define ASYNC(indent, name)                                                                                            \
  indent "T.copy_async(T.tensor_view(x, layout=T.spread(m, (64,), 1)), T.tensor_view(" name                            \
         ", layout=T.spread(m, (64,), 1)))\n"
#define I1 "        "
#define I2 I1 "    "
#define I3 I2 "    "

typedef struct sharing_case {
  const char *what;
  const char *body;
  bool shares;
} sharing_case;

static const sharing_case sharing_cases[] = {
    {"one after the other",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) READ(I1, "a") SYNC(I1) WRITE(I1, "b") SYNC(I1) READ(I1, "b"),
     true},
    {"b is written while a is still read",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) READ(I1, "a") WRITE(I1, "b") SYNC(I1) READ(I1, "b"), false},
    {"a is read again after b",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) READ(I1, "a") SYNC(I1) WRITE(I1, "b") SYNC(I1) READ(I1, "b")
         SYNC(I1) READ(I1, "a"),
     false},
    {"only half of the block meets in between",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) READ(I1, "a") I1 "T.sync(m[0:1, :])\n" WRITE(I1, "b") SYNC(I1)
         READ(I1, "b"),
     false},
    {"bound in a loop, barriers everywhere",
     I1 "for i in range(n):\n" TILE(I2, "a") TILE(I2, "b") WRITE(I2, "a") SYNC(I2) READ(I2, "a") SYNC(I2) WRITE(I2, "b")
         SYNC(I2) READ(I2, "b") SYNC(I2),
     true},
    {"the back edge lacks a barrier: a of the next round meets b of this one",
     I1 "for i in range(n):\n" TILE(I2, "a") TILE(I2, "b") WRITE(I2, "a") SYNC(I2) READ(I2, "a") SYNC(I2) WRITE(I2, "b")
         SYNC(I2) READ(I2, "b"),
     false},
    {"bound outside of the loop: a may hold a value from round to round",
     TILE(I1, "a") TILE(I1, "b") I1 "for i in range(n):\n" WRITE(I2, "a") SYNC(I2) READ(I2, "a") SYNC(I2) WRITE(I2, "b")
         SYNC(I2) READ(I2, "b") SYNC(I2),
     false},
    {"the loop may run no time, so its barrier is none",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) READ(I1, "a") I1 "for i in range(n):\n" SYNC(I2) WRITE(I1, "b")
         SYNC(I1) READ(I1, "b"),
     false},
    {"barrier in one branch only",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) READ(I1, "a") I1 "if n > 3:\n" SYNC(I2) WRITE(I1, "b") SYNC(I1)
         READ(I1, "b"),
     false},
    {"barrier in the other branch only",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) READ(I1, "a") I1
     "if n > 3:\n" I2 "pass\n" I1 "else:\n" SYNC(I2) WRITE(I1, "b") SYNC(I1) READ(I1, "b"),
     false},
    {"barriers in both branches",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) READ(I1, "a") I1 "if n > 3:\n" SYNC(I2) I1 "else:\n" SYNC(I2)
         WRITE(I1, "b") SYNC(I1) READ(I1, "b"),
     true},
    {"two sides of a condition that threads decide differently",
     TILE(I1, "a") TILE(I1, "b") I1 "if T.coord(m.w) == 0:\n" WRITE(I2, "a") I1 "else:\n" WRITE(I2, "b"), false},
    {"some threads return, the others go on to b",
     TILE(I1, "a") TILE(I1, "b") I1 "if T.coord(m.w) == 0:\n" WRITE(I2, "a") I2 "return\n" WRITE(I1, "b"), false},
    {"an asynchronous copy into a is still on its way",
     TILE(I1, "a") TILE(I1, "b") ASYNC(I1, "a") I1 "T.cp_async_commit()\n" SYNC(I1) WRITE(I1, "b") SYNC(I1)
         READ(I1, "b"),
     false},
    {"the wait allows a group in flight",
     TILE(I1, "a") TILE(I1, "b") ASYNC(I1, "a") I1 "T.cp_async_commit()\n" I1 "T.cp_async_wait(1)\n" SYNC(I1)
         WRITE(I1, "b") SYNC(I1) READ(I1, "b"),
     false},
    {"the copy is in no group when the wait comes",
     TILE(I1, "a") TILE(I1, "b") ASYNC(I1, "a") I1 "T.cp_async_wait(0)\n" SYNC(I1) WRITE(I1, "b") SYNC(I1)
         READ(I1, "b"),
     false},
    {"the barrier comes before the wait",
     TILE(I1, "a") TILE(I1, "b") ASYNC(I1, "a") I1 "T.cp_async_commit()\n" SYNC(I1) I1
     "T.cp_async_wait(0)\n" WRITE(I1, "b") SYNC(I1) READ(I1, "b"),
     false},
    {"waited for, then a barrier",
     TILE(I1, "a") TILE(I1, "b") ASYNC(I1, "a") I1 "T.cp_async_commit()\n" I1 "T.cp_async_wait(0)\n" SYNC(I1)
         WRITE(I1, "b") SYNC(I1) READ(I1, "b"),
     true},
    {"the callee reads a through its parameter",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) WRITE(I1, "b") SYNC(I1) READ(I1, "b") I1 "read(a, y)\n",
     false},
    {"the callee reads a, then a barrier",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) I1 "read(a, y)\n" SYNC(I1) WRITE(I1, "b") SYNC(I1)
         READ(I1, "b"),
     true},
    {"a view of a is read after b",
     TILE(I1, "a") TILE(I1, "b") I1 "v = T.tensor_view(a, 1, shape=(63,))\n" WRITE(I1, "a") SYNC(I1) WRITE(I1, "b")
         SYNC(I1) I1 "if t < 63:\n" I2 "T.store(y, T.load(v, t), t)\n",
     false},
    {"the condition of a loop reads a each round",
     TILE(I1, "a") TILE(I1, "b") WRITE(I1, "a") SYNC(I1) I1 "while T.load(a, 0) > 0.0:\n" WRITE(I2, "a") WRITE(I1, "b"),
     false},
};

START_TEST(test_sharing) {
  const sharing_case *it = &sharing_cases[_i];
  const tf_shared_plan *plan = plan_of(kernel_with(it->body));
  ck_assert_msg(overlap(buffer_named(plan, "a", 0), buffer_named(plan, "b", 0)) == it->shares, "%s: offsets %lld, %lld",
                it->what, (long long)buffer_named(plan, "a", 0)->offset, (long long)buffer_named(plan, "b", 0)->offset);
  ck_assert_int_eq(plan->bytes, it->shares ? 256 : 512);
}
END_TEST

/* Each inlined copy of a callee has a buffer of its own; a barrier between the calls lets the second reuse the first's. */
START_TEST(test_inlined_copies) {
  const tf_shared_plan *apart = plan_of(kernel_with(I1 "round_trip(x, y)\n" I1 "round_trip(y, x)\n"));
  ck_assert_uint_eq(apart->buffers.count, 2);
  ck_assert(!overlap(buffer_named(apart, "inner", 0), buffer_named(apart, "inner", 1)));
  const tf_shared_plan *together = plan_of(kernel_with(I1 "round_trip(x, y)\n" SYNC(I1) I1 "round_trip(y, x)\n"));
  ck_assert(overlap(buffer_named(together, "inner", 0), buffer_named(together, "inner", 1)));
  for (size_t i = 0; i < 2; i++) {
    const tf_shared_buffer *buffer = &together->buffers.items[i];
    ck_assert_int_eq(tf_shared_plan_offset(together, buffer->path, buffer->var), buffer->offset);
  }
}
END_TEST

/* Three buffers: the third fits where the first was, beside the second that it lives with. */
START_TEST(test_first_fit) {
  const tf_shared_plan *plan = plan_of(kernel_with(
      TILE(I1, "a") I1 "b = T.alloc_tensor(TensorType(shape=(3, 33), dtype=\"f16\", storage=smem))\n" TILE(I1, "c")
          WRITE(I1, "a") I1 "T.store(b, 1.0, 0, 0)\n" SYNC(I1) READ(I1, "a") SYNC(I1) WRITE(I1, "c") I1
      "if T.load(b, 0, 0) > 0.0:\n" I2 "T.store(y, 0.0, 0)\n" READ(I1, "c")));
  ck_assert_int_eq(buffer_named(plan, "a", 0)->offset, 0);
  ck_assert_int_eq(buffer_named(plan, "b", 0)->offset, 256);
  ck_assert_int_eq(buffer_named(plan, "b", 0)->bytes, 3 * 33 * 2);
  ck_assert_int_eq(buffer_named(plan, "c", 0)->offset, 0);
  ck_assert_int_eq(plan->bytes, 256 + 198);
}
END_TEST

/* Storage under layouts: padding counts, swizzles fill whole blocks. */
START_TEST(test_sizes) {
  static const struct {
    const char *type;
    int64_t bytes;
  } cases[] = {
      {"TensorType(shape=(5, 7), dtype=\"bf16\", storage=smem)", 70},
      {"TensorType(shape=(16, 32), dtype=\"f32\", layout=Layout(shape=(16, 32), strides=(36, 1)), storage=smem)",
       4 * (15 * 36 + 32)},
      {"TensorType(shape=(8, 8), dtype=\"i8\", layout=Layout(shape=(8, 8), strides=(1, 8)), storage=smem)", 64},
      {"TensorType(shape=(5, 32), dtype=\"f16\", layout=ComposedLayout(Swizzle(2, 3, 3), 0, Layout(shape=(5, 32), "
       "strides=(32, 1))), storage=smem)",
       2 * 160},
      {"TensorType(shape=(1, 24), dtype=\"f16\", layout=ComposedLayout(Swizzle(2, 3, 3), 0, Layout(shape=(1, 24), "
       "strides=(24, 1))), storage=smem)",
       2 * 32},
  };
  char body[512];
  snprintf(body, sizeof body, I1 "a = T.alloc_tensor(%s)\n" I1 "T.fill(a, 0)\n", cases[_i].type);
  const tf_shared_plan *plan = plan_of(kernel_with(body));
  ck_assert_int_eq(buffer_named(plan, "a", 0)->bytes, cases[_i].bytes);
}
END_TEST

/* Exactly 48 KiB are static, one byte more is dynamic; the target's limit is exact too, and names every buffer. */
START_TEST(test_limits) {
  static const struct {
    int bytes;
    const char *target;
    bool dynamic;
    tf_status status;
  } cases[] = {{49152, "sm_80", false, TF_OK}, {49153, "sm_80", true, TF_OK},
               {65536, "sm_75", true, TF_OK},  {65537, "sm_75", true, TF_UNSUPPORTED},
               {166912, "sm_80", true, TF_OK}, {166913, "sm_80", true, TF_UNSUPPORTED},
               {232448, "sm_90", true, TF_OK}, {232449, "sm_90", true, TF_UNSUPPORTED}};
  char body[512];
  snprintf(body, sizeof body,
           I1 "a = T.alloc_tensor(TensorType(shape=(%d,), dtype=\"u8\", storage=smem))\n" I1
              "b = T.alloc_tensor(TensorType(shape=(1024,), dtype=\"u8\", storage=smem))\n" I1 "T.store(b, 1, t)\n" I1
              "T.store(a, 1, t)\n",
           cases[_i].bytes - 1024);
  tf_shared_plan *plan = plan_of(kernel_with(body));
  size_t before = tf_context_diagnostic_count(context);
  /* The second buffer starts at a multiple of 16: leave that out by giving the odd byte to the last one. */
  plan->bytes = cases[_i].bytes;
  ck_assert_int_eq(tf_shared_plan_finish(plan, tf_target_get(context, cases[_i].target)), cases[_i].status);
  ck_assert_int_eq(plan->dynamic, cases[_i].dynamic);
  ck_assert_uint_eq(tf_context_diagnostic_count(context) - before, cases[_i].status == TF_OK ? 0 : 3);
}
END_TEST

/* Scratch: one piece per statement and inlined copy, at its alignment, never on top of another buffer. */
START_TEST(test_scratch) {
  tf_shared_plan *plan = plan_of(kernel_with(
      TILE(I1, "a") I1 "b = T.alloc_tensor(TensorType(shape=(3,), dtype=\"u8\", storage=smem))\n" WRITE(I1, "a") I1
      "T.store(b, 1, 0)\n"));
  const tf_stmt *body = plan->function->function.body;
  int64_t first = tf_shared_plan_scratch(plan, NULL, body, 40, 128);
  int64_t second = tf_shared_plan_scratch(plan, NULL, plan->function, 8, 8);
  ck_assert_int_eq(first, 384); /* 256 + 3, rounded up to 128 */
  ck_assert_int_eq(second, 424);
  ck_assert_int_eq(tf_shared_plan_scratch(plan, NULL, body, 40, 128), first);
  ck_assert_int_eq(plan->bytes, 432);
  ck_assert_int_eq(plan->alignment, 128);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("plan");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, test_sharing, 0, (int)(sizeof sharing_cases / sizeof *sharing_cases));
  tcase_add_test(tcase, test_inlined_copies);
  tcase_add_test(tcase, test_first_fit);
  tcase_add_loop_test(tcase, test_sizes, 0, 5);
  tcase_add_loop_test(tcase, test_limits, 0, 8);
  tcase_add_test(tcase, test_scratch);
  return run_case("shared plan", tcase);
}
