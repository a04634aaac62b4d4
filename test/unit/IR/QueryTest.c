/* The readers of IR.h: the op table, targets, and accessors given nodes of every other kind. */
#include <string.h>

#include <check.h>

#include "Harness.h"
#include "IR/Construct.h"
#include "IR/Target.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

/* ---- Ops ---------------------------------------------------------------------------------------------------------------- */
START_TEST(names_find_their_ops) {
  for (unsigned op = 0; op < TF_OP_COUNT; op++) {
    const tf_op_info *info = tf_op_get_info((tf_op)op);
    tf_op found = TF_OP_COUNT;
    ck_assert(tf_op_from_name(info->name, &found));
    ck_assert_uint_eq(found, op); /* so no two ops share a name */
    ck_assert(info->name[0] && info->family[0] && info->meaning[0]);
    for (unsigned i = 0; i < info->operand_count; i++) {
      ck_assert(info->operands[i].name[0] && info->operands[i].meaning[0]);
      ck_assert(info->operands[i].arity != TF_ARITY_VARIADIC || i + 1 == info->operand_count);
    }
    for (unsigned i = 0; i < info->attr_count; i++)
      ck_assert(info->attrs[i].name[0] && info->attrs[i].meaning[0]);
  }
  ck_assert(!tf_op_from_name("no_such_op", NULL));
  ck_assert(!tf_op_from_name(NULL, NULL));
  ck_assert(tf_op_from_name("copy", NULL));
  ck_assert_ptr_null(tf_op_get_info(TF_OP_COUNT));
}
END_TEST

/* The ops that the language's specification names, as it names their fields. */
START_TEST(the_table_says_what_the_language_says) {
  static const struct {
    const char *name;
    tf_op_form form;
    const char *operands, *attrs;
  } ops[] = {
      {"alloc_tensor", TF_FORM_VALUE, "", "tensor_type"},
      {"memory_span", TF_FORM_VALUE, "x", ""},
      {"ptr_of", TF_FORM_VALUE, "x", ""},
      {"tensor_view", TF_FORM_VALUE, "memory starts", "layout shape clip"},
      {"copy", TF_FORM_EFFECT, "source destination", ""},
      {"fill", TF_FORM_EFFECT, "tensor value", ""},
      {"mma", TF_FORM_EFFECT, "acc lhs rhs", "atom"},
      {"relu", TF_FORM_EFFECT, "src dst", ""},
      {"rms_norm", TF_FORM_EFFECT, "src dst weight", "eps"},
      {"reduce", TF_FORM_EFFECT, "src dst workspace", "axes kind"},
      {"binary", TF_FORM_EFFECT, "lhs rhs dst", "kind"},
      {"unary", TF_FORM_EFFECT, "src dst", "kind"},
      {"copy_async", TF_FORM_EFFECT, "source destination", ""},
      {"cp_async_commit", TF_FORM_EFFECT, "", ""},
      {"cp_async_wait", TF_FORM_EFFECT, "", "n"},
      {"sync", TF_FORM_EFFECT, "", "mesh"},
      {"launch", TF_FORM_EFFECT, "callee grid_x grid_y grid_z block_x block_y block_z args",
       "cluster dynamic_smem stream attrs"},
  };
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    tf_op op;
    char operands[128] = "", attrs[128] = "";
    ck_assert_msg(tf_op_from_name(ops[i].name, &op), "%s", ops[i].name);
    const tf_op_info *info = tf_op_get_info(op);
    for (unsigned k = 0; k < info->operand_count; k++)
      strcat(strcat(operands, k ? " " : ""), info->operands[k].name);
    for (unsigned k = 0; k < info->attr_count; k++)
      strcat(strcat(attrs, k ? " " : ""), info->attrs[k].name);
    ck_assert_str_eq(operands, ops[i].operands);
    ck_assert_str_eq(attrs, ops[i].attrs);
    ck_assert_int_eq(info->form, ops[i].form);
  }
}
END_TEST

/* ---- Targets ------------------------------------------------------------------------------------------------------------- */
START_TEST(targets) {
  static const struct {
    const char *name, *canonical;
    unsigned sm;
    char suffix;
    int64_t smem;
  } known[] = {
      {"sm_75", "sm_75", 75, 0, 64 * 1024},
      {"sm_80", "sm_80", 80, 0, 163 * 1024},
      {"sm_86", "sm_86", 86, 0, 99 * 1024},
      {"sm_89", "sm_89", 89, 0, 99 * 1024},
      {"sm_90a", "sm_90a", 90, 'a', 227 * 1024},
      {"sm_100f", "sm_100f", 100, 'f', 227 * 1024},
      {"sm_121a", "sm_121a", 121, 'a', 99 * 1024},
      {"nvidia.h200_sxm", "sm_90a", 90, 'a', 227 * 1024},
      {"nvidia.a100_sxm", "sm_80", 80, 0, 163 * 1024},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const tf_target *target = tf_target_get(context, known[i].name);
    ck_assert_ptr_nonnull(target);
    ck_assert_str_eq(tf_target_name(target), known[i].canonical);
    ck_assert_uint_eq(tf_target_sm(target), known[i].sm);
    ck_assert_int_eq(tf_target_suffix(target), known[i].suffix);
    ck_assert_int_eq(tf_target_smem_limit(target), known[i].smem);
    ck_assert_ptr_eq(target, tf_target_get(context, known[i].canonical));
    ck_assert(!tf_target_is_cpu(target));
  }
  for (unsigned i = 0; tf_target_known_name(i); i++)
    ck_assert_ptr_nonnull(tf_target_get(context, tf_target_known_name(i)));
  ck_assert(tf_target_is_cpu(tf_target_get(context, "cpu")));
  ck_assert_uint_eq(tf_target_sm(tf_target_get(context, "cpu")), 0);
  ck_assert_ptr_null(tf_target_get(context, "sm_70"));
  ck_assert_ptr_null(tf_target_get(context, "sm_90b"));
  ck_assert_ptr_null(tf_target_get(context, NULL));
  ck_assert_ptr_eq(tf_target_default(), tf_target_get(context, "sm_80"));
  ck_assert(!tf_target_is_cpu(NULL));
}
END_TEST

/* ---- Accessors ----------------------------------------------------------------------------------------------------------------- */
#define MAX_NODES 16
typedef struct nodes {
  unsigned expr_count, stmt_count;
  const tf_expr *exprs[MAX_NODES];
  const tf_stmt *stmts[MAX_NODES];
} nodes;

static const tf_place nowhere = {{0, 0, 0, 0}, NULL};

/* One node of each kind, and null. */
static nodes all_nodes(void) {
  nodes n = {0};
  const tf_expr *x = tf_expr_param(context, "x", tf_type_scalar(context, TF_DTYPE_F32), true, TF_NO_LOC);
  const tf_expr *one = tf_expr_int(context, TF_DTYPE_I64, 1, TF_NO_LOC), *pair[] = {one, one};
  const tf_attr plus = {.i = TF_SCALAR_BINARY_ADD}, waits = {.i = 3};
  n.exprs[n.expr_count++] = NULL;
  n.exprs[n.expr_count++] = x;
  n.exprs[n.expr_count++] = one;
  n.exprs[n.expr_count++] = tf_expr_call(context, TF_OP_SCALAR_BINARY, 2, pair, &plus, TF_NO_LOC);
  n.exprs[n.expr_count++] = tf_expr_shape_of(context, x, 2, TF_NO_LOC);
  n.exprs[n.expr_count++] = tf_expr_symbol(context, "f", tf_type_callable(context, 0, NULL), TF_NO_LOC);
  n.exprs[n.expr_count++] = tf_expr_tuple(context, 2, pair, TF_NO_LOC);
  const tf_stmt *empty = tf_stmt_sequential(context, 0, NULL, nowhere);
  const tf_stmt *call = tf_stmt_call(context, n.exprs[5], 1, &one, nowhere);
  const tf_range_pattern range = {"S", 1, 2};
  n.stmts[n.stmt_count++] = NULL;
  n.stmts[n.stmt_count++] = empty;
  n.stmts[n.stmt_count++] = tf_stmt_let(context, x, one, empty, nowhere);
  n.stmts[n.stmt_count++] = tf_stmt_for(context, x, one, one, one, empty, nowhere);
  n.stmts[n.stmt_count++] = tf_stmt_while(context, one, empty, nowhere);
  n.stmts[n.stmt_count++] = tf_stmt_if(context, one, empty, NULL, nowhere);
  n.stmts[n.stmt_count++] = tf_stmt_return(context, nowhere);
  n.stmts[n.stmt_count++] = tf_stmt_abort(context, "why", nowhere);
  n.stmts[n.stmt_count++] = tf_stmt_evaluate(context, TF_OP_CP_ASYNC_WAIT, 0, NULL, &waits, nowhere);
  n.stmts[n.stmt_count++] = call;
  n.stmts[n.stmt_count++] = tf_stmt_dispatch(context, "d", n.exprs[4], 1, &range, &call, empty, nowhere);
  n.stmts[n.stmt_count++] = tf_stmt_function(context, "f", 1, &x, empty, 1, NULL, nowhere);
  return n;
}

START_TEST(expression_accessors_answer_for_their_kind_only) {
  nodes n = all_nodes();
  for (unsigned i = 0; i < n.expr_count; i++) {
    const tf_expr *e = n.exprs[i];
    tf_expr_kind kind = tf_expr_get_kind(e);
    ck_assert(e || kind == TF_EXPR_TUPLE);
    ck_assert_int_eq(tf_expr_name(e) != NULL, e && (kind == TF_EXPR_VAR || kind == TF_EXPR_SYMBOL_REF));
    ck_assert_int_eq(tf_var_is_const(e), e && kind == TF_EXPR_VAR);
    ck_assert_ptr_null(tf_var_mesh(e));
    ck_assert_int_eq(tf_constant_int(e), e && kind == TF_EXPR_CONSTANT);
    ck_assert(tf_constant_float(e) == 0);
    ck_assert_int_eq(tf_call_op(e), e && kind == TF_EXPR_CALL ? TF_OP_SCALAR_BINARY : TF_OP_COUNT);
    ck_assert_uint_eq(tf_call_arg_count(e), e && kind == TF_EXPR_CALL ? 2 : 0);
    ck_assert_int_eq(tf_call_arg(e, 1) != NULL, e && kind == TF_EXPR_CALL);
    ck_assert_ptr_null(tf_call_arg(e, 2));
    ck_assert_int_eq(tf_call_attr(e, 0).i, e && kind == TF_EXPR_CALL ? TF_SCALAR_BINARY_ADD : 0);
    ck_assert_int_eq(tf_call_attr(e, 1).i, 0);
    ck_assert_int_eq(tf_shape_of_param(e) != NULL, e && kind == TF_EXPR_SHAPE_OF);
    ck_assert_uint_eq(tf_shape_of_axis(e), e && kind == TF_EXPR_SHAPE_OF ? 2 : 0);
    ck_assert_uint_eq(tf_tuple_expr_count(e), e && kind == TF_EXPR_TUPLE ? 2 : 0);
    ck_assert_int_eq(tf_tuple_expr_element(e, 1) != NULL, e && kind == TF_EXPR_TUPLE);
    ck_assert_ptr_null(tf_tuple_expr_element(e, 2));
    ck_assert_int_eq(tf_expr_type(e) != NULL, e != NULL);
    ck_assert_uint_eq(tf_expr_loc(e).line, 0);
  }
}
END_TEST

/* Which kinds an accessor answers for, as letters: s(equential) l(et) f(or) w(hile) i(f) e(valuate) d(ispatch) p(rim func). */
static char letter_of(const tf_stmt *stmt) {
  static const char letters[] = "slfwimradpeX";
  return stmt ? letters[stmt->kind] : '-';
}

static void answers(const tf_stmt *stmt, bool answered, const char *kinds, const char *what) {
  ck_assert_msg(answered == (strchr(kinds, letter_of(stmt)) != NULL), "%s of '%c'", what, letter_of(stmt));
}

START_TEST(statement_accessors_answer_for_their_kind_only) {
  nodes n = all_nodes();
  for (unsigned i = 0; i < n.stmt_count; i++) {
    const tf_stmt *s = n.stmts[i];
    bool callee = s && s->kind == TF_STMT_EVALUATE && s->evaluate.callee;
    answers(s, tf_stmt_var(s) != NULL, "lf", "var");
    answers(s, tf_let_value(s) != NULL, "l", "value");
    answers(s, tf_for_start(s) && tf_for_stop(s) && tf_for_step(s), "f", "bounds");
    answers(s, tf_stmt_cond(s) != NULL, "wi", "cond");
    answers(s, tf_stmt_body(s) != NULL, "lfwidp", "body");
    answers(s, tf_if_else(s) != NULL, "i", "else");
    answers(s, tf_abort_message(s) != NULL, "a", "message");
    answers(s,
            tf_dispatch_name(s) && tf_dispatch_subject(s) && tf_dispatch_case_count(s) == 1 && tf_dispatch_call(s, 0),
            "d", "dispatch");
    answers(s, tf_dispatch_pattern(s, 0).hi == 2, "d", "pattern");
    answers(s, tf_function_name(s) && tf_function_param_count(s) == 1 && tf_function_param(s, 0), "p", "function");
    answers(s, tf_function_type(context, s) != NULL, "p", "type");
    ck_assert_int_eq(tf_evaluate_callee(s) != NULL, callee);
    ck_assert_int_eq(tf_evaluate_op(s), letter_of(s) == 'e' && !callee ? TF_OP_CP_ASYNC_WAIT : TF_OP_COUNT);
    ck_assert_uint_eq(tf_evaluate_arg_count(s), callee);
    ck_assert_int_eq(tf_evaluate_attr(s, 0).i, letter_of(s) == 'e' && !callee ? 3 : 0);
    ck_assert_ptr_null(tf_evaluate_arg(s, 1));
    ck_assert_ptr_null(tf_dispatch_call(s, 1));
    ck_assert_ptr_null(tf_function_param(s, 1));
    ck_assert_ptr_null(tf_sequential_get(s, 0));
    ck_assert_ptr_null(tf_mesh_scope_mesh(s));
    ck_assert_ptr_null(tf_intrinsic_stmt_decl(s));
    ck_assert_ptr_null(tf_stmt_loc_text(s));
    ck_assert_uint_eq(tf_function_output_count(s), letter_of(s) == 'p');
  }
  ck_assert_ptr_null(tf_module_find(NULL, "f"));
  ck_assert_uint_eq(tf_module_function_count(NULL), 0);
  ck_assert_ptr_null(tf_module_function(NULL, 0));
  ck_assert_ptr_null(tf_module_context(NULL));
}
END_TEST

/* ---- Blocks ----------------------------------------------------------------------------------------------------------------------- */
START_TEST(lets_nest_to_the_end_of_the_block) {
  tf_block block;
  const tf_expr *one = tf_expr_int(context, TF_DTYPE_I64, 1, TF_NO_LOC);
  const tf_stmt *stop = tf_stmt_return(context, nowhere);
  tf_block_init(&block, context);
  ck_assert_uint_eq(tf_sequential_count(tf_block_finish(&block, TF_NO_LOC)), 0);
  tf_block_add(&block, stop);
  tf_block_let(&block, tf_expr_let_var(context, "a", one, TF_NO_LOC), one, nowhere);
  tf_block_let(&block, tf_expr_let_var(context, "b", one, TF_NO_LOC), one, nowhere);
  tf_block_add(&block, stop);
  tf_block_add(&block, stop);
  const tf_stmt *outer = tf_block_finish(&block, TF_NO_LOC), *a = tf_sequential_get(outer, 1);
  ck_assert_uint_eq(tf_sequential_count(outer), 2);
  ck_assert_str_eq(tf_expr_name(tf_stmt_var(a)), "a");
  ck_assert_uint_eq(tf_sequential_count(tf_stmt_body(a)), 1);
  const tf_stmt *b = tf_sequential_get(tf_stmt_body(a), 0);
  ck_assert_str_eq(tf_expr_name(tf_stmt_var(b)), "b");
  ck_assert_uint_eq(tf_sequential_count(tf_stmt_body(b)), 2);
  ck_assert_ptr_eq(tf_sequential_get(tf_stmt_body(b), 1), stop);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("readers");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, names_find_their_ops);
  tcase_add_test(tests, the_table_says_what_the_language_says);
  tcase_add_test(tests, targets);
  tcase_add_test(tests, expression_accessors_answer_for_their_kind_only);
  tcase_add_test(tests, statement_accessors_answer_for_their_kind_only);
  tcase_add_test(tests, lets_nest_to_the_end_of_the_block);
  return run_case("readers", tests);
}
