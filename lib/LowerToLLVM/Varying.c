/* Registers at positions that differ from thread to thread: a table in constant memory says which one, and the tensor is kept
 * in local memory, where it can be indexed. Slow, and said so in a remark, but right for every distribution.
 *
 *   table[thread][position] = number of the register        q = table[tid * positions + p];  value = local[q]
 *
 * Where every thread holds all elements, the table can go by their logical index instead. */
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Project.h"

/* What LLVM takes for granted of a global without an alignment of its own; the .const gets its element's then. */
enum { TF_SPACE_CONST = 4, MAX_TABLE = 1 << 15, TABLE_ALIGNMENT = 16 };

typedef struct varying {
  const tf_driver *driver;
  const tf_tensor *tensor;
  const tf_ownership *to, *from;
  const tf_placement *to_placement, *from_placement;
  int64_t threads, count, from_count, numel;
  int64_t to_extent[TF_MAX_RANK], from_extent[TF_MAX_RANK];
  const int32_t *numbers; /* of a register tensor */
  int64_t *wanted, *held;
  int32_t *position_of; /* by the tensor's logical index: local position, or -1 */
  int32_t *row;         /* of one thread, by the driver's position: local position, or -1 */
} varying;

static bool static_shape(const tf_type *type, int64_t *extents) {
  for (unsigned axis = 0; axis < tf_type_rank(type); axis++)
    if (!tf_dim_is_static(tf_type_extent(type, axis), &extents[axis])) return false;
  return true;
}

/* The tensor's logical index for one of the driver's: the same where the counts agree, else with axes of extent 1
 * broadcast. */
static int64_t broadcast_index(const varying *v, int64_t index) {
  unsigned to_rank = v->driver->rank, from_rank = tf_type_rank(v->tensor->type);
  int64_t out = 0, unit = 1, to_numel = 1;
  for (unsigned axis = 0; axis < to_rank; axis++)
    to_numel *= v->to_extent[axis];
  if (to_numel == v->numel) return index;
  for (unsigned i = 0; i < from_rank; i++) {
    int64_t extent = v->to_extent[to_rank - 1 - i], own = v->from_extent[from_rank - 1 - i];
    if (own != 1) out += index % extent * unit;
    unit *= own;
    index /= extent;
  }
  return out;
}

static bool prepare(tf_lowering *lowering, varying *v) {
  tf_comparison c = {v->driver->ownership, v->tensor->view->ownership, v->driver->type, v->tensor->type};
  if (!c.to || !tf_lower_comparable(lowering, &c)) return false;
  const tf_ownership *to = v->to = c.to, *from = v->from = c.from;
  if (to->mesh && !(v->to_placement = tf_region_placement(&lowering->region, to->mesh, NULL))) return false;
  if (from->mesh && !(v->from_placement = tf_region_placement(&lowering->region, from->mesh, NULL))) return false;
  if (!static_shape(c.to_type, v->to_extent) || !static_shape(c.from_type, v->from_extent)) return false;
  v->threads = lowering->region.geometry->block;
  v->count = tf_ownership_local_numel(to);
  v->from_count = tf_ownership_local_numel(from);
  v->numel = 1;
  for (unsigned axis = 0; axis < tf_type_rank(v->tensor->type); axis++)
    v->numel *= v->from_extent[axis];
  if (v->count != v->driver->count || v->threads * v->count > MAX_TABLE) return false;
  v->row = TF_ARENA_ARRAY(lowering->arena, int32_t, v->count);
  v->wanted = TF_ARENA_ARRAY(lowering->arena, int64_t, v->count);
  v->held = TF_ARENA_ARRAY(lowering->arena, int64_t, v->from_count);
  v->position_of = TF_ARENA_ARRAY(lowering->arena, int32_t, v->numel);
  return true;
}

/* Fills the row of one thread; false if it has no place. */
static bool find_row(varying *v, int64_t thread) {
  int64_t to[TF_MAX_MESH_AXES] = {0}, from[TF_MAX_MESH_AXES] = {0};
  if (v->to_placement && !tf_placement_coordinates(v->to_placement, 0, thread, to)) return false;
  if (v->from_placement && !tf_placement_coordinates(v->from_placement, 0, thread, from)) return false;
  for (int64_t i = 0; i < v->numel; i++)
    v->position_of[i] = -1;
  tf_ownership_enumerate(v->to, to, v->wanted);
  tf_ownership_enumerate(v->from, from, v->held);
  for (int64_t i = 0; i < v->from_count; i++)
    if (v->held[i] >= 0 && v->held[i] < v->numel) v->position_of[v->held[i]] = (int32_t)i;
  for (int64_t p = 0; p < v->count; p++) {
    int64_t index = broadcast_index(v, v->wanted[p]);
    v->row[p] = index >= 0 && index < v->numel ? v->position_of[index] : -1;
  }
  return true;
}

static LLVMValueRef make_table(tf_lowering *lowering, LLVMTypeRef type, unsigned size, LLVMValueRef *entries) {
  LLVMTypeRef array = LLVMArrayType2(type, size);
  LLVMValueRef table = LLVMAddGlobalInAddressSpace(lowering->llvm_module, array, "positions", TF_SPACE_CONST);
  LLVMSetInitializer(table, LLVMConstArray2(type, entries, size));
  LLVMSetGlobalConstant(table, true);
  LLVMSetAlignment(table, TABLE_ALIGNMENT);
  LLVMSetLinkage(table, LLVMInternalLinkage);
  return table;
}

/* Of all threads' rows; zeros for those without a place. */
static LLVMValueRef *new_entries(tf_lowering *lowering, const varying *v, LLVMTypeRef type) {
  LLVMValueRef *entries = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, v->threads * v->count);
  for (int64_t i = 0; i < v->threads * v->count; i++)
    entries[i] = LLVMConstNull(type);
  return entries;
}

bool tf_access_varying(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out) {
  varying v = {.driver = driver, .tensor = tensor};
  if (tf_access_of(lowering, tensor, driver, out)) return true;
  if (!tf_tensor_is_register(tensor) || !prepare(lowering, &v)) return false;
  int64_t ignored;
  v.numbers = tf_tensor_numbers(lowering, tensor, &ignored);
  LLVMTypeRef type = tf_llvm_int(lowering, 16);
  LLVMValueRef *entries = new_entries(lowering, &v, type);
  for (int64_t t = 0; t < v.threads; t++) {
    if (!find_row(&v, t)) continue;
    for (int64_t p = 0; p < v.count; p++) {
      if (v.row[p] < 0) return false;
      entries[t * v.count + p] = LLVMConstInt(type, (unsigned long long)v.numbers[v.row[p]], false);
    }
  }
  out->registers = v.numbers;
  out->table = make_table(lowering, type, (unsigned)(v.threads * v.count), entries);
  out->start = tf_tensor_start(lowering, tensor, &out->divisor);
  tf_report(lowering->context, lowering->loc, LOWER_VARYING);
  return true;
}

bool tf_access_by_index(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out) {
  int64_t count, numel = 0;
  tf_affine identity;
  const int32_t *numbers = tf_tensor_numbers(lowering, tensor, &count);
  if (!tf_dim_is_static(tf_type_numel(lowering->context, tensor->type), &numel) || count != numel || numel > MAX_TABLE)
    return false;
  int64_t *logical = TF_ARENA_ARRAY(lowering->arena, int64_t, numel);
  LLVMValueRef *entries = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, numel);
  LLVMTypeRef type = tf_llvm_int(lowering, 16);
  tf_ownership_enumerate(tensor->view->ownership, NULL, logical);
  for (int64_t i = 0; i < numel; i++)
    entries[logical[i]] = LLVMConstInt(type, (unsigned long long)numbers[i], false);
  *out = (tf_access){.tensor = tensor, .driver = driver, .registers = numbers};
  out->table = make_table(lowering, type, (unsigned)numel, entries);
  out->start = tf_tensor_start(lowering, tensor, &out->divisor);
  out->projection = TF_ARENA_NEW(lowering->arena, tf_projection);
  tf_affine_make(lowering->context, driver->rank, driver->shape, NULL, &identity);
  tf_projection_make(lowering, driver, &identity, 32, true, out->projection);
  tf_report(lowering->context, lowering->loc, LOWER_VARYING);
  return true;
}

/* Whether positions that differ in the lower part of the digit only, by less than width, agree for every thread. */
static bool agree(const varying *v, const LLVMValueRef *entries, const tf_digit *digit, int64_t width) {
  for (int64_t t = 0; t < v->threads; t++)
    for (int64_t p = 0; p < v->count; p++) {
      int64_t first = p - p / digit->stride % width * digit->stride;
      if (entries[t * v->count + p] != entries[t * v->count + first]) return false;
    }
  return true;
}

static unsigned width_along(const varying *v, const LLVMValueRef *entries, const tf_digit *digit) {
  int64_t extent = 1;
  unsigned width = 16;
  tf_dim_is_static(digit->extent, &extent);
  while (width > 1 && (extent % width != 0 || !agree(v, entries, digit, width)))
    width /= 2;
  return width;
}

bool tf_driver_keep_seen(tf_lowering *lowering, const tf_tensor *tensor, tf_driver *driver) {
  varying v = {.driver = driver, .tensor = tensor};
  if (!prepare(lowering, &v)) return false;
  LLVMTypeRef type = tf_llvm_int(lowering, 16);
  LLVMValueRef *entries = new_entries(lowering, &v, type);
  for (int64_t t = 0; t < v.threads; t++)
    for (int64_t p = 0, here = find_row(&v, t); here && p < v.count; p++)
      entries[t * v.count + p] = LLVMConstInt(type, v.row[p] >= 0, false);
  driver->seen = make_table(lowering, type, (unsigned)(v.threads * v.count), entries);
  for (unsigned i = 0; i < driver->local_count; i++)
    driver->seen_width[i] = width_along(&v, entries, &driver->digits[driver->local[i]]);
  return true;
}

static LLVMValueRef entry_at(tf_lowering *lowering, LLVMValueRef table, LLVMValueRef at) {
  LLVMTypeRef type = tf_llvm_int(lowering, 16);
  return LLVMBuildLoad2(lowering->builder, type, LLVMBuildGEP2(lowering->builder, type, table, &at, 1, ""), "");
}

/* table[thread][position] */
static LLVMValueRef entry_of_thread(tf_lowering *lowering, LLVMValueRef table, const tf_driver *driver,
                                    int64_t position) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef thread = tf_lower_program_id(lowering, TF_LEVEL_THREAD);
  LLVMValueRef row = LLVMBuildMul(b, thread, tf_llvm_i32(lowering, driver->count), "");
  return entry_at(lowering, table, LLVMBuildAdd(b, row, tf_llvm_i32(lowering, position), ""));
}

LLVMValueRef tf_varying_number(tf_lowering *lowering, const tf_access *access, int64_t position) {
  LLVMValueRef entry =
      access->projection ? entry_at(lowering, access->table, tf_projection_emit(lowering, access->projection, position))
                         : entry_of_thread(lowering, access->table, access->driver, position);
  return LLVMBuildZExt(lowering->builder, entry, tf_llvm_int(lowering, 32), "");
}

LLVMValueRef tf_driver_sees(tf_lowering *lowering, const tf_driver *driver, int64_t position) {
  LLVMValueRef entry = entry_of_thread(lowering, driver->seen, driver, position);
  return LLVMBuildICmp(lowering->builder, LLVMIntNE, entry, LLVMConstNull(LLVMTypeOf(entry)), "");
}
