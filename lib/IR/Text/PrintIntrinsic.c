/* Declarations of intrinsics as text: conditions are printed from their syntax, static names replaced by their values. */
#include <string.h>

#include "IR/Text/ElaborateIntrinsic.h"
#include "IR/KindTables.h"
#include "IR/LayoutImpl.h"
#include "IR/Text/Lexer.h"
#include "IR/Text/PrintInternal.h"
#include "Support/Context.h"

typedef struct printer {
  tf_context *context;
  tf_string *out;
  const struct tf_syntax *source;
} printer;

enum {
  PREC_LOWEST,
  PREC_TERNARY,
  PREC_OR,
  PREC_AND,
  PREC_NOT,
  PREC_COMPARE,
  PREC_PRODUCT = 11,
  PREC_UNARY,
  PREC_POWER,
  PREC_ATOM
};

static void print(printer *p, const tf_node *node, int least);

static void puts_to(printer *p, const char *text) {
  tf_string_puts(p->out, text);
}

static int binary_precedence(unsigned op) {
  if (op < TF_SCALAR_BINARY_COUNT) return tf_scalar_binary_precedence((tf_scalar_binary_kind)op);
  return op == TF_BINARY_OP_POWER ? PREC_POWER : PREC_PRODUCT;
}

/* How tightly the node's outermost construct binds. */
static int precedence(const tf_node *node) {
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_IF_EXP:
    return PREC_TERNARY;
  case TF_NODE_OR:
    return PREC_OR;
  case TF_NODE_AND:
    return PREC_AND;
  case TF_NODE_COMPARE:
    return PREC_COMPARE;
  case TF_NODE_UNARY:
    return node->op == TF_UNARY_OP_NOT ? PREC_NOT : PREC_UNARY;
  case TF_NODE_BINARY:
    return binary_precedence(node->op);
  case TF_NODE_SLICE:
    return PREC_LOWEST;
  default:
    return PREC_ATOM;
  }
}

/* The value's text is printed as an expression of its own: so it stands in the spelling, and in the parentheses, that its text
 * gets when it is read back as a part of the condition. */
static void print_value(printer *p, const tf_value *value, int least) {
  static const struct tf_syntax no_names;
  const char *text = tf_value_print(p->context, value);
  uint32_t file = tf_context_add_source(p->context, "<value>", text, strlen(text));
  const tf_node *node = tf_parse_expression(p->context, file, &p->context->arena);
  printer plain = {p->context, p->out, &no_names};
  if (node)
    print(&plain, node, least);
  else
    puts_to(p, text);
}

/* A parameter hides a static name. */
static bool is_param(const printer *p, const char *name) {
  for (unsigned i = 0; p->source->def && i < p->source->def->def.param_count; i++)
    if (p->source->def->def.params[i].name == name) return true;
  return false;
}

static void print_name(printer *p, const char *name, int least) {
  for (unsigned i = 0; i < p->source->static_count && !is_param(p, name); i++)
    if (p->source->names[i] == name) {
      print_value(p, &p->source->values[i], least);
      return;
    }
  puts_to(p, name);
}

static void print_list(printer *p, unsigned count, tf_node *const *items, const char *between, int least) {
  for (unsigned i = 0; i < count; i++) {
    if (i) puts_to(p, between);
    print(p, items[i], least);
  }
}

static void print_call(printer *p, const tf_node *node) {
  print(p, node->call.callee, PREC_ATOM);
  puts_to(p, "(");
  print_list(p, node->call.arg_count, node->call.args, ", ", PREC_TERNARY);
  for (unsigned i = 0; i < node->call.keyword_count; i++) {
    tf_string_printf(p->out, "%s%s=", i || node->call.arg_count ? ", " : "", node->call.keywords[i].name);
    print(p, node->call.keywords[i].value, PREC_TERNARY);
  }
  puts_to(p, ")");
}

static void print_compare(printer *p, const tf_node *node) {
  for (unsigned i = 0; i < node->compare.count; i++) {
    if (i) tf_string_printf(p->out, " %s ", tf_binary_op_spelling(node->compare.ops[i - 1]));
    print(p, node->compare.operands[i], PREC_COMPARE + 1);
  }
}

static void print_unary(printer *p, const tf_node *node) {
  static const char *const spellings[] = {"-", "+", "~", "not "};
  puts_to(p, spellings[node->op]);
  print(p, node->binary.right, node->op == TF_UNARY_OP_NOT ? PREC_NOT : PREC_UNARY);
}

static void print_binary(printer *p, const tf_node *node) {
  int prec = binary_precedence(node->op);
  bool power = node->op == TF_BINARY_OP_POWER;
  print(p, node->binary.left, power ? PREC_ATOM : prec);
  tf_string_printf(p->out, power ? "%s" : " %s ", tf_binary_op_spelling(node->op));
  print(p, node->binary.right, power ? PREC_UNARY : prec + 1);
}

static void print_slice(printer *p, const tf_node *node) {
  if (node->slice.lower) print(p, node->slice.lower, PREC_TERNARY);
  puts_to(p, ":");
  if (node->slice.upper) print(p, node->slice.upper, PREC_TERNARY);
  if (!node->slice.step) return;
  puts_to(p, ":");
  print(p, node->slice.step, PREC_TERNARY);
}

static void print_subscript(printer *p, const tf_node *node) {
  const tf_node *index = node->subscript.index;
  print(p, node->subscript.object, PREC_ATOM);
  puts_to(p, "[");
  if (index->kind == TF_NODE_TUPLE && !index->parenthesised && index->list.count) {
    print_list(p, index->list.count, index->list.items, ", ", PREC_LOWEST);
    puts_to(p, index->list.count == 1 ? "," : "");
  } else {
    print(p, index, PREC_LOWEST);
  }
  puts_to(p, "]");
}

static void print_tuple(printer *p, const tf_node *node) {
  puts_to(p, "(");
  print_list(p, node->list.count, node->list.items, ", ", PREC_TERNARY);
  puts_to(p, node->list.count == 1 ? ",)" : ")");
}

static void print_if_exp(printer *p, const tf_node *node) {
  print(p, node->if_exp.then, PREC_OR);
  puts_to(p, " if ");
  print(p, node->if_exp.test, PREC_OR);
  puts_to(p, " else ");
  print(p, node->if_exp.otherwise, PREC_TERNARY);
}

static void print_literal(printer *p, const tf_node *node) {
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_INT:
    tf_int128_append(p->out, (tf_int128)node->integer);
    return;
  case TF_NODE_FLOAT:
    if (__builtin_isinf(node->number))
      puts_to(p, "1e999");
    else
      tf_float_append(p->out, node->number);
    return;
  case TF_NODE_STRING:
    tf_string_quote(p->out, node->string);
    return;
  case TF_NODE_TRUE:
  case TF_NODE_FALSE:
    puts_to(p, node->kind == TF_NODE_TRUE ? "True" : "False");
    return;
  default:
    puts_to(p, node->kind == TF_NODE_ELLIPSIS ? "..." : "None");
  }
}

static void print_construct(printer *p, const tf_node *node, int least) {
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_NAME:
    print_name(p, node->name, least);
    return;
  case TF_NODE_TUPLE:
    print_tuple(p, node);
    return;
  case TF_NODE_UNARY:
    print_unary(p, node);
    return;
  case TF_NODE_BINARY:
    print_binary(p, node);
    return;
  case TF_NODE_AND:
  case TF_NODE_OR:
    print_list(p, node->list.count, node->list.items, node->kind == TF_NODE_AND ? " and " : " or ",
               precedence(node) + 1);
    return;
  case TF_NODE_COMPARE:
    print_compare(p, node);
    return;
  case TF_NODE_IF_EXP:
    print_if_exp(p, node);
    return;
  case TF_NODE_CALL:
    print_call(p, node);
    return;
  case TF_NODE_ATTRIBUTE:
    print(p, node->attribute.object, PREC_ATOM);
    tf_string_printf(p->out, ".%s", node->attribute.name);
    return;
  case TF_NODE_SUBSCRIPT:
    print_subscript(p, node);
    return;
  case TF_NODE_SLICE:
    print_slice(p, node);
    return;
  default:
    print_literal(p, node);
  }
}

static void print(printer *p, const tf_node *node, int least) {
  bool number = node->kind == TF_NODE_INT || node->kind == TF_NODE_FLOAT; /* 1.x is no attribute of 1 */
  bool parens = precedence(node) < least || (number && least == PREC_ATOM);
  puts_to(p, parens ? "(" : "");
  print_construct(p, node, least);
  puts_to(p, parens ? ")" : "");
}

static void print_conditions(printer *p) {
  const tf_block_syntax *body = &p->source->def->def.body;
  unsigned count = 0;
  for (unsigned i = 0; i < body->count; i++) {
    if (body->items[i]->kind != TF_NODE_ASSERT) continue;
    puts_to(p, "    assert ");
    print(p, body->items[i]->assert_.test, PREC_TERNARY);
    puts_to(p, ", ");
    tf_string_quote(p->out, body->items[i]->assert_.message->string);
    puts_to(p, "\n");
    count++;
  }
  if (!count) puts_to(p, "    pass\n");
}

void tf_intrinsic_append(tf_context *context, tf_string *out, const tf_intrinsic *intrinsic) {
  printer p = {context, out, intrinsic->source};
  puts_to(&p, "@intrinsic");
  if (intrinsic->ptx) {
    puts_to(&p, "(ptx=");
    tf_string_quote(out, intrinsic->ptx);
    puts_to(&p, ")");
  }
  tf_string_printf(out, "\ndef %s(", intrinsic->name);
  for (unsigned i = 0; i < intrinsic->param_count; i++)
    tf_string_printf(out, "%s%s: Expr", i ? ", " : "", intrinsic->params[i].name);
  puts_to(&p, ") -> None:\n");
  if (p.source && p.source->def)
    print_conditions(&p);
  else
    puts_to(&p, "    pass\n");
}

static const char *declaration_text(tf_context *context, const tf_intrinsic *intrinsic) {
  tf_string out;
  tf_string_init(&out, &context->arena);
  tf_intrinsic_append(context, &out, intrinsic);
  return out.text;
}

/* A condition may hold a DimVar as the value of a name or spelled out: either is written out here. */
bool tf_intrinsic_equal(tf_context *context, const tf_intrinsic *a, const tf_intrinsic *b) {
  if (a == b) return true;
  const tf_printer *outer = context->printing;
  tf_printer *p = TF_ARENA_NEW(&context->arena, tf_printer);
  *p = (tf_printer){.context = context, .writes_out_all = true};
  context->printing = p;
  bool equal = strcmp(declaration_text(context, a), declaration_text(context, b)) == 0;
  context->printing = outer;
  return equal;
}
