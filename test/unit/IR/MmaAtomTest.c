/* The fragment maps of MmaAtoms.def against the formulas of the PTX ISA ("Matrix Fragments for mma.…"), written out
 * here per instruction: value i of lane l, with g = l / 4 and t = l % 4, belongs to row and column …. The layouts are
 * evaluated here too, by their definition, so that neither the table nor the layout algebra vouches for itself. */
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <tilefoundry/IR.h>

#include "Harness.h"
#include "IR/MmaAtom.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

/* ---- The PTX ISA's formulas
 * ------------------------------------------------------------------------------------------- */
typedef struct place {
  int row, column;
} place;

static place a_k16_16bit(int l, int i) {
  int g = l / 4, t = l % 4;
  return (place){(i < 2 || (i >= 4 && i < 6)) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}
static place b_k16_16bit(int l, int i) {
  return (place){(l % 4) * 2 + (i & 1) + (i < 2 ? 0 : 8), l / 4};
}
static place a_k8_16bit(int l, int i) {
  return (place){i < 2 ? l / 4 : l / 4 + 8, (l % 4) * 2 + (i & 1)};
}
static place b_k8_16bit(int l, int i) {
  return (place){(l % 4) * 2 + i, l / 4};
}
static place a_k8_tf32(int l, int i) {
  return (place){i == 0 || i == 2 ? l / 4 : l / 4 + 8, i < 2 ? l % 4 : l % 4 + 4};
}
static place b_k8_tf32(int l, int i) {
  return (place){i == 0 ? l % 4 : l % 4 + 4, l / 4};
}
static place a_k4_tf32(int l, int i) {
  return (place){i == 0 ? l / 4 : l / 4 + 8, l % 4};
}
static place b_k4(int l, int i) {
  (void)i;
  return (place){l % 4, l / 4};
}
static place a_k4_f64(int l, int i) {
  (void)i;
  return (place){l / 4, l % 4};
}
static place a_m8_8bit(int l, int i) {
  return (place){l / 4, (l % 4) * 4 + i};
}
static place a_k16_8bit(int l, int i) {
  return (place){i < 4 ? l / 4 : l / 4 + 8, (l % 4) * 4 + (i & 3)};
}
static place b_k16_8bit(int l, int i) {
  return (place){(l % 4) * 4 + (i & 3), l / 4};
}
static place a_k32_8bit(int l, int i) {
  int g = l / 4, t = l % 4;
  return (place){i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}
static place b_k32_8bit(int l, int i) {
  return (place){(l % 4) * 4 + (i & 3) + (i < 4 ? 0 : 16), l / 4};
}
static place c_m16(int l, int i) {
  return (place){i < 2 ? l / 4 : l / 4 + 8, (l % 4) * 2 + (i & 1)};
}
static place c_m8(int l, int i) {
  return (place){l / 4, (l % 4) * 2 + (i & 1)};
}

typedef place place_fn(int lane, int value);

typedef struct expectation {
  const char *name;
  int m, n, k;
  const char *a, *b, *c; /* dtypes */
  unsigned sm;
  place_fn *places[3];
} expectation;

#define INT8(K, X, Y, A, B, FA, FB)                                                                                    \
  {                                                                                                                    \
    "SM80_16x8x" #K "_S32" X Y "S32_TN", 16, 8, K, A, B, "i32", 80, {                                                  \
      FA, FB, c_m16                                                                                                    \
    }                                                                                                                  \
  }
#define FP8(X, Y, A, B)                                                                                                \
  {                                                                                                                    \
    "SM89_16x8x32_F32" X Y "F32_TN", 16, 8, 32, A, B, "f32", 89, {                                                     \
      a_k32_8bit, b_k32_8bit, c_m16                                                                                    \
    }                                                                                                                  \
  }
static const expectation expectations[] = {
    {"SM80_16x8x16_F32BF16BF16F32_TN", 16, 8, 16, "bf16", "bf16", "f32", 80, {a_k16_16bit, b_k16_16bit, c_m16}},
    {"SM80_16x8x16_F32F16F16F32_TN", 16, 8, 16, "f16", "f16", "f32", 80, {a_k16_16bit, b_k16_16bit, c_m16}},
    {"SM80_16x8x16_F16F16F16F16_TN", 16, 8, 16, "f16", "f16", "f16", 80, {a_k16_16bit, b_k16_16bit, c_m16}},
    {"SM80_16x8x8_F32BF16BF16F32_TN", 16, 8, 8, "bf16", "bf16", "f32", 80, {a_k8_16bit, b_k8_16bit, c_m16}},
    {"SM80_16x8x8_F32F16F16F32_TN", 16, 8, 8, "f16", "f16", "f32", 80, {a_k8_16bit, b_k8_16bit, c_m16}},
    {"SM80_16x8x8_F32TF32TF32F32_TN", 16, 8, 8, "tf32", "tf32", "f32", 80, {a_k8_tf32, b_k8_tf32, c_m16}},
    {"SM80_16x8x4_F32TF32TF32F32_TN", 16, 8, 4, "tf32", "tf32", "f32", 80, {a_k4_tf32, b_k4, c_m16}},
    {"SM80_8x8x4_F64F64F64F64_TN", 8, 8, 4, "f64", "f64", "f64", 80, {a_k4_f64, b_k4, c_m8}},
    INT8(16, "S8", "S8", "i8", "i8", a_k16_8bit, b_k16_8bit),
    INT8(16, "U8", "U8", "u8", "u8", a_k16_8bit, b_k16_8bit),
    INT8(16, "S8", "U8", "i8", "u8", a_k16_8bit, b_k16_8bit),
    INT8(16, "U8", "S8", "u8", "i8", a_k16_8bit, b_k16_8bit),
    INT8(32, "S8", "S8", "i8", "i8", a_k32_8bit, b_k32_8bit),
    INT8(32, "U8", "U8", "u8", "u8", a_k32_8bit, b_k32_8bit),
    INT8(32, "S8", "U8", "i8", "u8", a_k32_8bit, b_k32_8bit),
    INT8(32, "U8", "S8", "u8", "i8", a_k32_8bit, b_k32_8bit),
    {"SM75_16x8x8_F32F16F16F32_TN", 16, 8, 8, "f16", "f16", "f32", 75, {a_k8_16bit, b_k8_16bit, c_m16}},
    {"SM75_8x8x16_S32S8S8S32_TN", 8, 8, 16, "i8", "i8", "i32", 75, {a_m8_8bit, b_k16_8bit, c_m8}},
    FP8("E4M3", "E4M3", "fp8e4m3", "fp8e4m3"),
    FP8("E5M2", "E5M2", "fp8e5m2", "fp8e5m2"),
    FP8("E4M3", "E5M2", "fp8e4m3", "fp8e5m2"),
    FP8("E5M2", "E4M3", "fp8e5m2", "fp8e4m3"),
};
#define EXPECTATIONS (sizeof expectations / sizeof *expectations)

/* ---- Shard layouts by definition
 * ------------------------------------------------------------------------------------------ */
typedef struct flat_shard {
  unsigned rank, mesh_rank;
  int64_t shape[16], strides[16];
  int walked[16]; /* mesh axis, or -1 */
} flat_shard;

static int64_t number(const tf_dim *dim) {
  int64_t value;
  ck_assert(tf_dim_is_static(dim, &value));
  return value;
}

static flat_shard flat_of(const tf_layout *layout) {
  flat_shard out = {0};
  const tf_layout *plain = tf_layout_outer(layout);
  const tf_dim *shape[16], *strides[16];
  out.rank = tf_tuple_leaf_count(tf_layout_shape(plain));
  ck_assert_uint_le(out.rank, 16);
  tf_tuple_leaves(tf_layout_shape(plain), shape);
  tf_tuple_leaves(tf_layout_strides(plain), strides);
  for (unsigned i = 0; i < out.rank; i++) {
    out.shape[i] = number(shape[i]);
    out.strides[i] = number(strides[i]);
    out.walked[i] = -1;
  }
  out.mesh_rank = tf_layout_attr_count(layout);
  for (unsigned axis = 0; axis < out.mesh_rank; axis++) {
    tf_shard_attr attr = tf_layout_attr(layout, axis);
    if (attr.kind != TF_SHARD_SPLIT) continue;
    ck_assert_int_eq(out.walked[attr.axis], -1);
    ck_assert_int_eq(out.shape[attr.axis], number(tf_mesh_axis_extent(tf_layout_mesh(layout), axis)));
    out.walked[attr.axis] = (int)axis;
  }
  return out;
}

/* Number of values of an instance, and the offset that its value `local` (leftmost fastest) names. */
static int64_t local_count(const flat_shard *shard) {
  int64_t count = 1;
  for (unsigned i = 0; i < shard->rank; i++)
    count *= shard->walked[i] < 0 ? shard->shape[i] : 1;
  return count;
}

static int64_t offset_of(const flat_shard *shard, const int64_t *coordinates, int64_t local) {
  int64_t offset = 0;
  for (unsigned i = 0; i < shard->rank; i++) {
    int64_t digit;
    if (shard->walked[i] >= 0) {
      digit = coordinates[shard->walked[i]];
    } else {
      digit = local % shard->shape[i];
      local /= shard->shape[i];
    }
    offset += digit * shard->strides[i];
  }
  return offset;
}

/* ---- Tests
 * ------------------------------------------------------------------------------------------------------------------ */
static void check_lane_mesh(const tf_mesh *mesh) {
  ck_assert_uint_eq(tf_mesh_level_count(mesh), 1);
  ck_assert_int_eq(tf_mesh_level(mesh, 0).level, TF_LEVEL_THREAD);
  ck_assert_int_eq(number(tf_mesh_level(mesh, 0).size), 32);
  ck_assert_uint_eq(tf_mesh_axis_count(mesh), 2);
  ck_assert_int_eq(number(tf_mesh_axis_extent(mesh, 0)), 4);
  ck_assert_int_eq(number(tf_mesh_axis_extent(mesh, 1)), 8);
  ck_assert_int_eq(number(tf_mesh_axis_stride(mesh, 0)), 1);
  ck_assert_int_eq(number(tf_mesh_axis_stride(mesh, 1)), 4);
}

static void check_operand(const tf_mma_atom *atom, const expectation *expected, unsigned index) {
  char operand = "ABC"[index];
  int columns = index == 0 ? expected->k : expected->n, rows = index == 1 ? expected->k : expected->m;
  flat_shard shard = flat_of(tf_mma_atom_layout(atom, operand));
  const unsigned char *registers;
  unsigned count = tf_mma_atom_registers(atom, operand, &registers);
  ck_assert_int_eq(count * 32, rows * columns);
  ck_assert_int_eq(local_count(&shard), count);
  bool *seen = calloc((size_t)(rows * columns), sizeof *seen);
  for (int lane = 0; lane < 32; lane++)
    for (unsigned i = 0; i < count; i++) {
      int64_t offset = offset_of(&shard, (int64_t[]){lane % 4, lane / 4}, registers[i]);
      place want = expected->places[index](lane, (int)i);
      ck_assert_msg(offset == want.row * columns + want.column,
                    "%s %c: value %u of lane %d is element %d, not (%d, %d)", expected->name, operand, i, lane,
                    (int)offset, want.row, want.column);
      ck_assert(!seen[offset]);
      seen[offset] = true;
    }
  free(seen);
}

START_TEST(every_map_is_a_bijection_and_the_isas) {
  const expectation *expected = &expectations[_i];
  const tf_mma_atom *atom = tf_mma_atom_get(context, expected->name);
  ck_assert_ptr_nonnull(atom);
  ck_assert_ptr_eq(atom, tf_mma_atom_get(context, expected->name));
  int64_t mnk[3];
  tf_mma_atom_shape(atom, mnk);
  ck_assert(mnk[0] == expected->m && mnk[1] == expected->n && mnk[2] == expected->k);
  ck_assert_str_eq(tf_dtype_name(tf_mma_atom_dtype(atom, 'A')), expected->a);
  ck_assert_str_eq(tf_dtype_name(tf_mma_atom_dtype(atom, 'B')), expected->b);
  ck_assert_str_eq(tf_dtype_name(tf_mma_atom_dtype(atom, 'C')), expected->c);
  ck_assert_uint_eq(tf_mma_atom_min_sm(atom), expected->sm);
  ck_assert(!tf_mma_atom_is_tile(atom, NULL));
  check_lane_mesh(tf_mma_atom_required_scope(atom));
  for (unsigned index = 0; index < 3; index++) {
    ck_assert_ptr_eq(tf_layout_mesh(tf_mma_atom_layout(atom, "ABC"[index])), tf_mma_atom_required_scope(atom));
    check_operand(atom, expected, index);
  }
}
END_TEST

START_TEST(the_table_holds_exactly_these) {
  unsigned count = 0;
  while (tf_mma_atom_known_name(count))
    count++;
  ck_assert_uint_eq(count, EXPECTATIONS);
  ck_assert_ptr_null(tf_mma_atom_get(context, "SM80_16x8x24_F32BF16BF16F32_TN"));
  ck_assert_ptr_null(tf_mma_atom_get(context, NULL));
}
END_TEST

/* Warp (i, j) of a tile owns the block (i, j), whole atoms in it, and inside an atom what the instruction's map says.
 */
static void check_tile_operand(const tf_mma_atom *tile, unsigned index) {
  char operand = "ABC"[index];
  const tf_mma_atom *atom = tf_mma_atom_base(tile);
  int64_t rows, columns, atom_rows, atom_columns, warps[2];
  tf_mma_atom_matrix(tile, operand, &rows, &columns);
  tf_mma_atom_matrix(atom, operand, &atom_rows, &atom_columns);
  ck_assert(tf_mma_atom_is_tile(tile, warps));
  int64_t block_rows = index == 1 ? rows : rows / warps[0], block_columns = index == 0 ? columns : columns / warps[1];
  flat_shard whole = flat_of(tf_mma_atom_layout(tile, operand)), part = flat_of(tf_mma_atom_layout(atom, operand));
  int64_t values = local_count(&part), grid_rows = block_rows / atom_rows, grid_columns = block_columns / atom_columns;
  ck_assert_int_eq(local_count(&whole), values * grid_rows * grid_columns);
  for (int64_t i = 0; i < warps[0]; i++)
    for (int64_t j = 0; j < warps[1]; j++)
      for (int lane = 0; lane < 32; lane++)
        for (int64_t p = 0; p < local_count(&whole); p++) {
          int64_t at_row = p % grid_rows, at_column = p / grid_rows % grid_columns,
                  value = p / grid_rows / grid_columns;
          int64_t inside = offset_of(&part, (int64_t[]){lane % 4, lane / 4}, value);
          int64_t row = (index == 1 ? 0 : i * block_rows) + at_row * atom_rows + inside / atom_columns;
          int64_t column = (index == 0 ? 0 : j * block_columns) + at_column * atom_columns + inside % atom_columns;
          int64_t got = offset_of(&whole, (int64_t[]){i, j, lane % 4, lane / 4}, p);
          ck_assert_int_eq(got, row * columns + column);
        }
}

START_TEST(tiles_are_blocks_of_atoms) {
  const tf_mma_atom *atom = tf_mma_atom_get(context, expectations[_i].name);
  int64_t mnk[3] = {4 * expectations[_i].m, 6 * expectations[_i].n, 3 * expectations[_i].k};
  const tf_mma_atom *tile = tf_mma_atom_tile(context, atom, mnk, (int64_t[]){2, 3}, NULL);
  ck_assert_ptr_nonnull(tile);
  ck_assert_ptr_eq(tf_mma_atom_base(tile), atom);
  const tf_mesh *mesh = tf_mma_atom_required_scope(tile);
  ck_assert_uint_eq(tf_mesh_level_count(mesh), 2);
  ck_assert_int_eq(number(tf_mesh_level(mesh, 0).size), 6);
  ck_assert_int_eq(number(tf_mesh_level(mesh, 1).size), 32);
  static const int64_t extents[] = {2, 3, 4, 8}, strides[] = {96, 32, 1, 4};
  for (unsigned axis = 0; axis < 4; axis++) {
    ck_assert_int_eq(number(tf_mesh_axis_extent(mesh, axis)), extents[axis]);
    ck_assert_int_eq(number(tf_mesh_axis_stride(mesh, axis)), strides[axis]);
  }
  ck_assert_int_eq(tf_layout_attr(tf_mma_atom_layout(tile, 'A'), 1).kind, TF_SHARD_BROADCAST);
  ck_assert_int_eq(tf_layout_attr(tf_mma_atom_layout(tile, 'B'), 0).kind, TF_SHARD_BROADCAST);
  for (unsigned index = 0; index < 3; index++)
    check_tile_operand(tile, index);
}
END_TEST

START_TEST(tiles_that_the_atom_does_not_divide) {
  const tf_mma_atom *atom = tf_mma_atom_get(context, "SM80_16x8x16_F32BF16BF16F32_TN");
  static const struct {
    int64_t mnk[3], warps[2];
    const char *part;
  } bad[] = {
      {{64, 64, 24}, {2, 2}, "K = 24"},   {{64, 64, 8}, {2, 2}, "K = 8"},     {{48, 64, 16}, {2, 2}, "M = 48"},
      {{64, 24, 16}, {2, 2}, "N = 24"},   {{0, 64, 16}, {1, 1}, "M = 0"},     {{64, 64, 16}, {0, 2}, "warps"},
      {{2048, 64, 16}, {33, 1}, "warps"}, {{64, 64, -16}, {1, 1}, "K = -16"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *reason = NULL;
    ck_assert_ptr_null(tf_mma_atom_tile(context, atom, bad[i].mnk, bad[i].warps, &reason));
    ck_assert_ptr_nonnull(strstr(reason, bad[i].part));
  }
  const tf_mma_atom *tile = tf_mma_atom_tile(context, atom, (int64_t[]){32, 16, 16}, (int64_t[]){1, 1}, NULL);
  const char *reason = NULL;
  ck_assert_ptr_null(tf_mma_atom_tile(context, tile, (int64_t[]){32, 16, 16}, (int64_t[]){1, 1}, &reason));
  ck_assert_ptr_nonnull(strstr(reason, "another tile"));
}
END_TEST

/* Element (i, j) of a stack is the fragment itself, moved by whole matrices. */
START_TEST(stacks_are_arrays_of_fragments) {
  const tf_mma_atom *atom = tf_mma_atom_get(context, "SM80_16x8x16_F32BF16BF16F32_TN");
  const tf_layout *fragment = tf_mma_atom_layout(atom, 'A');
  const tf_layout *stack = tf_mma_stack(context, fragment, 2, (int64_t[]){3, 5});
  flat_shard one = flat_of(fragment), many = flat_of(stack);
  ck_assert_int_eq(local_count(&many), 15 * local_count(&one));
  for (int lane = 0; lane < 32; lane++)
    for (int64_t p = 0; p < local_count(&many); p++) {
      int64_t i = p % 3, j = p / 3 % 5, value = p / 15;
      int64_t coordinates[2] = {lane % 4, lane / 4};
      ck_assert_int_eq(offset_of(&many, coordinates, p), (i * 5 + j) * 256 + offset_of(&one, coordinates, value));
    }
  ck_assert_ptr_null(tf_mma_stack(context, tf_layout_outer(fragment), 2, (int64_t[]){3, 5}));
  ck_assert_ptr_null(tf_mma_stack(context, NULL, 1, (int64_t[]){3}));
  ck_assert_ptr_null(tf_mma_stack(context, fragment, 1, (int64_t[]){0}));
}
END_TEST

/* A dealt layout (no strides) stays dealt. */
START_TEST(stacks_of_dealt_layouts) {
  const tf_mesh *mesh = tf_mma_atom_required_scope(tf_mma_atom_get(context, "SM80_8x8x4_F64F64F64F64_TN"));
  const tf_layout *plain = tf_layout_plain(context, tf_tuple_ints(context, 3, (int64_t[]){8, 4, 2}), NULL);
  tf_shard_attr attrs[2] = {{.kind = TF_SHARD_SPLIT, .axis = 1}, {.kind = TF_SHARD_SPLIT, .axis = 0}};
  const tf_layout *stack = tf_mma_stack(context, tf_layout_shard(context, plain, 2, attrs, mesh), 1, (int64_t[]){7});
  const tf_layout *want = tf_layout_plain(context, tf_tuple_ints(context, 4, (int64_t[]){7, 8, 4, 2}), NULL);
  ck_assert_ptr_eq(tf_layout_outer(stack), want);
  ck_assert_uint_eq(tf_layout_attr(stack, 0).axis, 2);
  ck_assert_uint_eq(tf_layout_attr(stack, 1).axis, 1);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("atoms");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, every_map_is_a_bijection_and_the_isas, 0, (int)EXPECTATIONS);
  tcase_add_test(tests, the_table_holds_exactly_these);
  tcase_add_loop_test(tests, tiles_are_blocks_of_atoms, 0, (int)EXPECTATIONS);
  tcase_add_test(tests, tiles_that_the_atom_does_not_divide);
  tcase_add_test(tests, stacks_are_arrays_of_fragments);
  tcase_add_test(tests, stacks_of_dealt_layouts);
  return run_case("mma atoms", tests);
}
