/* Loads of ConstTensors behind LLVM's passes.
 *
 * They are marked invariant as they are made, and become ld.global.nc. But LLVM takes vectors apart and puts them together again,
 * and the mark is lost on the way. So every load whose address comes from a ConstTensor's pointer gets it again:
 *
 *   address  <-  getelementptr …  <-  phi, select: all of their values  <-  the parameter's pointer, which carries MARK */
#include "LowerToLLVM/ConstLoads.h"

#include <string.h>

#define MARK     "tf.const"
#define MAX_PHIS 16

typedef struct search {
  unsigned mark;
  unsigned phi_count;
  LLVMValueRef phis[MAX_PHIS]; /* met before: fine if everything else is */
} search;

static unsigned kind_of(LLVMContextRef llvm, const char *name) {
  return LLVMGetMDKindIDInContext(llvm, name, (unsigned)strlen(name));
}

static void set_mark(LLVMContextRef llvm, LLVMValueRef instruction, const char *name) {
  LLVMValueRef empty = LLVMMetadataAsValue(llvm, LLVMMDNodeInContext2(llvm, NULL, 0));
  LLVMSetMetadata(instruction, kind_of(llvm, name), empty);
}

void tf_const_mark_pointer(tf_lowering *lowering, LLVMValueRef pointer) {
  set_mark(lowering->llvm, pointer, MARK);
}

void tf_const_mark_load(tf_lowering *lowering, LLVMValueRef load) {
  set_mark(lowering->llvm, load, "invariant.load");
}

static bool is_const(search *s, LLVMValueRef address);

static bool are_const(search *s, LLVMValueRef phi) {
  for (unsigned i = 0; i < s->phi_count; i++)
    if (s->phis[i] == phi) return true;
  if (s->phi_count == MAX_PHIS) return false;
  s->phis[s->phi_count++] = phi;
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
    if (!is_const(s, LLVMGetIncomingValue(phi, i))) return false;
  return true;
}

static bool is_const(search *s, LLVMValueRef address) {
  while (LLVMIsAGetElementPtrInst(address))
    address = LLVMGetOperand(address, 0);
  if (LLVMIsAPHINode(address)) return are_const(s, address);
  if (LLVMIsASelectInst(address))
    return is_const(s, LLVMGetOperand(address, 1)) && is_const(s, LLVMGetOperand(address, 2));
  return LLVMIsACallInst(address) && LLVMGetMetadata(address, s->mark);
}

void tf_const_restore_loads(LLVMModuleRef module) {
  LLVMContextRef llvm = LLVMGetModuleContext(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at)) {
        search s = {.mark = kind_of(llvm, MARK)};
        if (LLVMIsALoadInst(at) && is_const(&s, LLVMGetOperand(at, 0))) set_mark(llvm, at, "invariant.load");
      }
}
