/* From an op to its lowering function: three tables generated from the op table, one per form. */
#include "LowerToLLVM/Lowering.h"

typedef union lower_fn {
  tf_lower_value_fn *value;
  tf_lower_effect_fn *effect;
  tf_lower_scalar_fn *scalar;
} lower_fn;

static const lower_fn table[TF_OP_COUNT] = {
#define TF_ENTRY_VALUE(ID)                        {.value = tf_lower_##ID},
#define TF_ENTRY_EFFECT(ID)                       {.effect = tf_lower_##ID},
#define TF_ENTRY_SCALAR(ID)                       {.scalar = tf_lower_##ID},
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) TF_ENTRY_##FORM(ID)
#include <tilefoundry/Ops.def>
};

LLVMValueRef tf_lower_scalar_call(tf_lowering *lowering, const tf_expr *call) {
  return table[call->call.op].scalar(lowering, call);
}

void tf_lower_value_call(tf_lowering *lowering, const tf_expr *var, const tf_expr *call) {
  tf_invocation invocation = tf_invocation_of_call(call);
  table[call->call.op].value(lowering, var, &invocation);
}

void tf_lower_effect(tf_lowering *lowering, const tf_stmt *evaluate) {
  tf_invocation invocation = tf_invocation_of_evaluate(evaluate);
  table[invocation.op].effect(lowering, &invocation);
}
