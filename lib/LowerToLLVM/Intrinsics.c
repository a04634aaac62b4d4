/* Calls of device intrinsics with their requirements checked; see Intrinsics.h. */
#include "LowerToLLVM/Intrinsics.h"

#include <string.h>

#define CONVERGENT 1

typedef struct intrinsic_row {
  const char *name, *result, *params;
  unsigned sm;
  char suffix;
  unsigned ptx, flags;
} intrinsic_row;

static const intrinsic_row table[TF_INTRINSIC_COUNT] = {
#define TF_INTRINSIC(ID, NAME, RESULT, PARAMS, MIN_SM, SUFFIX, MIN_PTX, FLAGS)                                         \
  {NAME, RESULT, PARAMS, MIN_SM, SUFFIX, MIN_PTX, FLAGS},
#include "LowerToLLVM/Intrinsics.def"
};

static LLVMTypeRef type_of_letter(const tf_lowering *lowering, char letter) {
  LLVMContextRef llvm = lowering->llvm;
  switch (letter) {
  case 'v':
    return LLVMVoidTypeInContext(llvm);
  case 'b':
    return LLVMInt1TypeInContext(llvm);
  case 's':
    return LLVMInt16TypeInContext(llvm);
  case 'i':
    return LLVMInt32TypeInContext(llvm);
  case 'l':
    return LLVMInt64TypeInContext(llvm);
  case 'f':
    return LLVMFloatTypeInContext(llvm);
  case 'h':
    return LLVMHalfTypeInContext(llvm);
  case 'y':
    return LLVMBFloatTypeInContext(llvm);
  case 'H':
    return LLVMVectorType(LLVMHalfTypeInContext(llvm), 2);
  case 'Y':
    return LLVMVectorType(LLVMBFloatTypeInContext(llvm), 2);
  case '3':
    return LLVMPointerTypeInContext(llvm, TF_SPACE_SHARED);
  case '1':
    return LLVMPointerTypeInContext(llvm, TF_SPACE_GLOBAL);
  default:
    return LLVMPointerTypeInContext(llvm, TF_SPACE_GENERIC);
  }
}

/* ---- Requirements ---- */
/* Without a suffix any later architecture has it; with 'a' only the very one with it, with 'f' its family. */
bool tf_target_has(const tf_target *target, unsigned sm, char suffix) {
  unsigned have = tf_target_sm(target);
  char variant = tf_target_suffix(target);
  if (suffix == 0) return have >= sm;
  if (suffix == 'a') return have == sm && variant == 'a';
  return variant != 0 && have / 10 == sm / 10 && have >= sm;
}

static void note_ptx(tf_lowering *lowering, unsigned ptx) {
  if (lowering->module->ptx_version < ptx) lowering->module->ptx_version = ptx;
}

/* Whether the last report was this one at this statement: one message for all of its lanes and copies. Notes it otherwise. */
static bool is_reported(tf_lowering *lowering, const char *what) {
  tf_module_lowering *module = lowering->module;
  bool same = module->missing && strcmp(module->missing, what) == 0 && module->missing_loc.file == lowering->loc.file &&
              module->missing_loc.line == lowering->loc.line && module->missing_loc.column == lowering->loc.column;
  module->missing = what;
  module->missing_loc = lowering->loc;
  return same;
}

bool tf_lower_require(tf_lowering *lowering, const char *what, unsigned sm, char suffix, unsigned ptx) {
  const tf_target *target = lowering->module->target;
  if (tf_target_has(target, sm, suffix)) {
    note_ptx(lowering, ptx);
    return true;
  }
  if (!is_reported(lowering, what)) {
    char suffix_text[2] = {suffix, 0};
    tf_report(lowering->context, lowering->loc, LOWER_TARGET, what, sm, suffix_text, tf_target_name(target));
  }
  tf_lower_fail(lowering);
  return false;
}

bool tf_lower_has_intrinsic(const tf_lowering *lowering, tf_intrinsic_id id) {
  return tf_target_has(lowering->module->target, table[id].sm, table[id].suffix);
}

/* ---- Calls ---- */
static void mark(tf_lowering *lowering, LLVMValueRef call, const char *attribute) {
  unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
  LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(lowering->llvm, kind, 0));
}

/* The overloaded rows take the result's type. */
static LLVMValueRef declare(tf_lowering *lowering, const intrinsic_row *row, LLVMTypeRef result) {
  unsigned id = LLVMLookupIntrinsicID(row->name, strlen(row->name));
  unsigned overloads = LLVMIntrinsicIsOverloaded(id) ? 1 : 0;
  return LLVMGetIntrinsicDeclaration(lowering->llvm_module, id, &result, overloads);
}

LLVMValueRef tf_lower_intrinsic(tf_lowering *lowering, tf_intrinsic_id id, const char *what, unsigned count,
                                LLVMValueRef *args) {
  const intrinsic_row *row = &table[id];
  LLVMTypeRef result = type_of_letter(lowering, row->result[0]);
  if (!tf_lower_require(lowering, what, row->sm, row->suffix, row->ptx))
    return row->result[0] == 'v' ? NULL : LLVMGetPoison(result);
  LLVMValueRef function = declare(lowering, row, result);
  LLVMValueRef call = LLVMBuildCall2(lowering->builder, LLVMGlobalGetValueType(function), function, args, count, "");
  if (row->flags & CONVERGENT) mark(lowering, call, "convergent");
  return call;
}

LLVMValueRef tf_lower_llvm_intrinsic(tf_lowering *lowering, const char *name, unsigned overload_count,
                                     LLVMTypeRef *overloads, unsigned count, LLVMValueRef *args) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(lowering->llvm_module, id, overloads, overload_count);
  return LLVMBuildCall2(lowering->builder, LLVMGlobalGetValueType(function), function, args, count, "");
}

LLVMValueRef tf_lower_asm(tf_lowering *lowering, LLVMTypeRef result, const char *text, const char *constraints,
                          unsigned count, LLVMValueRef *args, tf_asm_kind kind) {
  LLVMTypeRef params[64];
  for (unsigned i = 0; i < count && i < 64; i++)
    params[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type = LLVMFunctionType(result ? result : LLVMVoidTypeInContext(lowering->llvm), params, count, false);
  LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), kind != TF_ASM_PURE,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(lowering->builder, type, code, args, count, "");
  if (kind == TF_ASM_CONVERGENT) mark(lowering, call, "convergent");
  static const char *const pure[] = {"memory", "nounwind", "willreturn"}; /* memory of 0: none */
  for (size_t i = 0; kind == TF_ASM_PURE && i < sizeof pure / sizeof *pure; i++)
    mark(lowering, call, pure[i]);
  return call;
}

bool tf_intrinsic_is_known(LLVMContextRef llvm, LLVMModuleRef module, tf_intrinsic_id id, const char **name) {
  tf_lowering lowering = {.llvm = llvm, .llvm_module = module};
  const intrinsic_row *row = &table[id];
  LLVMTypeRef params[8], result = type_of_letter(&lowering, row->result[0]);
  unsigned count = (unsigned)strlen(row->params);
  *name = row->name;
  if (LLVMLookupIntrinsicID(row->name, strlen(row->name)) == 0) return false;
  for (unsigned i = 0; i < count; i++)
    params[i] = type_of_letter(&lowering, row->params[i]);
  return LLVMGlobalGetValueType(declare(&lowering, row, result)) == LLVMFunctionType(result, params, count, false);
}
