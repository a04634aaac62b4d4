/* A dim is a sum of products of atoms; it is emitted as such, modulo 2^32 or 2^64. Operands of divisions and extrema need
 * their exact value: they are computed in 32 bits only if their range fits. */
#include "LowerToLLVM/Dims.h"

#include <string.h>

#include "IR/DimImpl.h"
#include "LowerToLLVM/IntMath.h"

static LLVMValueRef emit_dim(tf_lowering *lowering, const tf_dim_frame *frame, const tf_dim *dim, unsigned bits);

/* The value of a name, resolved through the callers' frames. Verified kernels have all of their names. */
static LLVMValueRef emit_var(tf_lowering *lowering, const tf_dim_frame *frame, const tf_atom *atom, unsigned bits) {
  for (unsigned i = 0; frame && i < frame->count; i++) {
    const tf_dim_entry *entry = &frame->entries[i];
    if (strcmp(entry->name, atom->name) != 0) continue;
    if (entry->outer) return emit_dim(lowering, frame->caller, entry->outer, bits);
    return tf_emit_resize(lowering, entry->value, bits, tf_facts_range(0, INT32_MAX));
  }
  return LLVMGetPoison(tf_llvm_int(lowering, bits));
}

/* Width in which all operands are exact. */
static unsigned exact_bits(const tf_atom *atom) {
  for (unsigned i = 0; i < atom->count; i++)
    if (!tf_facts_fit(tf_facts_of_dim(atom->operands[i]), 32)) return 64;
  return 32;
}

static LLVMValueRef emit_extremum(tf_lowering *lowering, const tf_dim_frame *frame, const tf_atom *atom,
                                  unsigned bits) {
  LLVMIntPredicate better = atom->kind == TF_ATOM_MIN ? LLVMIntSLT : LLVMIntSGT;
  LLVMValueRef best = emit_dim(lowering, frame, atom->operands[0], bits);
  for (unsigned i = 1; i < atom->count; i++) {
    LLVMValueRef other = emit_dim(lowering, frame, atom->operands[i], bits);
    best =
        LLVMBuildSelect(lowering->builder, LLVMBuildICmp(lowering->builder, better, best, other, ""), best, other, "");
  }
  return best;
}

static LLVMValueRef emit_atom(tf_lowering *lowering, const tf_dim_frame *frame, const tf_atom *atom, unsigned bits) {
  if (atom->kind == TF_ATOM_VAR) return emit_var(lowering, frame, atom, bits);
  unsigned exact = exact_bits(atom);
  LLVMValueRef value;
  if (atom->kind == TF_ATOM_MIN || atom->kind == TF_ATOM_MAX) {
    value = emit_extremum(lowering, frame, atom, exact);
  } else {
    LLVMValueRef a = emit_dim(lowering, frame, atom->operands[0], exact);
    LLVMValueRef b = emit_dim(lowering, frame, atom->operands[1], exact);
    tf_int_facts fa = tf_facts_of_dim(atom->operands[0]), fb = tf_facts_of_dim(atom->operands[1]);
    value = atom->kind == TF_ATOM_FLOOR_DIV ? tf_emit_floor_div(lowering, a, b, fa, fb)
                                            : tf_emit_floor_mod(lowering, a, b, fa, fb);
  }
  return tf_emit_resize(lowering, value, bits, tf_facts_range(atom->min, atom->max));
}

static LLVMValueRef emit_term(tf_lowering *lowering, const tf_dim_frame *frame, const tf_term *term, unsigned bits) {
  LLVMTypeRef type = tf_llvm_int(lowering, bits);
  LLVMValueRef product = LLVMConstInt(type, (unsigned long long)term->coefficient, true);
  for (unsigned i = 0; i < term->monomial->degree; i++)
    product = LLVMBuildMul(lowering->builder, product, emit_atom(lowering, frame, term->monomial->atoms[i], bits), "");
  return product;
}

static LLVMValueRef emit_dim(tf_lowering *lowering, const tf_dim_frame *frame, const tf_dim *dim, unsigned bits) {
  LLVMValueRef sum = LLVMConstInt(tf_llvm_int(lowering, bits), (unsigned long long)dim->constant, true);
  for (unsigned i = 0; i < dim->term_count; i++)
    sum = LLVMBuildAdd(lowering->builder, sum, emit_term(lowering, frame, &dim->terms[i], bits), "");
  return sum;
}

static LLVMValueRef dim_value(tf_lowering *lowering, const tf_dim *dim, unsigned bits) {
  int64_t constant;
  if (tf_dim_is_static(dim, &constant))
    return LLVMConstInt(tf_llvm_int(lowering, bits), (unsigned long long)constant, true);
  LLVMBuilderRef builder = lowering->builder;
  lowering->builder = lowering->entry_builder;
  LLVMValueRef value = emit_dim(lowering, lowering->dims, dim, bits);
  lowering->builder = builder;
  return value;
}

LLVMValueRef tf_lower_dim(tf_lowering *lowering, const tf_dim *dim) {
  return dim_value(lowering, dim, 64);
}

LLVMValueRef tf_lower_dim32(tf_lowering *lowering, const tf_dim *dim) {
  return dim_value(lowering, dim, 32);
}

/* ---- Frames of inlined calls ---- */
typedef struct frame_builder {
  tf_lowering *lowering;
  tf_dim_frame *frame;
  const tf_dim *extent, *argument;
} frame_builder;

/* extent is V or c*V: V stands for the argument's extent divided by c. */
static void add_entry(void *user, const char *name, int64_t lo, int64_t hi) {
  frame_builder *builder = user;
  (void)lo, (void)hi;
  tf_dim_frame *frame = builder->frame;
  for (unsigned i = 0; i < frame->count; i++)
    if (strcmp(frame->entries[i].name, name) == 0) return;
  const tf_dim *extent = builder->extent;
  if (extent->term_count != 1 || extent->constant != 0 || extent->terms[0].monomial->degree != 1) return;
  const tf_dim *factor = tf_dim_int(builder->lowering->context, extent->terms[0].coefficient);
  const tf_dim *outer = tf_dim_binary(builder->lowering->context, TF_DIM_FLOOR_DIV, builder->argument, factor);
  frame->entries[frame->count++] = (tf_dim_entry){.name = name, .outer = outer};
}

static unsigned count_extents(const tf_stmt *callee) {
  unsigned count = 0;
  for (unsigned i = 0; i < callee->function.param_count; i++)
    count += tf_type_rank(callee->function.params[i]->type);
  return count;
}

const tf_dim_frame *tf_dim_frame_of_call(tf_lowering *lowering, const tf_stmt *callee, const tf_expr *const *args) {
  tf_dim_frame *frame = TF_ARENA_NEW(lowering->arena, tf_dim_frame);
  frame->caller = lowering->dims;
  frame->entries = TF_ARENA_ARRAY(lowering->arena, tf_dim_entry, count_extents(callee) + 1);
  for (unsigned i = 0; i < callee->function.param_count; i++) {
    const tf_type *type = callee->function.params[i]->type;
    for (unsigned axis = 0; axis < tf_type_rank(type); axis++) {
      frame_builder builder = {lowering, frame, tf_type_extent(type, axis), tf_type_extent(args[i]->type, axis)};
      tf_dim_visit_vars(builder.extent, add_entry, &builder);
    }
  }
  return frame;
}
