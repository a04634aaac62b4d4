/* --print-ops: the op table as a list or as a Markdown page. */
#include <string.h>

#include "Llc.h"

static const char *const forms[] = {"value", "effect", "scalar"};
static const char *const arities[] = {"", " (optional)", " (any number)"};

static void print_signature(FILE *file, const tf_op_info *info) {
  fprintf(file, "%s(", info->name);
  for (unsigned i = 0; i < info->operand_count; i++) {
    const tf_operand_info *operand = &info->operands[i];
    const char *before = operand->arity == TF_ARITY_VARIADIC ? "*" : "";
    const char *after = operand->arity == TF_ARITY_OPTIONAL ? "=None" : "";
    fprintf(file, "%s%s%s%s", i ? ", " : "", before, operand->name, after);
  }
  for (unsigned i = 0; i < info->attr_count; i++)
    fprintf(file, "%s%s=%s", i || info->operand_count ? ", " : "", info->attrs[i].name,
            info->attrs[i].required ? "" : "None");
  fputs(")", file);
}

static void print_list_row(FILE *file, const tf_op_info *info) {
  fprintf(file, "%-7s ", info->form <= TF_FORM_SCALAR ? forms[info->form] : "");
  print_signature(file, info);
  fprintf(file, "\n        %s\n", info->meaning);
}

static const char *binary_name(unsigned member) {
  return tf_binary_name((tf_binary_kind)member);
}
static const char *unary_name(unsigned member) {
  return tf_unary_name((tf_unary_kind)member);
}
static const char *reduce_name(unsigned member) {
  return tf_reduce_name((tf_reduce_kind)member);
}
static const char *scalar_binary_name(unsigned member) {
  return tf_scalar_binary_name((tf_scalar_binary_kind)member);
}
static const char *scalar_unary_name(unsigned member) {
  return tf_scalar_unary_name((tf_scalar_unary_kind)member);
}

/* The members of the enumeration that an attribute takes, if it takes one. */
static void print_members(FILE *file, tf_attr_kind kind) {
  static const struct {
    tf_attr_kind kind;
    unsigned count;
    const char *(*name)(unsigned member);
  } enumerations[] = {
      {TF_ATTR_BINARY, TF_BINARY_COUNT, binary_name},
      {TF_ATTR_UNARY, TF_UNARY_COUNT, unary_name},
      {TF_ATTR_REDUCE, TF_REDUCE_COUNT, reduce_name},
      {TF_ATTR_SCALAR_BINARY, TF_SCALAR_BINARY_COUNT, scalar_binary_name},
      {TF_ATTR_SCALAR_UNARY, TF_SCALAR_UNARY_COUNT, scalar_unary_name},
  };
  for (unsigned i = 0; i < sizeof enumerations / sizeof *enumerations; i++)
    for (unsigned member = 0; enumerations[i].kind == kind && member < enumerations[i].count; member++)
      fprintf(file, "%s`%s`", member ? " " : ": ", enumerations[i].name(member));
}

static void print_section(FILE *file, const tf_op_info *info) {
  fprintf(file, "### `%s`\n\n`", info->name);
  print_signature(file, info);
  fprintf(file, "`\n\n%s form: %s.\n\n", forms[info->form], info->meaning);
  if (info->operand_count + info->attr_count == 0) return;
  fputs("| name | kind | meaning |\n|---|---|---|\n", file);
  for (unsigned i = 0; i < info->operand_count; i++)
    fprintf(file, "| `%s` | operand%s | %s |\n", info->operands[i].name, arities[info->operands[i].arity],
            info->operands[i].meaning);
  for (unsigned i = 0; i < info->attr_count; i++) {
    fprintf(file, "| `%s` | attribute%s | %s", info->attrs[i].name, info->attrs[i].required ? "" : " (optional)",
            info->attrs[i].meaning);
    print_members(file, info->attrs[i].kind);
    fputs(" |\n", file);
  }
  fputs("\n", file);
}

static void print_page(FILE *file) {
  const char *family = "";
  fputs(
      "# Ops\n\nEvery op of the language, as `tf-llc --print-ops=markdown` prints them from the op table. What they "
      "mean\n"
      "together, their types and their rules are in [Language.md](Language.md).\n\n"
      "A *value* op is bound with `=`, an *effect* op is a statement of its own, a *scalar* op stands in expressions.\n"
      "Operands come first, by position; attributes are known at compile time and follow by position or by name.\n\n",
      file);
  for (unsigned op = 0; op < TF_OP_COUNT; op++) {
    const tf_op_info *info = tf_op_get_info((tf_op)op);
    if (strcmp(info->family, family) != 0) fprintf(file, "## %s\n\n", family = info->family);
    print_section(file, info);
  }
}

void llc_print_ops(FILE *file, bool markdown) {
  if (markdown) {
    print_page(file);
    return;
  }
  for (unsigned op = 0; op < TF_OP_COUNT; op++)
    print_list_row(file, tf_op_get_info((tf_op)op));
}
