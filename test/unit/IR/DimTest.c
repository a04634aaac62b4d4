/* Dims against direct evaluation: random expression trees are evaluated by walking the tree in 128-bit arithmetic and
 * compared with the value, range, divisor and text of the normal form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Type.h>

#include "Harness.h"
#include "QuietCheck.h"
#include "Random.h"

__extension__ typedef __int128 wide;

enum { VARS = 4, NODES = 24 };
static const char *const names[VARS] = {"K", "M", "N", "S"};
static const int64_t lows[VARS] = {1, 0, 3, 1}, highs[VARS] = {40, 25, 17, 1000};

static tf_context *context;
static const tf_dim *vars[VARS];

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  for (int i = 0; i < VARS; i++)
    ck_assert_int_eq(tf_dim_var(context, names[i], lows[i], highs[i], &vars[i]), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static const tf_dim *num(int64_t value) {
  return tf_dim_int(context, value);
}

static const tf_dim *op(tf_dim_op kind, const tf_dim *a, const tf_dim *b) {
  return tf_dim_binary(context, kind, a, b);
}

/* ---- The model: a tree in an array, children before parents ---- */
typedef struct node {
  int kind; /* -1: a number, -2: a variable, else a tf_dim_op */
  int64_t value;
  int a, b;
} node;

static wide floor_div(wide a, wide b) {
  wide q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/* The value of tree[i], or false where Python would raise. */
static bool model(const node *tree, int i, const int64_t *values, wide *out) {
  wide a, b;
  if (tree[i].kind == -1 || tree[i].kind == -2) {
    *out = tree[i].kind == -1 ? tree[i].value : values[tree[i].value];
    return true;
  }
  if (!model(tree, tree[i].a, values, &a) || !model(tree, tree[i].b, values, &b)) return false;
  switch ((tf_dim_op)tree[i].kind) {
  case TF_DIM_ADD:
    *out = a + b;
    return true;
  case TF_DIM_SUB:
    *out = a - b;
    return true;
  case TF_DIM_MUL:
    *out = a * b;
    return true;
  case TF_DIM_MIN:
    *out = a < b ? a : b;
    return true;
  case TF_DIM_MAX:
    *out = a > b ? a : b;
    return true;
  case TF_DIM_FLOOR_DIV:
  case TF_DIM_CEIL_DIV:
  case TF_DIM_MOD:
    if (b == 0) return false;
    *out = tree[i].kind == TF_DIM_MOD        ? a - b * floor_div(a, b)
           : tree[i].kind == TF_DIM_CEIL_DIV ? -floor_div(-a, b)
                                             : floor_div(a, b);
    return true;
  }
  return false;
}

static int random_tree(uint64_t *seed, node *tree) {
  int count = 3 + (int)random_below(seed, NODES - 3);
  static const int64_t constants[] = {0, 1, 2, 3, 4, 8, 12, 31, 32, 127, 128, -1, -2, -5};
  for (int i = 0; i < count; i++) {
    bool leaf = i < 2 || random_below(seed, 3) == 0;
    tree[i].kind = leaf ? (random_below(seed, 2) ? -1 : -2) : (int)random_below(seed, 8);
    if (leaf) {
      tree[i].value = tree[i].kind == -1 ? constants[random_below(seed, 14)] : (int64_t)random_below(seed, VARS);
      continue;
    }
    tree[i].a = (int)random_below(seed, (uint64_t)i);
    tree[i].b = random_below(seed, 2) ? i - 1 : (int)random_below(seed, (uint64_t)i);
  }
  tree[count - 1].kind = tree[count - 1].kind < 0 ? TF_DIM_ADD : tree[count - 1].kind;
  tree[count - 1].a = count - 2;
  tree[count - 1].b = count - 3;
  return count;
}

static const tf_dim *build(const node *tree, int i) {
  if (tree[i].kind == -1) return num(tree[i].value);
  if (tree[i].kind == -2) return vars[tree[i].value];
  return op((tf_dim_op)tree[i].kind, build(tree, tree[i].a), build(tree, tree[i].b));
}

/* ---- A reader of Python's arithmetic ---- */
static const tf_dim *read_sum(const char **text);

static bool accept(const char **text, const char *token) {
  while (**text == ' ')
    (*text)++;
  if (strncmp(*text, token, strlen(token)) != 0) return false;
  *text += strlen(token);
  return true;
}

static const tf_dim *read_call(const char **text, tf_dim_op kind) {
  const tf_dim *a = read_sum(text);
  ck_assert(accept(text, ","));
  const tf_dim *b = read_sum(text);
  ck_assert(accept(text, ")"));
  return op(kind, a, b);
}

static const tf_dim *read_atom(const char **text) {
  if (accept(text, "-")) return op(TF_DIM_SUB, num(0), read_atom(text));
  if (accept(text, "ceildiv(")) return read_call(text, TF_DIM_CEIL_DIV);
  if (accept(text, "dim_min(")) return read_call(text, TF_DIM_MIN);
  if (accept(text, "dim_max(")) return read_call(text, TF_DIM_MAX);
  if (accept(text, "(")) {
    const tf_dim *inner = read_sum(text);
    ck_assert(accept(text, ")"));
    return inner;
  }
  for (int i = 0; i < VARS; i++)
    if (accept(text, names[i])) return vars[i];
  char *end;
  int64_t value = strtoll(*text, &end, 10);
  ck_assert_msg(end != *text, "cannot read '%s'", *text);
  *text = end;
  return num(value);
}

static const tf_dim *read_product(const char **text) {
  const tf_dim *left = read_atom(text);
  for (;;) {
    if (accept(text, "//")) {
      left = op(TF_DIM_FLOOR_DIV, left, read_atom(text));
    } else if (accept(text, "*")) {
      left = op(TF_DIM_MUL, left, read_atom(text));
    } else if (accept(text, "%")) {
      left = op(TF_DIM_MOD, left, read_atom(text));
    } else {
      return left;
    }
  }
}

static const tf_dim *read_sum(const char **text) {
  const tf_dim *left = read_product(text);
  for (;;) {
    if (accept(text, "+")) {
      left = op(TF_DIM_ADD, left, read_product(text));
    } else if (accept(text, "-")) {
      left = op(TF_DIM_SUB, left, read_product(text));
    } else {
      return left;
    }
  }
}

static const tf_dim *read_dim(const char *text) {
  const tf_dim *dim = read_sum(&text);
  ck_assert_str_eq(text, "");
  return dim;
}

/* ---- Properties ---- */
static bool value_of(void *user, const char *name, int64_t *value) {
  for (int i = 0; i < VARS; i++)
    if (strcmp(name, names[i]) == 0) {
      *value = ((const int64_t *)user)[i];
      return true;
    }
  return false;
}

static void random_values(uint64_t *seed, int64_t *values) {
  for (int i = 0; i < VARS; i++) {
    int64_t span = highs[i] - lows[i];
    uint64_t pick = random_below(seed, 4); /* the ends of the range, often */
    values[i] = pick == 0 ? lows[i] : pick == 1 ? highs[i] - 1 : lows[i] + (int64_t)random_below(seed, (uint64_t)span);
  }
}

static void check_value(const node *tree, int root, const tf_dim *dim, int64_t *values, int *checked) {
  wide expected;
  int64_t actual, min, max, divisor = tf_dim_divisor(dim);
  if (!model(tree, root, values, &expected) || expected != (int64_t)expected) return;
  ck_assert_msg(tf_dim_evaluate(dim, value_of, values, &actual), "no value for %s", tf_dim_print(context, dim));
  ck_assert_msg(actual == expected, "%s at K=%ld M=%ld N=%ld S=%ld is %ld, not %ld", tf_dim_print(context, dim),
                (long)values[0], (long)values[1], (long)values[2], (long)values[3], (long)actual, (long)expected);
  tf_dim_range(dim, &min, &max);
  ck_assert_msg(min <= actual && actual <= max, "%s: %ld outside [%ld, %ld]", tf_dim_print(context, dim), (long)actual,
                (long)min, (long)max);
  ck_assert(divisor == 0 ? actual == 0 : actual % divisor == 0);
  (*checked)++;
}

START_TEST(simplification_never_changes_the_value) {
  uint64_t seed = 0x5EED;
  int checked = 0, built = 0;
  for (int round = 0; round < 40000; round++) {
    node tree[NODES];
    int64_t values[VARS];
    int count = random_tree(&seed, tree);
    const tf_dim *dim = build(tree, count - 1);
    if (!dim) continue;
    built++;
    for (int sample = 0; sample < 8; sample++) {
      random_values(&seed, values);
      check_value(tree, count - 1, dim, values, &checked);
    }
    if (round % 500 == 499) { /* a fresh context: the arena of dead expressions would only grow */
      teardown();
      setup();
    }
  }
  ck_assert_int_gt(built, 30000);
  ck_assert_int_gt(checked, 150000);
}
END_TEST

/* Numbers at the ends of 64 bits: a refusal (null, no value) is fine, a wrong value is not. Sanitizers watch the rest. */
START_TEST(extreme_constants) {
  static const int64_t extremes[] = {
      INT64_MAX, INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, (int64_t)1 << 62, -((int64_t)1 << 62), 3037000500, -1, 2};
  uint64_t seed = 99;
  int compared = 0;
  for (int round = 0; round < 40000; round++) {
    node tree[NODES];
    int64_t values[VARS], actual;
    wide expected;
    int count = random_tree(&seed, tree);
    count = count > 7 ? 7 : count;
    for (int i = 0; i < count; i++)
      if (tree[i].kind == -1) tree[i].value = extremes[random_below(&seed, 9)];
    tree[count - 1] = (node){.kind = (int)random_below(&seed, 8), .a = count - 2, .b = count - 3};
    for (int i = 0; i < count; i++) /* one product at most: the model stays within 128 bits */
      if (tree[i].kind == TF_DIM_MUL && i != count - 1) tree[i].kind = TF_DIM_SUB;
    const tf_dim *dim = build(tree, count - 1);
    if (!dim) continue;
    random_values(&seed, values);
    tf_dim_print(context, dim);
    tf_dim_divisor(dim);
    if (model(tree, count - 1, values, &expected) && tf_dim_evaluate(dim, value_of, values, &actual)) {
      int64_t min, max;
      ck_assert_msg(actual == expected, "%s", tf_dim_print(context, dim));
      tf_dim_range(dim, &min, &max);
      ck_assert_msg(min <= actual && actual <= max, "%s", tf_dim_print(context, dim));
      compared++;
    }
    if (round % 500 == 499) {
      teardown();
      setup();
    }
  }
  ck_assert_int_gt(compared, 5000);
}
END_TEST

START_TEST(text_reads_back_as_the_same_dim) {
  uint64_t seed = 77;
  int compared = 0;
  for (int round = 0; round < 20000; round++) {
    node tree[NODES];
    const tf_dim *dim = build(tree, random_tree(&seed, tree) - 1);
    if (!dim) continue;
    const char *text = tf_dim_print(context, dim);
    const tf_dim *again = read_dim(text);
    ck_assert_msg(again == dim, "%s reads back as %s", text, again ? tf_dim_print(context, again) : "null");
    compared++;
    if (round % 500 == 499) {
      teardown();
      setup();
    }
  }
  ck_assert_int_gt(compared, 15000);
}
END_TEST

START_TEST(equal_forms_are_one_dim) {
  static const struct {
    const char *a, *b;
  } pairs[] = {
      {"S + 2*S", "3*S"},
      {"(S + 1)*(S - 1)", "S*S - 1"},
      {"S*M - M*S", "0"},
      {"(4*M)//4", "M"},
      {"(4*M + 3)//4", "M"},
      {"(4*M + 5)//4", "M + 1"},
      {"(8*S + 4)//12", "(2*S + 1)//3"},
      {"(S//4)//8", "S//32"},
      {"(S//4 + 3)//8", "(S + 12)//32"},
      {"ceildiv(S, 128)", "(S + 127)//128"},
      {"ceildiv(S, 128)", "-((-S)//128)"},
      {"ceildiv(128*S, 128)", "S"},
      {"S//S", "1"},
      {"S % S", "0"},
      {"(128*S)//S", "128"},
      {"(K*M*2)//(2*K)", "M"},
      {"(K*M + K)//K", "M + 1"},
      {"(6*S)//(4*S)", "1"},
      {"(4*S) % 4", "0"},
      {"(4*S + 6) % 8", "4*((S + 1) % 2) + 2"},
      {"(S + 128) % 128", "S % 128"},
      {"(-S) % 4", "(3*S) % 4"},
      {"S // -4", "(-S)//4"},
      {"S % -4", "-((-S) % 4)"},
      {"M // 25", "0"},
      {"M % 25", "M"},
      {"(K - 1) // 39", "0"},
      {"dim_min(S, 1000)", "S"},
      {"dim_max(M, 0)", "M"},
      {"dim_min(S + 1, M + 1)", "dim_min(M, S) + 1"},
      {"dim_min(2*S, 128)", "2*dim_min(64, S)"},
      {"dim_min(-S, -M)", "-dim_max(S, M)"},
      {"dim_min(dim_min(S, 100), K)", "dim_min(S, dim_min(K, 100))"},
      {"dim_min(S, S + 1)", "S"},
      {"dim_max(S, S - M)", "S"},
      {"(S + K)*(S + K)//(S + K)", "S + K"},
      {"ceildiv(7, -3)", "-2"},
      {"-1//512", "-1"},
      {"-1 % 512", "511"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const tf_dim *a = read_dim(pairs[i].a), *b = read_dim(pairs[i].b);
    ck_assert_ptr_nonnull(a);
    ck_assert_msg(a == b, "%s and %s: %s and %s", pairs[i].a, pairs[i].b, tf_dim_print(context, a),
                  b ? tf_dim_print(context, b) : "null");
  }
}
END_TEST

START_TEST(a_divisor_that_may_be_0_is_kept) {
  ck_assert_str_eq(tf_dim_print(context, read_dim("M//M")), "M//M"); /* M may be 0, where Python raises */
  ck_assert_str_eq(tf_dim_print(context, read_dim("(128*M)//M")), "128*M//M");
  int64_t values[VARS] = {1, 0, 3, 1}, out;
  ck_assert(!tf_dim_evaluate(read_dim("M//M"), value_of, values, &out));
}
END_TEST

START_TEST(text_is_python) {
  static const char *const texts[] = {
      "3*S + 1", "ceildiv(S, 128)", "4*ceildiv(S, 128)", "-S + 3",     "S//4",           "2*(S//4)",      "-(S//4)",
      "S*M - 1", "K*(S%7)",         "(K + S)//3",        "S//(K + M)", "dim_min(S, 64)", "S//K//(M + 1)", "(S//7)%3",
      "-3",      "dim_max(K, M, S)"};
  for (size_t i = 0; i + 1 < sizeof texts / sizeof *texts; i++) {
    const char *printed = tf_dim_print(context, read_dim(texts[i]));
    ck_assert_msg(read_dim(printed) == read_dim(texts[i]), "%s prints as %s", texts[i], printed);
  }
  ck_assert_str_eq(tf_dim_print(context, read_dim("3*S + 1")), "3*S + 1");
  ck_assert_str_eq(tf_dim_print(context, read_dim("(S + 127)//128")), "ceildiv(S, 128)");
  ck_assert_str_eq(tf_dim_print(context, read_dim("(S//4)*2")), "2*(S//4)");
  ck_assert_str_eq(tf_dim_print(context, read_dim("0 - S//4")), "-(S//4)");
  ck_assert_str_eq(tf_dim_print(context, read_dim("dim_min(S, 64)")), "dim_min(S, 64)");
}
END_TEST

START_TEST(ranges) {
  static const struct {
    const char *text;
    int64_t min, max;
  } rows[] = {
      {"S", 1, 999},    {"S - 5", -4, 994},  {"-S", -999, -1},   {"S*K", 1, 999 * 39},      {"ceildiv(S, 128)", 1, 8},
      {"S//128", 0, 7}, {"S % 128", 0, 127}, {"M % 100", 0, 24}, {"dim_min(S, 64)", 1, 64}, {"dim_max(S, 64)", 64, 999},
      {"S//N", 0, 333}, {"7", 7, 7},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t min, max;
    tf_dim_range(read_dim(rows[i].text), &min, &max);
    ck_assert_msg(min == rows[i].min && max == rows[i].max, "%s: [%ld, %ld]", rows[i].text, (long)min, (long)max);
  }
}
END_TEST

START_TEST(open_ranges) {
  const tf_dim *v;
  int64_t min, max;
  ck_assert_int_eq(tf_dim_var(context, "V", 2, INT64_MAX, &v), TF_OK);
  const tf_dim *square = op(TF_DIM_MUL, v, v), *negative = op(TF_DIM_SUB, vars[0], num(50)); /* [-49, -11] */
  tf_dim_range(square, &min, &max);
  ck_assert(min == 4 && max == INT64_MAX);
  tf_dim_range(op(TF_DIM_SUB, square, num(10)), &min, &max);
  ck_assert(min == -6 && max == INT64_MAX); /* stays open */
  tf_dim_range(op(TF_DIM_SUB, num(0), square), &min, &max);
  ck_assert(min == INT64_MIN && max == -4);
  tf_dim_range(op(TF_DIM_FLOOR_DIV, negative, square), &min, &max);
  ck_assert(min == -13 && max == -1);
  tf_dim_range(op(TF_DIM_FLOOR_DIV, vars[3], square), &min, &max);
  ck_assert(min == 0 && max == 249);
  tf_dim_range(op(TF_DIM_FLOOR_DIV, square, num(128)), &min, &max);
  ck_assert(min == 0 && max == INT64_MAX);
  tf_dim_range(op(TF_DIM_MOD, square, v), &min, &max);
  ck_assert(min == 0 && max == 0);
  tf_dim_range(op(TF_DIM_MOD, square, op(TF_DIM_ADD, v, num(1))), &min, &max);
  ck_assert(min == 0 && max >= 2);
}
END_TEST

START_TEST(divisors) {
  ck_assert_int_eq(tf_dim_divisor(read_dim("128*S")), 128);
  ck_assert_int_eq(tf_dim_divisor(read_dim("128*S + 48")), 16);
  ck_assert_int_eq(tf_dim_divisor(read_dim("S")), 1);
  ck_assert_int_eq(tf_dim_divisor(read_dim("0")), 0);
  ck_assert_int_eq(tf_dim_divisor(read_dim("-24")), 24);
  ck_assert_int_eq(tf_dim_divisor(read_dim("8*S % 32")), 8);
  ck_assert_int_eq(tf_dim_divisor(read_dim("dim_min(8*S, 12)*K")), 4);
}
END_TEST

START_TEST(overflow_is_null) {
  const tf_dim *big = num(INT64_MAX), *s = vars[3];
  ck_assert_ptr_null(op(TF_DIM_ADD, big, num(1)));
  ck_assert_ptr_null(op(TF_DIM_MUL, big, num(2)));
  ck_assert_ptr_null(op(TF_DIM_SUB, num(-2), big));
  ck_assert_ptr_nonnull(op(TF_DIM_SUB, num(-1), big));
  ck_assert_ptr_null(op(TF_DIM_MUL, op(TF_DIM_MUL, s, big), num(2)));
  ck_assert_ptr_null(op(TF_DIM_FLOOR_DIV, s, num(0)));
  ck_assert_ptr_null(op(TF_DIM_MOD, s, num(0)));
  ck_assert_ptr_null(op(TF_DIM_CEIL_DIV, num(3), num(0)));
  ck_assert_ptr_null(op(TF_DIM_FLOOR_DIV, num(INT64_MIN), num(-1)));
  ck_assert_ptr_null(op(TF_DIM_ADD, NULL, s));
  int64_t values[VARS] = {39, 1, 3, 999}, out = 5;
  ck_assert(!tf_dim_evaluate(op(TF_DIM_MUL, s, big), value_of, values, &out));
  ck_assert_int_eq(out, 5);
  int64_t min, max;
  tf_dim_range(op(TF_DIM_MUL, s, big), &min, &max);
  ck_assert_int_eq(min, INT64_MAX);
  ck_assert_int_eq(max, INT64_MAX);
}
END_TEST

/* No expression makes time or memory explode: it is refused instead. */
START_TEST(growth_is_bounded) {
  const tf_dim *sum = op(TF_DIM_ADD, op(TF_DIM_ADD, vars[0], vars[1]), op(TF_DIM_ADD, vars[2], vars[3]));
  const tf_dim *power = sum, *nested = vars[3];
  int powers = 0, nestings = 0;
  for (; power; powers++)
    power = op(TF_DIM_MUL, power, sum);
  for (; nested && nestings < 100; nestings++)
    nested = op(TF_DIM_ADD, op(TF_DIM_MOD, nested, num(7 + nestings)),
                op(TF_DIM_MOD, op(TF_DIM_MUL, num(3), nested), num(100 + nestings)));
  ck_assert_int_ge(powers, 3);
  ck_assert_int_le(powers, 8);
  ck_assert_int_lt(nestings, 100);
}
END_TEST

START_TEST(dim_vars) {
  const tf_dim *again = NULL, *other = NULL;
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 1000, &again), TF_OK);
  ck_assert_ptr_eq(again, vars[3]);
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 1001, &other), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_dim_var(context, "T", 5, 5, &other), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_dim_var(context, "T", -1, 5, &other), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_dim_var(context, NULL, 1, 5, &other), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_dim_var(context, "T", 1, 5, NULL), TF_INVALID_ARGUMENT);
  ck_assert_ptr_null(other);
  int64_t value = 7;
  ck_assert(tf_dim_is_static(num(3), &value) && value == 3);
  ck_assert(!tf_dim_is_static(again, &value) && value == 3);
  ck_assert(tf_dim_is_static(op(TF_DIM_SUB, again, again), &value) && value == 0);
}
END_TEST

static void collect(void *user, const char *name, int64_t lo, int64_t hi) {
  char *text = user;
  sprintf(text + strlen(text), "%s[%ld,%ld)", name, (long)lo, (long)hi);
}

START_TEST(the_null_of_an_overflow_is_harmless) {
  int64_t min, max;
  const tf_dim *overflow = op(TF_DIM_MUL, num(INT64_MAX), num(2));
  ck_assert_ptr_null(overflow);
  ck_assert_ptr_null(op(TF_DIM_MIN, overflow, vars[0]));
  ck_assert_ptr_null(op(TF_DIM_CEIL_DIV, vars[0], overflow));
  tf_dim_range(overflow, &min, &max);
  ck_assert(min == INT64_MIN && max == INT64_MAX && tf_dim_divisor(overflow) == 1);
  ck_assert(!tf_dim_is_static(overflow, &min) && !tf_dim_evaluate(overflow, value_of, NULL, &min));
  ck_assert_str_eq(tf_dim_print(context, overflow), "None");
  ck_assert_ptr_null(tf_dim_substitute(context, overflow, NULL, NULL));
  tf_dim_visit_vars(overflow, NULL, NULL);
}
END_TEST

START_TEST(vars_are_visited_once_in_order) {
  char text[200] = "";
  tf_dim_visit_vars(read_dim("S*K + (S + K)//N + K"), collect, text);
  ck_assert_str_eq(text, "K[1,40)N[3,17)S[1,1000)");
  text[0] = '\0';
  tf_dim_visit_vars(num(4), collect, text);
  ck_assert_str_eq(text, "");
}
END_TEST

static const tf_dim *replace(void *user, const char *name) {
  return strcmp(name, "S") == 0 ? user : NULL;
}

START_TEST(substitution) {
  const tf_dim *dim = read_dim("S*K + ceildiv(S, 8) + dim_min(S, M)");
  const tf_dim *expected = read_dim("16*N*K + 2*N + dim_min(16*N, M)");
  ck_assert_ptr_eq(tf_dim_substitute(context, dim, replace, (void *)(uintptr_t)read_dim("16*N")), expected);
  ck_assert_ptr_eq(tf_dim_substitute(context, dim, replace, NULL), dim);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("dims");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, simplification_never_changes_the_value);
  tcase_add_test(tests, extreme_constants);
  tcase_add_test(tests, text_reads_back_as_the_same_dim);
  tcase_add_test(tests, equal_forms_are_one_dim);
  tcase_add_test(tests, a_divisor_that_may_be_0_is_kept);
  tcase_add_test(tests, text_is_python);
  tcase_add_test(tests, ranges);
  tcase_add_test(tests, open_ranges);
  tcase_add_test(tests, divisors);
  tcase_add_test(tests, overflow_is_null);
  tcase_add_test(tests, growth_is_bounded);
  tcase_add_test(tests, dim_vars);
  tcase_add_test(tests, the_null_of_an_overflow_is_harmless);
  tcase_add_test(tests, vars_are_visited_once_in_order);
  tcase_add_test(tests, substitution);
  return run_case("Dim", tests);
}
