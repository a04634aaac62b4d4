/* Fragments from shared tiles by ldmatrix.
 *
 * The instruction reads 8 x 8 matrices of 16-bit cells; lane l passes the address of row l % 8 of matrix l / 8, rows are 16
 * contiguous bytes, and every lane receives one 32-bit register per matrix:
 *
 *                     cells 0 1   2 3   4 5   6 7                       .trans: lane l receives column l / 4,
 *           row 0   |  lane 0 | lane 1 | lane 2 | lane 3 |              rows 2 * (l % 4) and the one below
 *           row 1   |  lane 4 | …
 *
 * A fragment is filled so if its digits say the same: the lane's column digit (l % 4) steps over registers along the tile's
 * contiguous axis and the lane's row digit (l / 4) over rows; or, transposed, the row digit walks the contiguous axis and
 * the column digit pairs of rows. What remains of the digits, local ones and the warp's, tells where the matrices start:
 *
 *   coordinate of matrix m, row s  =  warp's digits + local digits of m + s rows           four matrices an instruction
 *
 * Elements of 8 bits travel in pairs and elements of 32 bits as two cells, as long as nothing is transposed. For transposed
 * bytes see LdmatrixBytes.c. */
#include "LowerToLLVM/Ldmatrix.h"

#include <string.h>

#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/Mma.h"

#define ROW_BYTES    16
#define MAX_MATRICES 512

/* ---- Does the fragment have the instruction's shape? ---- */

static bool is_number(const tf_dim *dim, int64_t number) {
  int64_t value = 0;
  return tf_dim_is_static(dim, &value) && value == number;
}

static int64_t number_of(const tf_dim *dim) {
  int64_t value = 0;
  tf_dim_is_static(dim, &value);
  return value;
}

/* The digits from the ownership's factors; false if a factor is symbolic or crosses axes of the shape. */
static bool find_digits(tf_matrix_copy *it) {
  const tf_ownership *ownership = it->destination.view->ownership;
  it->rank = tf_type_rank(it->destination.type);
  it->count = 1;
  for (unsigned i = 0; i < ownership->factor_count; i++) {
    const tf_factor *factor = &ownership->factors[i];
    int64_t extent = number_of(factor->extent), step = number_of(factor->step), below = 1;
    if (extent == 1) continue;
    if (extent < 1 || step < 1) return false;
    unsigned axis = it->rank;
    while (axis > 1 && step >= below * number_of(tf_type_extent(it->destination.type, axis - 1)))
      below *= number_of(tf_type_extent(it->destination.type, --axis));
    if (step % below || step * extent > below * number_of(tf_type_extent(it->destination.type, axis - 1))) return false;
    it->digits[it->digit_count++] =
        (tf_matrix_digit){extent, axis - 1, step / below, factor->mesh_axis, factor->divisor, it->count};
    if (factor->mesh_axis < 0) it->count *= extent;
  }
  return ownership->steps_are_affine;
}

typedef enum lane_role { ROLE_WARP, ROLE_COLUMN, ROLE_ROW, ROLE_OTHER } lane_role;

/* What part of the lane's id a mesh digit is. */
static lane_role role_of(const tf_placement *placement, const tf_matrix_digit *digit) {
  const tf_placement_axis *axis = &placement->axes[digit->mesh_axis];
  const tf_placement_level *level = &placement->levels[axis->level];
  if (level->level == TF_LEVEL_WARP) return ROLE_WARP;
  if (level->level != TF_LEVEL_THREAD || level->origin % 32 || level->step != 1) return ROLE_OTHER;
  int64_t threads = number_of(axis->divisor) * digit->divisor; /* that share one value of the digit */
  if (threads == 1 && digit->extent == 4) return ROLE_COLUMN;
  if (threads == 4 && digit->extent == 8) return ROLE_ROW;
  return !level->lane && threads > 0 && threads % 32 == 0 ? ROLE_WARP : ROLE_OTHER;
}

/* The local digit that counts the elements of a register: it goes on where the column digit starts. */
static bool find_pair(tf_matrix_copy *it) {
  for (unsigned i = 0; i < it->digit_count; i++) {
    const tf_matrix_digit *digit = &it->digits[i];
    bool continues = digit->axis == it->column->axis && digit->unit * it->cells == it->column->unit;
    if (digit->mesh_axis < 0 && digit->extent == it->cells && continues) it->pair = digit;
  }
  return it->pair || it->cells == 1;
}

/* Finds the lane's digits and the register's; false if some digit is none of the known kinds. */
static bool sort_digits(tf_lowering *lowering, tf_matrix_copy *it) {
  const tf_mesh *mesh = it->destination.view->ownership->mesh;
  const tf_placement *placement = mesh ? tf_region_placement(&lowering->region, mesh, NULL) : NULL;
  for (unsigned i = 0; placement && i < it->digit_count; i++) {
    const tf_matrix_digit *digit = &it->digits[i];
    if (digit->mesh_axis < 0) continue;
    lane_role role = role_of(placement, digit);
    if (role == ROLE_OTHER) return false;
    if (role == ROLE_COLUMN) it->column = digit;
    if (role == ROLE_ROW) it->row = digit;
  }
  return it->column && it->row && find_pair(it);
}

static bool walks(const tf_matrix_digit *digit, unsigned axis, int64_t unit) {
  return digit->axis == axis && digit->unit == unit;
}

static bool has_straight_rows(const tf_matrix_copy *it) {
  return (!it->pair || walks(it->pair, it->contiguous, 1)) && walks(it->column, it->contiguous, it->cells) &&
         it->row->axis != it->contiguous;
}

static bool has_transposed_rows(const tf_matrix_copy *it) {
  return it->pair && it->cells == 2 && walks(it->row, it->contiguous, 1) && it->pair->axis != it->contiguous &&
         it->column->axis == it->pair->axis;
}

/* ---- Are the rows contiguous and aligned? ---- */

static bool find_contiguous_axis(tf_matrix_copy *it) {
  const tf_view *view = it->source.view;
  for (unsigned axis = 0; view->strides && axis < it->rank; axis++) {
    if (!view->strides[axis]) return false;
    if (is_number(view->strides[axis], 1)) it->contiguous = axis;
  }
  return view->strides && is_number(view->strides[it->contiguous], 1);
}

static bool is_aligned(const tf_matrix_copy *it, int64_t elements) {
  return elements % (ROW_BYTES / (int64_t)tf_dtype_bytes(it->source.dtype)) == 0;
}

/* Storage elements that divide every step of the digit. */
static int64_t step_of(const tf_matrix_copy *it, const tf_matrix_digit *digit) {
  return digit->unit * tf_dim_divisor(it->source.view->strides[digit->axis]);
}

static bool is_start_aligned(tf_lowering *lowering, const tf_matrix_copy *it) {
  const tf_view *view = it->source.view;
  if (it->source.alignment % ROW_BYTES || !is_aligned(it, tf_dim_divisor(view->constant))) return false;
  for (unsigned i = 0; i < view->start_count; i++) {
    const tf_view_start *start = &view->starts[i];
    int64_t index = start->index ? tf_lower_facts(lowering, start->index).divisor : 1;
    if (!is_aligned(it, index * tf_dim_divisor(start->stride))) return false;
  }
  return true;
}

/* A swizzle has to leave the 16 bytes of a row together. */
static bool is_swizzle_fine(const tf_matrix_copy *it) {
  if (!it->source.view->inner) return true;
  unsigned bits, base, shift;
  tf_layout_swizzle_bits(it->source.view->inner, &bits, &base, &shift);
  return is_aligned(it, (int64_t)1 << base);
}

bool tf_matrix_is_inside_row(const tf_matrix_copy *it, const tf_matrix_digit *digit) {
  return it->transposed ? digit == it->row || digit == it->half : digit == it->column || digit == it->pair;
}

static bool are_rows_aligned(tf_lowering *lowering, const tf_matrix_copy *it) {
  if (!is_start_aligned(lowering, it) || !is_swizzle_fine(it)) return false;
  for (unsigned i = 0; i < it->digit_count; i++)
    if (!tf_matrix_is_inside_row(it, &it->digits[i]) && !is_aligned(it, step_of(it, &it->digits[i]))) return false;
  return true;
}

static bool same_shape(const tf_type *a, const tf_type *b) {
  if (tf_type_rank(a) != tf_type_rank(b)) return false;
  for (unsigned i = 0; i < tf_type_rank(a); i++)
    if (tf_type_extent(a, i) != tf_type_extent(b, i)) return false;
  return true;
}

static bool is_plain_shared_tile(const tf_tensor *tensor) {
  const tf_view *view = tensor->view;
  return tensor->storage == TF_STORAGE_SMEM && !view->outer && !view->clip_count && !view->ownership->mesh;
}

static bool matches(tf_lowering *lowering, tf_matrix_copy *it) {
  unsigned bytes = tf_dtype_bytes(it->source.dtype);
  if (!is_plain_shared_tile(&it->source) || !tf_tensor_is_register(&it->destination) || bytes > 4) return false;
  if (!same_shape(it->source.type, it->destination.type)) return false;
  it->cells = 4 / bytes;
  if (!find_digits(it) || it->count / it->cells > MAX_MATRICES) return false;
  if (!find_contiguous_axis(it) || !sort_digits(lowering, it)) return false;
  it->transposed = !has_straight_rows(it);
  if (it->transposed && !has_transposed_rows(it) && !tf_matrix_has_byte_rows(it)) return false;
  return are_rows_aligned(lowering, it) && tf_lower_is_warp_converged(lowering);
}

/* ---- Code ---- */

/* Matrices that a step of the digit passes over on its axis. */
static int64_t distance_of(const tf_matrix_copy *it, const tf_matrix_digit *digit) {
  bool across = it->transposed || digit->axis != it->contiguous;
  return digit->unit / (across ? 8 : 4 * (int64_t)it->cells);
}

/* Neighbouring matrices come together, rows of the fragment before columns: that is the order of the registers of an mma
 * operand, and what an instruction loads then lies in consecutive registers, where mma wants it. */
static bool comes_before(const tf_matrix_copy *it, const tf_matrix_digit *a, const tf_matrix_digit *b) {
  int64_t near = distance_of(it, a), far = distance_of(it, b);
  return near != far ? near < far : a->axis < b->axis;
}

static unsigned matrix_digits(const tf_matrix_copy *it, const tf_matrix_digit *order[TF_MAX_FACTORS]) {
  unsigned count = 0;
  for (unsigned i = 0; i < it->digit_count; i++) {
    const tf_matrix_digit *digit = &it->digits[i];
    if (digit->mesh_axis >= 0 || digit == it->pair || digit == it->half) continue;
    unsigned at = count++;
    for (; at > 0 && comes_before(it, digit, order[at - 1]); at--)
      order[at] = order[at - 1];
    order[at] = digit;
  }
  return count;
}

/* The matrices of one thread: where they start, the warp's share left out, and the register that each one fills. Transposed
 * bytes come in blocks of two matrices and registers, and both have the block's start and first register. */
static unsigned enumerate(const tf_matrix_copy *it, tf_matrix *out) {
  const tf_matrix_digit *order[TF_MAX_FACTORS];
  unsigned digits = matrix_digits(it, order), count = (unsigned)(it->count / it->cells);
  memset(out, 0, count * sizeof *out);
  for (unsigned i = 0; i < count; i++) {
    int64_t rest = it->half ? i / 2 : i;
    for (unsigned d = 0; d < digits; d++) {
      int64_t value = rest % order[d]->extent;
      rest /= order[d]->extent;
      out[i].position += value * order[d]->local_stride;
      out[i].start[order[d]->axis] += value * order[d]->unit;
    }
  }
  return count;
}

/* registers: of all of the thread's values; first: the position of the register's first one. */
static void store_register(tf_lowering *lowering, const tf_matrix_copy *it, const int32_t *registers, int64_t first,
                           LLVMValueRef bits) {
  LLVMTypeRef type = tf_llvm_vector(it->destination.element, it->cells);
  LLVMValueRef values = LLVMBuildBitCast(lowering->builder, bits, type, "");
  int64_t stride = it->pair ? it->pair->local_stride : 0;
  for (unsigned i = 0; i < it->cells; i++)
    tf_register_store(lowering, &it->destination, registers[first + i * stride], tf_llvm_extract(lowering, values, i));
}

/* count is 1, 2 or 4. */
static void load_matrices(tf_lowering *lowering, tf_matrix_copy *it, const tf_matrix *group, unsigned count,
                          LLVMValueRef registers[4]) {
  const char *name = tf_arena_printf(lowering->arena, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%u%s.b16", count,
                                     it->transposed ? ".trans" : "");
  LLVMValueRef address = tf_ldmatrix_address(lowering, it, group, count);
  LLVMTypeRef pointer = LLVMTypeOf(address);
  LLVMValueRef results = tf_lower_llvm_intrinsic(lowering, name, 1, &pointer, 1, &address);
  tf_lower_mark_convergent(lowering, results);
  for (unsigned m = 0; m < count; m++)
    registers[m] = count == 1 ? results : LLVMBuildExtractValue(lowering->builder, results, m, "");
}

static void load_group(tf_lowering *lowering, tf_matrix_copy *it, const tf_matrix *group, unsigned count,
                       const int32_t *registers, bool interleaved) {
  LLVMValueRef bits[4];
  load_matrices(lowering, it, group, count, bits);
  for (unsigned m = 0; m < count; m++) {
    if (it->half && m % 2 == 0) tf_matrix_exchange(lowering, &bits[m], interleaved);
    int64_t second = it->half && m % 2 ? it->half->local_stride : 0;
    store_register(lowering, it, registers, group[m].position + second, bits[m]);
  }
}

bool tf_lower_ldmatrix(tf_lowering *lowering, const tf_expr *source, const tf_expr *destination, bool *interleaved) {
  tf_matrix_copy *it = TF_ARENA_NEW(lowering->arena, tf_matrix_copy);
  it->source = tf_tensor_of(lowering, source);
  it->destination = tf_tensor_of(lowering, destination);
  if (!matches(lowering, it)) return false;
  int64_t values = 0;
  const int32_t *registers = tf_tensor_registers(lowering, &it->destination, &values);
  if (!registers || values != it->count || !tf_lower_require(lowering, "ldmatrix", 75, 0, 65)) return false;
  tf_matrix *matrices = TF_ARENA_ARRAY(lowering->arena, tf_matrix, MAX_MATRICES);
  unsigned count = enumerate(it, matrices), group;
  if (interleaved) *interleaved = it->half != NULL;
  for (unsigned first = 0; first < count; first += group) {
    group = count - first >= 4 ? 4 : count - first >= 2 ? 2 : 1;
    load_group(lowering, it, &matrices[first], group, registers, interleaved && *interleaved);
  }
  return true;
}
