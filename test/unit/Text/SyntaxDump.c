/* Writing syntax trees. Ranges are left out here; strings are written as hexadecimal bytes, floats as C99 hexadecimals. */
#include "SyntaxDump.h"

static void dump_all(FILE *out, unsigned count, tf_node *const *nodes) {
  for (unsigned i = 0; i < count; i++) {
    fputc(' ', out);
    syntax_dump(out, nodes[i]);
  }
}

static void dump_block(FILE *out, const tf_block_syntax *block) {
  fputs(" (block", out);
  dump_all(out, block->count, block->items);
  fputc(')', out);
}

static void dump_optional(FILE *out, const tf_node *node) {
  fputc(' ', out);
  if (node)
    syntax_dump(out, node);
  else
    fputc('-', out);
}

static void dump_string(FILE *out, const char *text) {
  fputs("(string ", out);
  for (; *text; text++)
    fprintf(out, "%02x", (unsigned char)*text);
  fputc(')', out);
}

static void dump_call(FILE *out, const tf_node *node) {
  fputs("(call ", out);
  syntax_dump(out, node->call.callee);
  dump_all(out, node->call.arg_count, node->call.args);
  for (unsigned i = 0; i < node->call.keyword_count; i++) {
    fprintf(out, " (= %s ", node->call.keywords[i].name);
    syntax_dump(out, node->call.keywords[i].value);
    fputc(')', out);
  }
  fputc(')', out);
}

static void dump_compare(FILE *out, const tf_node *node) {
  fputs("(compare", out);
  for (unsigned i = 0; i < node->compare.count; i++) {
    if (i) fprintf(out, " '%s'", tf_binary_op_spelling(node->compare.ops[i - 1]));
    fputc(' ', out);
    syntax_dump(out, node->compare.operands[i]);
  }
  fputc(')', out);
}

/* elif is an if in the else-part, as Python has it. */
static void dump_if(FILE *out, const tf_node *node, unsigned at) {
  fputs("(if ", out);
  syntax_dump(out, node->if_.clauses[at].test);
  dump_block(out, &node->if_.clauses[at].body);
  if (at + 1 < node->if_.count) {
    fputs(" (block ", out);
    dump_if(out, node, at + 1);
    fputc(')', out);
  } else {
    dump_block(out, &node->if_.otherwise);
  }
  fputc(')', out);
}

static void dump_def(FILE *out, const tf_node *node) {
  fprintf(out, "(%s %s (decorators", node->kind == TF_NODE_DEF ? "def" : "class", node->def.name);
  dump_all(out, node->def.decorator_count, node->def.decorators);
  fputc(')', out);
  for (unsigned i = 0; i < node->def.param_count; i++) {
    fprintf(out, " (param %s", node->def.params[i].name);
    dump_optional(out, node->def.params[i].annotation);
    fputc(')', out);
  }
  if (node->kind == TF_NODE_DEF) dump_optional(out, node->def.returns);
  dump_block(out, &node->def.body);
  fputc(')', out);
}

static void dump_match(FILE *out, const tf_node *node) {
  fputs("(match ", out);
  syntax_dump(out, node->match.subject);
  for (unsigned i = 0; i < node->match.count; i++) {
    fputs(" (case ", out);
    syntax_dump(out, node->match.cases[i].test);
    dump_block(out, &node->match.cases[i].body);
    fputc(')', out);
  }
  fputc(')', out);
}

static void dump_statement(FILE *out, const tf_node *node) {
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_ASSIGN:
    fprintf(out, "(assign %s ", node->assign.name);
    syntax_dump(out, node->assign.value);
    fputc(')', out);
    return;
  case TF_NODE_EXPR:
    fputs("(expr ", out);
    syntax_dump(out, node->expr);
    fputc(')', out);
    return;
  case TF_NODE_RETURN:
    fputs("(return", out);
    dump_optional(out, node->expr);
    fputc(')', out);
    return;
  case TF_NODE_PASS:
    fputs("(pass)", out);
    return;
  case TF_NODE_ASSERT:
    fputs("(assert ", out);
    syntax_dump(out, node->assert_.test);
    dump_optional(out, node->assert_.message);
    fputc(')', out);
    return;
  case TF_NODE_IMPORT:
    fputs("(import)", out);
    return;
  case TF_NODE_FOR:
  case TF_NODE_WITH:
  case TF_NODE_WHILE:
    fprintf(out, "(%s", node->kind == TF_NODE_FOR ? "for" : node->kind == TF_NODE_WITH ? "with" : "while");
    if (node->kind != TF_NODE_WHILE) fprintf(out, " %s", node->block.name);
    dump_optional(out, node->block.head);
    dump_block(out, &node->block.body);
    fputc(')', out);
    return;
  case TF_NODE_IF:
    dump_if(out, node, 0);
    return;
  case TF_NODE_MATCH:
    dump_match(out, node);
    return;
  case TF_NODE_DEF:
  case TF_NODE_CLASS:
    dump_def(out, node);
    return;
  default:
    fputs("(broken)", out);
  }
}

static void dump_list(FILE *out, const char *name, unsigned count, tf_node *const *nodes) {
  fprintf(out, "(%s", name);
  dump_all(out, count, nodes);
  fputc(')', out);
}

static void dump_compound(FILE *out, const tf_node *node) {
  static const char *const unary[] = {"neg", "pos", "invert", "not"};
  tf_node *parts[3] = {node->binary.left, node->binary.right, NULL};
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_TUPLE:
    dump_list(out, "tuple", node->list.count, node->list.items);
    return;
  case TF_NODE_AND:
  case TF_NODE_OR:
    dump_list(out, node->kind == TF_NODE_AND ? "and" : "or", node->list.count, node->list.items);
    return;
  case TF_NODE_UNARY:
    dump_list(out, unary[node->op], 1, &parts[1]);
    return;
  case TF_NODE_BINARY:
    dump_list(out, tf_binary_op_spelling(node->op), 2, parts);
    return;
  case TF_NODE_COMPARE:
    dump_compare(out, node);
    return;
  case TF_NODE_IF_EXP:
    parts[0] = node->if_exp.test;
    parts[1] = node->if_exp.then;
    parts[2] = node->if_exp.otherwise;
    dump_list(out, "ifexp", 3, parts);
    return;
  case TF_NODE_CALL:
    dump_call(out, node);
    return;
  case TF_NODE_ATTRIBUTE:
    fprintf(out, "(. %s ", node->attribute.name);
    syntax_dump(out, node->attribute.object);
    fputc(')', out);
    return;
  case TF_NODE_SUBSCRIPT:
    parts[0] = node->subscript.object;
    parts[1] = node->subscript.index;
    dump_list(out, "index", 2, parts);
    return;
  case TF_NODE_SLICE:
    fputs("(slice", out);
    dump_optional(out, node->slice.lower);
    dump_optional(out, node->slice.upper);
    dump_optional(out, node->slice.step);
    fputc(')', out);
    return;
  default:
    dump_statement(out, node);
  }
}

void syntax_dump(FILE *out, const tf_node *node) {
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_NAME:
    fputs(node->name, out);
    return;
  case TF_NODE_INT:
    fprintf(out, "%llu", (unsigned long long)node->integer);
    return;
  case TF_NODE_FLOAT:
    fprintf(out, "(float %a)", node->number);
    return;
  case TF_NODE_STRING:
    dump_string(out, node->string);
    return;
  case TF_NODE_TRUE:
  case TF_NODE_FALSE:
    fputs(node->kind == TF_NODE_TRUE ? "True" : "False", out);
    return;
  case TF_NODE_NONE:
    fputs("None", out);
    return;
  case TF_NODE_ELLIPSIS:
    fputs("...", out);
    return;
  case TF_NODE_ERROR:
    fputs("(error)", out);
    return;
  default:
    dump_compound(out, node);
  }
}
