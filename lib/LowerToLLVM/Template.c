/* Statements of an @intrinsic that carries PTX: {name} stands for the argument of that name, a scalar in a register of its
 * dtype or a tensor's address. Without PTX the statement is for its conditions only. */
#include "LowerToLLVM/Access.h"
#include "LowerToLLVM/Intrinsics.h"

#include <string.h>

/* The parameter named between '{' and '}', or -1: other braces are PTX's own. */
static int param_at(const tf_intrinsic *decl, const char *open, const char **end) {
  const char *close = strchr(open, '}');
  for (unsigned i = 0; close && i < decl->param_count; i++) {
    size_t length = strlen(decl->params[i].name);
    if ((size_t)(close - open - 1) == length && strncmp(open + 1, decl->params[i].name, length) == 0) {
      *end = close + 1;
      return (int)i;
    }
  }
  return -1;
}

/* LLVM's spelling of the template: $0, $1, … and $$ for a dollar. */
static const char *asm_text(tf_lowering *lowering, const tf_intrinsic *decl) {
  tf_string text;
  tf_string_init(&text, lowering->arena);
  for (const char *at = decl->ptx; *at;) {
    const char *end = at + 1;
    int param = *at == '{' ? param_at(decl, at, &end) : -1;
    if (param >= 0)
      tf_string_printf(&text, "$%d", param);
    else
      tf_string_puts(&text, *at == '$' ? "$$" : (char[2]){*at, 0});
    at = end;
  }
  return text.text;
}

static const char *constraint_of(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMFloatTypeKind:
    return "f";
  case LLVMDoubleTypeKind:
    return "d";
  case LLVMHalfTypeKind:
  case LLVMBFloatTypeKind:
    return "h";
  case LLVMIntegerTypeKind:
    return LLVMGetIntTypeWidth(type) == 64 ? "l" : LLVMGetIntTypeWidth(type) == 16 ? "h" : "r";
  default:
    return "l";
  }
}

static LLVMValueRef operand(tf_lowering *lowering, const tf_expr *arg) {
  if (!tf_is_scalar(arg)) {
    tf_tensor tensor = tf_tensor_of(lowering, arg);
    int64_t divisor;
    return tf_tensor_pointer(lowering, &tensor, tf_tensor_start(lowering, &tensor, &divisor), 0);
  }
  LLVMValueRef value = tf_lower_scalar(lowering, arg);
  LLVMTypeRef type = LLVMTypeOf(value);
  bool narrow = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 16;
  return narrow ? LLVMBuildZExt(lowering->builder, value, tf_llvm_int(lowering, 32), "") : value;
}

void tf_lower_template(tf_lowering *lowering, const tf_stmt *stmt) {
  const tf_intrinsic *decl = stmt->intrinsic.decl;
  if (!decl->ptx) return;
  LLVMValueRef args[64];
  tf_string constraints;
  tf_string_init(&constraints, lowering->arena);
  for (unsigned i = 0; i < stmt->intrinsic.arg_count && i < 64; i++) {
    args[i] = operand(lowering, stmt->intrinsic.args[i]);
    tf_string_printf(&constraints, "%s,", constraint_of(LLVMTypeOf(args[i])));
  }
  tf_string_puts(&constraints, "~{memory}");
  tf_lower_asm(lowering, NULL, asm_text(lowering, decl), constraints.text, stmt->intrinsic.arg_count, args, TF_ASM_CONVERGENT);
}
