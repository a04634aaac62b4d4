/* --print-ops: the op table as a list or as a Markdown page. */
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

static void print_section(FILE *file, const tf_op_info *info) {
  fprintf(file, "## `%s`\n\n`", info->name);
  print_signature(file, info);
  fprintf(file, "`\n\n%s form, family %s: %s.\n\n", forms[info->form], info->family, info->meaning);
  if (info->operand_count + info->attr_count == 0) return;
  fputs("| name | kind | meaning |\n|---|---|---|\n", file);
  for (unsigned i = 0; i < info->operand_count; i++)
    fprintf(file, "| `%s` | operand%s | %s |\n", info->operands[i].name, arities[info->operands[i].arity],
            info->operands[i].meaning);
  for (unsigned i = 0; i < info->attr_count; i++)
    fprintf(file, "| `%s` | attribute%s | %s |\n", info->attrs[i].name, info->attrs[i].required ? "" : " (optional)",
            info->attrs[i].meaning);
  fputs("\n", file);
}

void llc_print_ops(FILE *file, bool markdown) {
  if (markdown) fputs("# Ops\n\n", file);
  for (unsigned op = 0; op < TF_OP_COUNT; op++) {
    const tf_op_info *info = tf_op_get_info((tf_op)op);
    if (markdown)
      print_section(file, info);
    else
      print_list_row(file, info);
  }
}
