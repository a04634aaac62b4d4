/* mma on register fragments.
 *
 * An operand of a tile is, for one warp, a grid of the instruction's fragments:
 *
 *     A (M/wm x K)                B (K x N/wn)            acc (M/wm x N/wn)
 *     +----+----+                 +---+---+---+           +---+---+---+
 *     |0,0 |0,1 |  each cell      |0,0|0,1|0,2|           |0,0|0,1|0,2|      acc(i,j) += A(i,k) * B(k,j)
 *     +----+----+  is one         +---+---+---+           +---+---+---+
 *     |1,0 |1,1 |  fragment       |1,0|1,1|1,2|           |1,0|1,1|1,2|
 *     +----+----+                 +---+---+---+           +---+---+---+
 *
 * Where a fragment's values lie among a thread's registers follows from the ownership alone: the operand's elements of
 * lane 0 in warp 0 are looked up by logical index, and every other thread holds its own at the same numbers. So a tile,
 * a window of stacked fragments and a lone fragment are one case.
 *
 * Values narrower than 32 bits travel packed, lower numbers in the lower bits. */
#include "LowerToLLVM/Mma.h"

#include <string.h>

#include "IR/Construct.h"
#include "IR/MmaAtom.h"
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Intrinsics.h"

#define MAX_REGISTERS 32 /* of one instruction, all operands */

typedef struct fragments {
  tf_tensor tensor;
  int64_t rows, columns;  /* grid of fragments */
  unsigned values;        /* of one fragment in one thread */
  const int32_t *numbers; /* [rows][columns][values]: register numbers in the instruction's order */
  bool interleaved;       /* B: columns of two neighbouring fragments are; see Mma.h */
} fragments;

/* ---- Which registers ---- */

/* Local number by logical index, for lane 0 of warp 0; -1 where that thread holds nothing. */
static int32_t *local_numbers(tf_arena *arena, const tf_ownership *ownership, int64_t elements) {
  int64_t coordinates[TF_MAX_MESH_AXES] = {0}, count = tf_ownership_local_numel(ownership);
  int64_t *logical = TF_ARENA_ARRAY(arena, int64_t, count);
  int32_t *numbers = TF_ARENA_ARRAY(arena, int32_t, elements);
  for (int64_t i = 0; i < elements; i++)
    numbers[i] = -1;
  tf_ownership_enumerate(ownership, coordinates, logical);
  for (int64_t i = 0; i < count; i++)
    numbers[logical[i]] = (int32_t)i;
  return numbers;
}

/* Logical indices of lane 0's values of the instruction's operand, in the instruction's order. */
static unsigned instruction_values(tf_lowering *lowering, const tf_mma_atom *atom, char operand, int64_t *logical) {
  tf_context *context = lowering->context;
  int64_t rows, columns, coordinates[2] = {0, 0}, local[MAX_REGISTERS];
  tf_mma_atom_matrix(atom, operand, &rows, &columns);
  const tf_dim *shape[2] = {tf_dim_int(context, rows), tf_dim_int(context, columns)};
  const tf_type *type = tf_type_tensor(context, 2, shape, tf_mma_atom_dtype(atom, operand),
                                       tf_mma_atom_layout(atom, operand), TF_STORAGE_RMEM);
  const tf_ownership *ownership = NULL;
  const char *reason = NULL;
  const unsigned char *order = NULL;
  if (tf_ownership_of(context, type, NULL, &ownership, &reason) != TF_OK) return 0;
  tf_ownership_enumerate(ownership, coordinates, local);
  unsigned count = tf_mma_atom_registers(atom, operand, &order);
  for (unsigned i = 0; i < count; i++)
    logical[i] = local[order[i]];
  return count;
}

/* Extent of the matrix, the last two axes: 0 rows, 1 columns. */
static int64_t matrix_extent(const tf_type *type, unsigned which) {
  int64_t value = 0;
  tf_dim_is_static(tf_type_extent(type, tf_type_rank(type) - 2 + which), &value);
  return value;
}

/* The grid of fragments of an operand in registers; `warps` are the parts that the mesh cuts rows and columns into. */
static fragments fragments_of(tf_lowering *lowering, const tf_expr *expr, const tf_mma_atom *base, char operand,
                              int64_t row_warps, int64_t column_warps) {
  fragments out = {.tensor = tf_tensor_of(lowering, expr)};
  int64_t logical[MAX_REGISTERS], unit_rows, unit_columns, count = 0;
  int64_t height = matrix_extent(out.tensor.type, 0), width = matrix_extent(out.tensor.type, 1);
  tf_mma_atom_matrix(base, operand, &unit_rows, &unit_columns);
  out.rows = height / row_warps / unit_rows;
  out.columns = width / column_warps / unit_columns;
  out.values = instruction_values(lowering, base, operand, logical);
  const int32_t *registers = tf_tensor_numbers(lowering, &out.tensor, &count);
  const int32_t *local = local_numbers(lowering->arena, out.tensor.view->ownership, height * width);
  int32_t *numbers = TF_ARENA_ARRAY(lowering->arena, int32_t, out.rows * out.columns * out.values);
  out.numbers = numbers;
  for (int64_t i = 0; i < out.rows; i++)
    for (int64_t j = 0; j < out.columns; j++)
      for (unsigned v = 0; v < out.values; v++) {
        int64_t row = i * unit_rows + logical[v] / unit_columns, column = j * unit_columns + logical[v] % unit_columns;
        *numbers++ = registers[local[row * width + column]];
      }
  /* Registers count from the window's start, which loops may move. */
  out.tensor.pointer = tf_tensor_pointer(lowering, &out.tensor, tf_tensor_start(lowering, &out.tensor, &count), 0);
  return out;
}

static const int32_t *fragment_at(const fragments *operand, int64_t row, int64_t column) {
  return &operand->numbers[(row * operand->columns + column) * operand->values];
}

/* ---- Values ---- */

/* Values of one 32-bit register, the first in the lowest bits; a value of 32 or 64 bits alone. */
static LLVMValueRef load_packed(tf_lowering *lowering, const tf_tensor *tensor, const int32_t *numbers,
                                unsigned count) {
  LLVMValueRef packed = NULL;
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef value = tf_register_load(lowering, tensor, numbers[i]);
    packed = tf_llvm_insert(lowering, tensor->element, count, packed, value, i);
  }
  return packed;
}

static unsigned per_register(const tf_tensor *tensor) {
  unsigned bytes = tf_dtype_bytes(tensor->dtype);
  return bytes < 4 ? 4 / bytes : 1;
}

/* Appends the fragment's registers as arguments of the types that the instruction wants. */
static unsigned append_operand(tf_lowering *lowering, const fragments *operand, const int32_t *numbers,
                               const LLVMTypeRef *types, LLVMValueRef *args, unsigned count) {
  unsigned packed = per_register(&operand->tensor);
  for (unsigned v = 0; v < operand->values; v += packed, count++) {
    LLVMValueRef value = load_packed(lowering, &operand->tensor, numbers + v, packed);
    args[count] = LLVMBuildBitCast(lowering->builder, value, types[count], "");
  }
  return count;
}

/* Takes the results apart and back into the accumulator's registers. */
static void store_results(tf_lowering *lowering, const fragments *acc, const int32_t *numbers, LLVMValueRef results) {
  LLVMBuilderRef builder = lowering->builder;
  unsigned packed = per_register(&acc->tensor);
  LLVMTypeRef type = tf_llvm_vector(acc->tensor.element, packed);
  for (unsigned v = 0; v < acc->values; v += packed) {
    LLVMValueRef value = LLVMBuildExtractValue(builder, results, v / packed, "");
    value = LLVMBuildBitCast(builder, value, type, "");
    for (unsigned i = 0; i < packed; i++)
      tf_register_store(lowering, &acc->tensor, numbers[v + i], tf_llvm_extract(lowering, value, i));
  }
}

/* ---- Instructions ---- */

void tf_lower_mark_convergent(tf_lowering *lowering, LLVMValueRef call) {
  unsigned kind = LLVMGetEnumAttributeKindForName("convergent", strlen("convergent"));
  LLVMAttributeRef attribute = LLVMCreateEnumAttribute(lowering->llvm, kind, 0);
  LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

typedef struct product {
  const tf_mma_atom *atom, *base; /* as authored; the instruction */
  int64_t warps[2];
  fragments acc, lhs, rhs;
  LLVMTypeRef types[MAX_REGISTERS]; /* of the intrinsic's parameters */
} product;

/* The registers that column fragment j of B adds to. Values of the accumulator alternate between two columns of a lane. */
static void accumulators(const product *it, int64_t i, int64_t j, int32_t numbers[MAX_REGISTERS]) {
  for (unsigned v = 0; v < it->acc.values; v++)
    numbers[v] = it->rhs.interleaved ? fragment_at(&it->acc, i, j - j % 2 + v % 2)[v - v % 2 + (unsigned)(j % 2)]
                                     : fragment_at(&it->acc, i, j)[v];
}

/* acc(i, j) += lhs(i, lhs_k) * rhs(rhs_k, j) */
static void multiply(tf_lowering *lowering, const product *it, int64_t i, int64_t j, int64_t lhs_k, int64_t rhs_k) {
  LLVMValueRef args[MAX_REGISTERS];
  int32_t acc[MAX_REGISTERS];
  accumulators(it, i, j, acc);
  unsigned count = append_operand(lowering, &it->lhs, fragment_at(&it->lhs, i, lhs_k), it->types, args, 0);
  count = append_operand(lowering, &it->rhs, fragment_at(&it->rhs, rhs_k, j), it->types, args, count);
  count = append_operand(lowering, &it->acc, acc, it->types, args, count);
  const char *name = tf_mma_atom_intrinsic(it->base);
  LLVMValueRef results = tf_lower_llvm_intrinsic(lowering, name, 0, NULL, count, args);
  tf_lower_mark_convergent(lowering, results);
  store_results(lowering, &it->acc, acc, results);
}

static void instruction_types(tf_lowering *lowering, product *it) {
  const char *name = tf_mma_atom_intrinsic(it->base);
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMGetParamTypes(LLVMIntrinsicGetType(lowering->llvm, id, NULL, 0), it->types);
}

/* ---- Operands in shared memory ----
 * The statement owns their fragments: for each step of K a window of the tile is copied into registers, which is where
 * ldmatrix comes in. The steps are written out one after the other with registers of their own, so that the assembler is
 * free to load the next one while the last one multiplies. */

static bool is_shared(const tf_expr *operand) {
  return tf_type_storage(operand->type) == TF_STORAGE_SMEM;
}

/* The window of step k: all rows of A and the step's columns, or the step's rows of B and all columns. */
static const tf_expr *step_window(tf_lowering *lowering, const tf_expr *tile, char operand, int64_t unit, int64_t k) {
  tf_context *context = lowering->context;
  unsigned rank = tf_type_rank(tile->type), axis = operand == 'A' ? 1 : 0;
  int64_t shape[2] = {matrix_extent(tile->type, 0), matrix_extent(tile->type, 1)};
  const tf_expr *args[1 + TF_MAX_RANK] = {tile};
  for (unsigned i = 0; i < rank; i++)
    args[1 + i] = tf_expr_int(context, TF_DTYPE_I64, i == rank - 2 + axis ? k * unit : 0, lowering->loc);
  shape[axis] = unit;
  tf_attr attrs[TF_ATTRIBUTES_TENSOR_VIEW];
  memset(attrs, 0, sizeof attrs);
  attrs[TF_ATTRIBUTE_TENSOR_VIEW_shape].tuple = tf_tuple_ints(context, 2, shape);
  return tf_expr_call(context, TF_OP_TENSOR_VIEW, 1 + rank, args, attrs, lowering->loc);
}

/* A register tensor of the window's shape in the operand's layout, bound like an authored one. */
static const tf_expr *new_fragments(tf_lowering *lowering, const product *it, const tf_type *window, char operand) {
  tf_context *context = lowering->context;
  const tf_mma_atom *atom = it->base;
  int64_t mnk[3], step[3];
  tf_mma_atom_shape(it->atom, mnk);
  tf_mma_atom_shape(it->base, step);
  if (it->atom != it->base)
    atom = tf_mma_atom_tile(context, it->base, (int64_t[]){mnk[0], mnk[1], step[2]}, it->warps, NULL);
  tf_attr type = {.type = tf_type_tensor(context, 2, tf_type_shape(window), tf_type_dtype(window),
                                         tf_mma_atom_layout(atom, operand), TF_STORAGE_RMEM)};
  const tf_expr *allocation = tf_expr_call(context, TF_OP_ALLOC_TENSOR, 0, NULL, &type, lowering->loc);
  const tf_expr *var = tf_expr_let_var(context, "fragments", allocation, lowering->loc);
  tf_lower_value_call(lowering, var, allocation);
  return var;
}

static fragments load_step(tf_lowering *lowering, const product *it, const tf_expr *tile, char operand, int64_t k) {
  int64_t mnk[3];
  tf_mma_atom_shape(it->base, mnk);
  const tf_expr *window = step_window(lowering, tile, operand, mnk[2], k);
  const tf_expr *var = new_fragments(lowering, it, window->type, operand);
  const tf_expr *args[2] = {window, var};
  tf_invocation copy = {.op = TF_OP_COPY, .arg_count = 2, .args = args, .loc = lowering->loc};
  bool interleaved = false;
  if (!tf_lower_ldmatrix(lowering, window, var, operand == 'B' ? &interleaved : NULL)) tf_lower_COPY(lowering, &copy);
  fragments out = fragments_of(lowering, var, it->base, operand, operand == 'A' ? it->warps[0] : 1,
                               operand == 'B' ? it->warps[1] : 1);
  out.interleaved = interleaved;
  return out;
}

/* k outermost: consecutive instructions then add to different accumulators, and each A fragment serves a whole row. */
static void multiply_all(tf_lowering *lowering, product *it, const tf_expr *lhs, const tf_expr *rhs) {
  int64_t mnk[3];
  tf_mma_atom_shape(it->base, mnk);
  for (int64_t k = 0; k < matrix_extent(lhs->type, 1) / mnk[2]; k++) {
    if (is_shared(lhs)) it->lhs = load_step(lowering, it, lhs, 'A', k);
    if (is_shared(rhs)) it->rhs = load_step(lowering, it, rhs, 'B', k);
    for (int64_t i = 0; i < it->acc.rows; i++)
      for (int64_t j = 0; j < it->acc.columns; j++)
        multiply(lowering, it, i, j, is_shared(lhs) ? 0 : k, is_shared(rhs) ? 0 : k);
  }
}

/* ---- The op ---- */

static const tf_mma_atom *implied_atom(tf_lowering *lowering, const tf_expr *const operands[TF_MMA_OPERANDS]) {
  const tf_type *types[TF_MMA_OPERANDS];
  const tf_ownership *owned[TF_MMA_OPERANDS];
  for (int i = 0; i < TF_MMA_OPERANDS; i++) {
    types[i] = operands[i]->type;
    owned[i] = is_shared(operands[i]) ? NULL : tf_tensor_of(lowering, operands[i]).view->ownership;
  }
  return tf_mma_atom_implied(lowering->context, tf_target_sm(lowering->module->target), types, owned);
}

void tf_lower_MMA(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *lhs = invocation->args[TF_ARG_MMA_lhs], *rhs = invocation->args[TF_ARG_MMA_rhs];
  const tf_mma_atom *atom = invocation->attrs[TF_ATTRIBUTE_MMA_atom].atom;
  if (!atom) atom = implied_atom(lowering, (const tf_expr *[]){invocation->args[TF_ARG_MMA_acc], lhs, rhs});
  product it = {.atom = atom, .base = tf_mma_atom_base(atom), .warps = {1, 1}};
  if (!tf_lower_require(lowering, tf_mma_atom_name(atom), tf_mma_atom_min_sm(atom), 0, tf_mma_atom_min_ptx(atom)))
    return;
  tf_mma_atom_is_tile(atom, it.warps);
  size_t mark = tf_lower_mark(lowering);
  it.acc = fragments_of(lowering, invocation->args[TF_ARG_MMA_acc], it.base, 'C', it.warps[0], it.warps[1]);
  if (!is_shared(lhs)) it.lhs = fragments_of(lowering, lhs, it.base, 'A', it.warps[0], 1);
  if (!is_shared(rhs)) it.rhs = fragments_of(lowering, rhs, it.base, 'B', 1, it.warps[1]);
  instruction_types(lowering, &it);
  multiply_all(lowering, &it, lhs, rhs);
  tf_lower_reset(lowering, mark);
}
