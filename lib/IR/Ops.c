/* The op table as data: what Ops.def says of each op, for everything that treats ops alike (parser, printer, builder,
 * operand checks, generated documentation). */
#include <tilefoundry/IR.h>

#include <string.h>

/* One array of operands and one of attributes per op. The closing empty entry keeps arrays of ops without any legal. */
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) static const tf_operand_info operands_##ID[] = {
#define TF_OPERAND(ID, NAME, PREDICATE, MEANING)  {#NAME, TF_PRED_##PREDICATE, TF_ARITY_REQUIRED, MEANING},
#define TF_OPTIONAL(ID, NAME, PREDICATE, MEANING) {#NAME, TF_PRED_##PREDICATE, TF_ARITY_OPTIONAL, MEANING},
#define TF_VARIADIC(ID, NAME, PREDICATE, MEANING) {#NAME, TF_PRED_##PREDICATE, TF_ARITY_VARIADIC, MEANING},
#define TF_OP_END(ID)                                                                                                  \
  { NULL, TF_PRED_TENSOR, TF_ARITY_REQUIRED, NULL }                                                                    \
  }                                                                                                                    \
  ;
#include <tilefoundry/Ops.def>

#define IS_REQUIRED_REQUIRED                      true
#define IS_REQUIRED_NONE                          false
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) static const tf_attr_info attrs_##ID[] = {
#define TF_ATTR(ID, NAME, KIND, DEFAULT, MEANING) {#NAME, TF_ATTR_##KIND, IS_REQUIRED_##DEFAULT, MEANING},
#define TF_OP_END(ID)                                                                                                  \
  { NULL, TF_ATTR_INT, false, NULL }                                                                                   \
  }                                                                                                                    \
  ;
#include <tilefoundry/Ops.def>

#define ENTRIES(array) ((unsigned)(sizeof(array) / sizeof *(array)) - 1)

static const tf_op_info infos[] = {
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING)                                                                      \
  {SURFACE, TF_FORM_##FORM, #FAMILY, MEANING, ENTRIES(operands_##ID), ENTRIES(attrs_##ID), operands_##ID, attrs_##ID},
#include <tilefoundry/Ops.def>
};

const tf_op_info *tf_op_get_info(tf_op op) {
  return (unsigned)op < TF_OP_COUNT ? &infos[op] : NULL;
}

bool tf_op_from_name(const char *surface, tf_op *out) {
  for (unsigned op = 0; surface && op < TF_OP_COUNT; op++) {
    if (strcmp(infos[op].name, surface) != 0) continue;
    if (out) *out = (tf_op)op;
    return true;
  }
  return false;
}
