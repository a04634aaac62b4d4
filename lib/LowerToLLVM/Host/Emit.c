/* Words, blocks, calls of the function table, variables. */
#include "LowerToLLVM/Host/Host.h"

#include <string.h>

_Static_assert(sizeof(void *) == 8, "structs of the interface are arrays of 8-byte words");

/* ---- Words ---- */
LLVMValueRef tf_host_int(const tf_host *host, int64_t value) {
  return LLVMConstInt(host->module->word, (unsigned long long)value, true);
}

void tf_host_begin(tf_host *host, const tf_stmt *stmt) {
  host->loc = stmt->loc;
  host->what = NULL;
  host->scratch_used = 0;
}

static LLVMValueRef word_address(tf_host *host, LLVMValueRef base, size_t offset) {
  if (offset == 0) return base;
  LLVMValueRef index = tf_host_int(host, (int64_t)(offset / 8));
  return LLVMBuildInBoundsGEP2(host->builder, host->module->word, base, &index, 1, "");
}

LLVMValueRef tf_host_words(tf_host *host, size_t count) {
  LLVMValueRef words = word_address(host, host->scratch, 8 * host->scratch_used);
  host->scratch_used += count;
  if (host->scratch_used > host->scratch_most) host->scratch_most = host->scratch_used;
  return words;
}

void tf_host_store(tf_host *host, LLVMValueRef base, size_t offset, LLVMValueRef value) {
  LLVMBuildStore(host->builder, value, word_address(host, base, offset));
}

LLVMValueRef tf_host_load(tf_host *host, LLVMTypeRef type, LLVMValueRef base, size_t offset) {
  return LLVMBuildLoad2(host->builder, type, word_address(host, base, offset), "");
}

/* ---- Blocks ---- */
LLVMBasicBlockRef tf_host_block(tf_host *host, const char *name) {
  return LLVMAppendBasicBlockInContext(host->module->llvm, host->llvm_function, name);
}

bool tf_host_is_terminated(const tf_host *host) {
  return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(host->builder)) != NULL;
}

void tf_host_enter(tf_host *host, LLVMBasicBlockRef block) {
  if (!tf_host_is_terminated(host)) LLVMBuildBr(host->builder, block);
  LLVMMoveBasicBlockAfter(block, LLVMGetLastBasicBlock(host->llvm_function));
  LLVMPositionBuilderAtEnd(host->builder, block);
}

/* ---- The function table ---- */
#define MAX_ARGUMENTS 8

LLVMValueRef tf_host_api(tf_host *host, size_t member, LLVMTypeRef result, bool with_call, unsigned count,
                         LLVMValueRef *arguments) {
  LLVMTypeRef types[MAX_ARGUMENTS];
  LLVMValueRef all[MAX_ARGUMENTS];
  unsigned total = 0;
  if (with_call) all[total++] = host->call;
  for (unsigned i = 0; i < count; i++)
    all[total++] = arguments[i];
  for (unsigned i = 0; i < total; i++)
    types[i] = LLVMTypeOf(all[i]);
  LLVMValueRef function = tf_host_load(host, host->module->pointer, host->api, member);
  return LLVMBuildCall2(host->builder, LLVMFunctionType(result, types, total, false), function, all, total, "");
}

/* { file, line, column } of the current statement. */
static LLVMValueRef place(tf_host *host) {
  tf_host_module *module = host->module;
  bool known = host->loc.line != 0;
  const char *file = known ? tf_context_source_name(host->context, host->loc.file) : NULL;
  LLVMValueRef fields[] = {tf_host_string(module, file), tf_host_int(host, host->loc.line),
                           tf_host_int(host, host->loc.column ? host->loc.column : 1)};
  return tf_host_constant(module, LLVMConstStructInContext(module->llvm, fields, 3, false));
}

void tf_host_return_unless_ok(tf_host *host, LLVMValueRef status) {
  LLVMBasicBlockRef failed = tf_host_block(host, "failed"), fine = tf_host_block(host, "fine");
  LLVMValueRef ok = LLVMBuildICmp(host->builder, LLVMIntEQ, status, LLVMConstNull(host->module->status), "");
  LLVMBuildCondBr(host->builder, ok, fine, failed);
  LLVMPositionBuilderAtEnd(host->builder, failed);
  LLVMBuildRet(host->builder, status);
  tf_host_enter(host, fine);
}

void tf_host_checked(tf_host *host, size_t member, unsigned count, LLVMValueRef *arguments) {
  LLVMValueRef all[MAX_ARGUMENTS];
  all[0] = place(host);
  memcpy(&all[1], arguments, count * sizeof *arguments);
  tf_host_return_unless_ok(host, tf_host_api(host, member, host->module->status, true, count + 1, all));
}

static void fail(tf_host *host, tf_compiled_fault fault, const char *what, const char *text) {
  LLVMValueRef arguments[] = {place(host), tf_host_int(host, fault), tf_host_string(host->module, what),
                              tf_host_string(host->module, text)};
  LLVMBuildRet(host->builder, tf_host_api(host, TF_HOST_MEMBER(fail), host->module->status, true, 4, arguments));
}

void tf_host_fail_if(tf_host *host, LLVMValueRef condition, tf_compiled_fault fault) {
  if (LLVMIsAConstantInt(condition) && LLVMConstIntGetZExtValue(condition) == 0) return;
  LLVMBasicBlockRef failed = tf_host_block(host, "failed"), fine = tf_host_block(host, "fine");
  LLVMBuildCondBr(host->builder, condition, failed, fine);
  LLVMPositionBuilderAtEnd(host->builder, failed);
  fail(host, fault, host->what, NULL);
  tf_host_enter(host, fine);
}

/* -fhost-abort=trap: an assertion that fails, without a message. */
void tf_host_abort(tf_host *host, const char *message) {
  if (!host->module->options->host_abort_traps) {
    fail(host, TF_COMPILED_ABORT, NULL, message ? message : "");
    return;
  }
  tf_host_intrinsic(host, "llvm.trap", 0, NULL, 0, NULL);
  LLVMBuildUnreachable(host->builder);
}

LLVMValueRef tf_host_intrinsic(tf_host *host, const char *name, unsigned type_count, LLVMTypeRef *types, unsigned count,
                               LLVMValueRef *arguments) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(host->module->llvm_module, id, types, type_count);
  return LLVMBuildCall2(host->builder, LLVMGlobalGetValueType(function), function, arguments, count, "");
}

/* ---- Variables: bindings are never shadowed, so a table by address is all ---- */
struct tf_host_slot {
  const tf_expr *var;
  tf_host_binding binding;
};

static size_t slot_of(const tf_host *host, const tf_expr *var) {
  size_t mask = host->slot_room - 1, i = (((uintptr_t)var >> 4) * 0x9E3779B97F4A7C15u >> 20) & mask;
  while (host->slots[i].var && host->slots[i].var != var)
    i = (i + 1) & mask;
  return i;
}

/* Keeps the table at most half full. */
static void grow(tf_host *host) {
  if (2 * (host->slot_count + 1) <= host->slot_room) return;
  tf_host old = *host;
  host->slot_room = old.slot_room ? 2 * old.slot_room : 64;
  host->slots = TF_ARENA_ARRAY(host->module->arena, tf_host_slot, host->slot_room);
  for (size_t i = 0; i < old.slot_room; i++)
    if (old.slots[i].var) host->slots[slot_of(host, old.slots[i].var)] = old.slots[i];
}

void tf_host_bind(tf_host *host, const tf_expr *var, tf_host_binding binding) {
  grow(host);
  size_t slot = slot_of(host, var);
  if (!host->slots[slot].var) host->slot_count++;
  host->slots[slot] = (tf_host_slot){var, binding};
}

const tf_host_binding *tf_host_find(const tf_host *host, const tf_expr *var) {
  if (!host->slot_room) return NULL;
  const tf_host_slot *slot = &host->slots[slot_of(host, var)];
  return slot->var ? &slot->binding : NULL;
}
