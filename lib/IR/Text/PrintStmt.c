/* Statements as text. The body of a let is the rest of its block: such chains are followed in a loop. */
#include "IR/LayoutImpl.h"
#include "IR/Text/PrintInternal.h"
#include "IR/Text/Static.h"

void tf_print_indent(tf_printer *p, unsigned indent) {
  for (unsigned i = 0; i < indent; i++)
    tf_string_puts(&p->out, "    ");
}

/* ---- Calls ---- */
static void print_function_call(tf_printer *p, const tf_stmt *stmt) {
  const tf_expr *callee = stmt->evaluate.callee;
  tf_string_printf(&p->out, "%s(", tf_print_callee(p, callee->symbol.name));
  for (unsigned i = 0; i < stmt->evaluate.arg_count; i++) {
    const tf_type *type = i < tf_type_element_count(callee->type) ? tf_type_element(callee->type, i) : NULL;
    if (i) tf_string_puts(&p->out, ", ");
    tf_print_operand(p, stmt->evaluate.args[i], type && tf_type_is_scalar(type) ? tf_type_dtype(type) : TF_DTYPE_COUNT);
  }
  if (stmt->loc_text) {
    tf_string_puts(&p->out, stmt->evaluate.arg_count ? ", loc=" : "loc=");
    tf_string_quote(&p->out, stmt->loc_text);
  }
  tf_string_puts(&p->out, ")\n");
}

static void print_evaluate(tf_printer *p, const tf_stmt *stmt) {
  if (stmt->evaluate.callee) {
    print_function_call(p, stmt);
    return;
  }
  tf_invocation invocation = tf_invocation_of_evaluate(stmt);
  tf_print_invocation(p, &invocation, stmt->loc_text);
  tf_string_puts(&p->out, "\n");
}

static void print_intrinsic(tf_printer *p, const tf_stmt *stmt) {
  tf_string_printf(&p->out, "%s(", tf_print_callee(p, stmt->intrinsic.decl->name));
  for (unsigned i = 0; i < stmt->intrinsic.arg_count; i++) {
    if (i) tf_string_puts(&p->out, ", ");
    tf_print_operand(p, stmt->intrinsic.args[i], TF_DTYPE_COUNT);
  }
  if (stmt->loc_text) {
    tf_string_puts(&p->out, stmt->intrinsic.arg_count ? ", loc=" : "loc=");
    tf_string_quote(&p->out, stmt->loc_text);
  }
  tf_string_puts(&p->out, ")\n");
}

static void print_abort(tf_printer *p, const tf_stmt *stmt) {
  bool any = stmt->abort.message[0] != '\0';
  tf_string_puts(&p->out, "T.abort(");
  if (any) tf_string_quote(&p->out, stmt->abort.message);
  if (stmt->loc_text) {
    tf_string_puts(&p->out, any ? ", loc=" : "loc=");
    tf_string_quote(&p->out, stmt->loc_text);
  }
  tf_string_puts(&p->out, ")\n");
}

/* ---- Bindings ---- */
/* The value is printed before the name is taken: it sees the older variable of that name. */
static void print_let(tf_printer *p, const tf_stmt *stmt) {
  const tf_expr *value = stmt->let.value;
  tf_string outer = p->out;
  tf_string_init(&p->out, &p->context->arena);
  bool call = value->kind == TF_EXPR_CALL && tf_op_get_info(value->call.op)->form != TF_FORM_SCALAR;
  bool named = value->kind == TF_EXPR_CALL && tf_op_get_info(value->call.op)->form == TF_FORM_SCALAR &&
               stmt->loc_text &&
               (value->call.op == TF_OP_LOAD || value->call.op == TF_OP_CAST || value->call.op == TF_OP_COORD ||
                value->call.op == TF_OP_PROGRAM_ID);
  if (call || named) {
    tf_invocation invocation = tf_invocation_of_call(value);
    tf_print_invocation(p, &invocation, stmt->loc_text);
  } else {
    tf_print_value(p, value);
  }
  const char *text = p->out.text;
  p->out = outer;
  tf_string_printf(&p->out, "%s = %s\n", tf_print_bind(p, stmt->let.var), text);
}

/* ---- Blocks ---- */
static void print_nested(tf_printer *p, const tf_stmt *body, unsigned indent) {
  size_t mark = p->taken.count;
  tf_print_body(p, body, indent);
  tf_print_release(p, mark);
}

static bool is_int(const tf_expr *expr, int64_t value) {
  return expr->kind == TF_EXPR_CONSTANT && tf_type_dtype(expr->type) == TF_DTYPE_I64 && expr->constant.i == value;
}

static void print_for(tf_printer *p, const tf_stmt *stmt, unsigned indent) {
  size_t mark = p->taken.count;
  tf_string outer = p->out;
  tf_string_init(&p->out, &p->context->arena);
  bool step = !is_int(stmt->for_.step, 1), start = step || !is_int(stmt->for_.start, 0);
  if (start) {
    tf_print_operand(p, stmt->for_.start, TF_DTYPE_COUNT);
    tf_string_puts(&p->out, ", ");
  }
  tf_print_operand(p, stmt->for_.stop, TF_DTYPE_COUNT);
  if (step) {
    tf_string_puts(&p->out, ", ");
    tf_print_operand(p, stmt->for_.step, TF_DTYPE_COUNT);
  }
  const char *bounds = p->out.text;
  p->out = outer;
  tf_string_printf(&p->out, "for %s in range(%s):\n", tf_print_bind(p, stmt->for_.var), bounds);
  tf_print_body(p, stmt->for_.body, indent + 1);
  tf_print_release(p, mark);
}

static void print_if(tf_printer *p, const tf_stmt *stmt, unsigned indent) {
  for (const char *word = "if";; word = "elif") {
    tf_string_printf(&p->out, "%s ", word);
    tf_print_operand(p, stmt->if_.cond, TF_DTYPE_COUNT);
    tf_string_puts(&p->out, ":\n");
    print_nested(p, stmt->if_.then_body, indent + 1);
    const tf_stmt *otherwise = stmt->if_.else_body;
    if (!otherwise->sequential.count) return;
    tf_print_indent(p, indent);
    bool chain = otherwise->sequential.count == 1 && otherwise->sequential.items[0]->kind == TF_STMT_IF;
    if (!chain) {
      tf_string_puts(&p->out, "else:\n");
      print_nested(p, otherwise, indent + 1);
      return;
    }
    stmt = otherwise->sequential.items[0];
  }
}

static void print_mesh_scope(tf_printer *p, const tf_stmt *stmt, unsigned indent) {
  size_t mark = p->taken.count;
  tf_string_puts(&p->out, "with ");
  tf_print_mesh(p, stmt->mesh_scope.mesh);
  tf_string_printf(&p->out, " as %s:\n", tf_print_bind(p, stmt->mesh_scope.var));
  TF_VEC_PUSH(&p->context->arena, &p->meshes, stmt->mesh_scope.var);
  tf_print_body(p, stmt->mesh_scope.body, indent + 1);
  p->meshes.count--;
  tf_print_release(p, mark);
}

static void print_dispatch(tf_printer *p, const tf_stmt *stmt, unsigned indent) {
  tf_string_puts(&p->out, "match T.dispatch(");
  tf_string_quote(&p->out, stmt->dispatch.callee_name);
  tf_string_puts(&p->out, ", ");
  tf_print_operand(p, stmt->dispatch.subjects[0], TF_DTYPE_COUNT);
  tf_string_puts(&p->out, "):\n");
  for (unsigned i = 0; i < stmt->dispatch.case_count; i++) {
    const tf_range_pattern *pattern = &stmt->dispatch.patterns[i];
    tf_print_indent(p, indent + 1);
    tf_string_puts(&p->out, "case DimVarRangePat(");
    tf_string_quote(&p->out, pattern->name);
    tf_string_printf(&p->out, ", %lld, %lld):\n", (long long)pattern->lo, (long long)pattern->hi);
    tf_print_indent(p, indent + 2);
    tf_print_statement(p, stmt->dispatch.calls[i], indent + 2);
  }
  tf_print_indent(p, indent + 1);
  tf_string_puts(&p->out, "case _:\n");
  print_nested(p, stmt->dispatch.fallback, indent + 2);
}

/* The statement behind its indentation, line end included. */
void tf_print_statement(tf_printer *p, const tf_stmt *stmt, unsigned indent) {
  switch (stmt->kind) {
  case TF_STMT_LET:
    print_let(p, stmt);
    return;
  case TF_STMT_FOR:
    print_for(p, stmt, indent);
    return;
  case TF_STMT_WHILE:
    tf_string_puts(&p->out, "while ");
    tf_print_operand(p, stmt->while_.cond, TF_DTYPE_COUNT);
    tf_string_puts(&p->out, ":\n");
    print_nested(p, stmt->while_.body, indent + 1);
    return;
  case TF_STMT_IF:
    print_if(p, stmt, indent);
    return;
  case TF_STMT_MESH_SCOPE:
    print_mesh_scope(p, stmt, indent);
    return;
  case TF_STMT_RETURN:
    tf_string_puts(&p->out, "return\n");
    return;
  case TF_STMT_ABORT:
    print_abort(p, stmt);
    return;
  case TF_STMT_DISPATCH_CALL:
    print_dispatch(p, stmt, indent);
    return;
  case TF_STMT_PRIM_FUNCTION:
    tf_print_function(p, stmt, indent);
    return;
  case TF_STMT_EVALUATE:
    print_evaluate(p, stmt);
    return;
  case TF_STMT_INTRINSIC:
    print_intrinsic(p, stmt);
    return;
  case TF_STMT_SEQUENTIAL: /* only bodies are sequences */
    return;
  }
}

void tf_print_body(tf_printer *p, const tf_stmt *sequential, unsigned indent) {
  if (!sequential->sequential.count) {
    tf_print_indent(p, indent);
    tf_string_puts(&p->out, "pass\n");
  }
  while (sequential) {
    const tf_stmt *rest = NULL;
    for (unsigned i = 0; i < sequential->sequential.count; i++) {
      const tf_stmt *stmt = sequential->sequential.items[i];
      tf_print_indent(p, indent);
      tf_print_statement(p, stmt, indent);
      if (stmt->kind == TF_STMT_LET) rest = stmt->let.body;
    }
    sequential = rest;
  }
}
