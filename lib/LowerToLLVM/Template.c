/* Statements of an @intrinsic: a callback of C emits them, or a PTX template. Without either the statement is for its conditions
 * only.
 *
 *   operand   scalar              its value; in a template a register of its dtype (8-bit ones extended to 32 bits), an integer
 *                                 constant as an immediate
 *             tensor              the address of the first element that this thread sees, in the storage's own space */
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Intrinsics.h"

#include <tilefoundry/Intrinsic.h>

/* LLVM's spelling of the template: $0, $1, … and $$ for a dollar. */
static const char *asm_text(tf_lowering *lowering, const tf_intrinsic *decl) {
  tf_string text;
  tf_string_init(&text, lowering->arena);
  for (const char *at = decl->ptx; *at;) {
    size_t length = 1;
    int param = *at == '{' ? tf_template_param(decl, at, &length) : -1;
    if (param >= 0)
      tf_string_printf(&text, "$%d", param);
    else
      tf_string_puts(&text, *at == '$' ? "$$" : (char[2]){*at, 0});
    at += param >= 0 ? length : 1;
  }
  return text.text;
}

static const char *constraint_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMIsAConstantInt(value)) return "n";
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

/* ---- Operands ---- */
static LLVMValueRef address_of(tf_lowering *lowering, const tf_expr *arg) {
  tf_tensor tensor = tf_tensor_of(lowering, arg);
  tf_driver driver;
  tf_access access;
  int64_t divisor;
  tf_lower_note_address(lowering, &tensor);
  if (tf_driver_of(lowering, &tensor, &driver) && driver.count != 0 &&
      tf_access_of(lowering, &tensor, &driver, &access))
    return tf_access_address(lowering, &access, 0);
  return tf_tensor_pointer(lowering, &tensor, tf_tensor_start(lowering, &tensor, &divisor), 0);
}

/* Null for a mesh, which is for the conditions and the callback alone. */
static LLVMValueRef operand(tf_lowering *lowering, const tf_expr *arg) {
  if (!tf_type_is_tensor(arg->type)) return NULL;
  return tf_is_scalar(arg) ? tf_lower_scalar(lowering, arg) : address_of(lowering, arg);
}

/* PTX has no registers of 8 bits or less. */
static LLVMValueRef in_register(tf_lowering *lowering, LLVMValueRef value, const tf_expr *arg) {
  LLVMTypeRef type = LLVMTypeOf(value), word = tf_llvm_int(lowering, 32);
  bool narrow = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 16;
  if (!narrow) return value;
  bool is_signed = tf_dtype_get_class(tf_type_dtype(arg->type)) == TF_CLASS_SINT;
  return is_signed ? LLVMBuildSExt(lowering->builder, value, word, "")
                   : LLVMBuildZExt(lowering->builder, value, word, "");
}

/* ---- The two ways ---- */
static void emit_template(tf_lowering *lowering, const tf_stmt *stmt, LLVMValueRef *operands) {
  unsigned count = stmt->intrinsic.arg_count;
  tf_string constraints;
  tf_string_init(&constraints, lowering->arena);
  for (unsigned i = 0; i < count; i++) {
    operands[i] = operands[i] ? in_register(lowering, operands[i], stmt->intrinsic.args[i]) : tf_llvm_i32(lowering, 0);
    tf_string_printf(&constraints, "%s,", constraint_of(operands[i]));
  }
  tf_string_puts(&constraints, "~{memory}");
  const char *text = asm_text(lowering, stmt->intrinsic.decl);
  tf_lower_asm(lowering, NULL, text, constraints.text, count, operands, TF_ASM_CONVERGENT);
}

/* Where lowering can go on: a block of this function that is still open. */
static bool builder_is_in_place(const tf_lowering *lowering) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(lowering->builder);
  return block && LLVMGetBasicBlockParent(block) == lowering->llvm_function && !LLVMGetBasicBlockTerminator(block);
}

static void call_back(tf_lowering *lowering, const tf_stmt *stmt, LLVMValueRef *operands) {
  const tf_intrinsic *decl = stmt->intrinsic.decl;
  tf_intrinsic_lowering at = {.size = sizeof at,
                              .use = stmt,
                              .target = lowering->module->target,
                              .module = lowering->llvm_module,
                              .builder = lowering->builder,
                              .operand_count = stmt->intrinsic.arg_count,
                              .operands = operands};
  tf_status status = decl->lower(decl->user, &at);
  const char *target = tf_target_name(lowering->module->target);
  if (status != TF_OK)
    tf_report(lowering->context, lowering->loc, LOWER_CALLBACK, decl->name, target, tf_status_name(status));
  else if (!builder_is_in_place(lowering))
    tf_report(lowering->context, lowering->loc, LOWER_CALLBACK_PLACE, decl->name);
  else
    return;
  tf_lower_fail(lowering);
  if (!builder_is_in_place(lowering))
    LLVMPositionBuilderAtEnd(lowering->builder, tf_lower_new_block(lowering, "after"));
}

void tf_lower_template(tf_lowering *lowering, const tf_stmt *stmt) {
  const tf_intrinsic *decl = stmt->intrinsic.decl;
  unsigned count = stmt->intrinsic.arg_count;
  if (!decl->ptx && !decl->lower) return;
  LLVMValueRef *operands = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, count);
  for (unsigned i = 0; i < count; i++)
    operands[i] = operand(lowering, stmt->intrinsic.args[i]);
  if (decl->lower)
    call_back(lowering, stmt, operands);
  else
    emit_template(lowering, stmt, operands);
}
