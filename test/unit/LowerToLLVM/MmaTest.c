/* The atom table against LLVM's own declarations of the matrix instructions: registers in and out, and their widths. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "Harness.h"
#include "IR/MmaAtom.h"

static unsigned bits_of(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind:
    return LLVMGetIntTypeWidth(type);
  case LLVMFloatTypeKind:
    return 32;
  case LLVMDoubleTypeKind:
    return 64;
  case LLVMHalfTypeKind:
  case LLVMBFloatTypeKind:
    return 16;
  case LLVMVectorTypeKind:
    return LLVMGetVectorSize(type) * bits_of(LLVMGetElementType(type));
  default:
    ck_abort_msg("unexpected type");
    return 0;
  }
}

/* Registers that the operand's values fill, each of 32 bits or of one value's 64. */
static unsigned register_count(const tf_mma_atom *atom, char operand, unsigned *bits) {
  const unsigned char *order = NULL;
  unsigned values = tf_mma_atom_registers(atom, operand, &order),
           width = tf_dtype_bits(tf_mma_atom_dtype(atom, operand));
  *bits = width > 32 ? width : 32;
  ck_assert_uint_eq(values * width % *bits, 0);
  return values * width / *bits;
}

/* Every lane holds rows * columns / 32 values, each once. */
static void check_order(const tf_mma_atom *atom, char operand) {
  const unsigned char *order = NULL;
  int64_t rows, columns;
  unsigned values = tf_mma_atom_registers(atom, operand, &order), seen = 0;
  tf_mma_atom_matrix(atom, operand, &rows, &columns);
  ck_assert_int_eq(values, rows * columns / 32);
  for (unsigned i = 0; i < values; i++)
    seen |= 1u << order[i];
  ck_assert_uint_eq(seen, (1u << values) - 1);
}

START_TEST(test_declarations) {
  LLVMContextRef llvm = LLVMContextCreate();
  tf_context *context = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  unsigned atoms = 0;
  for (; tf_mma_atom_known_name(atoms); atoms++) {
    const tf_mma_atom *atom = tf_mma_atom_get(context, tf_mma_atom_known_name(atoms));
    const char *name = tf_mma_atom_intrinsic(atom);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    ck_assert_msg(id != 0, "%s: LLVM does not know %s", tf_mma_atom_name(atom), name);
    LLVMTypeRef type = LLVMIntrinsicGetType(llvm, id, NULL, 0), params[64], results[64];
    unsigned count = LLVMCountParamTypes(type), next = 0, bits = 0;
    ck_assert_uint_le(count, 64);
    LLVMGetParamTypes(type, params);
    for (const char *operand = "ABC"; *operand; operand++) {
      check_order(atom, *operand);
      for (unsigned left = register_count(atom, *operand, &bits); left > 0; left--, next++) {
        ck_assert_msg(next < count, "%s: too many registers", tf_mma_atom_name(atom));
        ck_assert_msg(bits_of(params[next]) == bits, "%s: parameter %u", tf_mma_atom_name(atom), next);
      }
    }
    ck_assert_msg(next == count, "%s: %u registers, %u parameters", tf_mma_atom_name(atom), next, count);
    unsigned outputs = register_count(atom, 'C', &bits);
    ck_assert_uint_eq(LLVMCountStructElementTypes(LLVMGetReturnType(type)), outputs);
    LLVMGetStructElementTypes(LLVMGetReturnType(type), results);
    for (unsigned i = 0; i < outputs; i++)
      ck_assert_uint_eq(bits_of(results[i]), bits);
  }
  ck_assert_uint_ge(atoms, 22);
  tf_context_destroy(context);
  LLVMContextDispose(llvm);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("atoms");
  tcase_add_test(tcase, test_declarations);
  return run_case("mma", tcase);
}
