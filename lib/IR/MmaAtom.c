/* MMA atoms and tiles of them.
 *
 * A fragment's layout is a list of factors over C order of its matrix; each mesh axis walks one factor. A tile puts
 * four factors in front, for the warp's block and the atom's place in it, and spreads the atom's factors over the
 * larger matrix:
 *
 *        C (M x N)  |<- N/wn ->|
 *     -  +----------+----------+      warp (i, j) owns block (i, j); inside it atoms stand in a grid, rows first
 *   M/wm | w(0,0)   | w(0,1)   |
 *     -  +----------+----------+      factors   warp row, warp column, atom row, atom column, the atom's own
 *        | w(1,0)   | w(1,1)   |
 *        +----------+----------+
 *
 * A's blocks span all of K and are the same for warps of one row (Broadcast over the warp's column); B's the other way.
 */
#include "IR/MmaAtom.h"

#include <string.h>

#include "Support/Context.h"

#define MAX_FACTORS 6
#define MAX_VALUES  16

typedef struct fragment {
  int64_t shape[MAX_FACTORS], strides[MAX_FACTORS]; /* as many as are not 0 */
  unsigned lane_axis, row_axis;
} fragment;

typedef struct registers {
  unsigned char count;
  unsigned char values[MAX_VALUES];
} registers;

/* Operands stand in the order A, B, C throughout. */
typedef struct atom_row {
  const char *name;
  int64_t mnk[3];
  tf_dtype dtypes[3];
  unsigned min_sm, min_ptx;
  const char *intrinsic;
  fragment fragments[3];
  registers registers[3];
} atom_row;

/* Interned by its bytes: all pointers are interned or static. */
struct tf_mma_atom {
  const atom_row *row;
  const tf_mma_atom *base; /* of a tile: the instruction; null for an instruction */
  int64_t mnk[3], warps[2];
  const tf_layout *layouts[3];
  const tf_mesh *scope;
};

#define SHAPE(...)                                                                                                     \
  { __VA_ARGS__ }
#define STRIDES(...)                                                                                                   \
  { __VA_ARGS__ }
#define FRAGMENT(SHAPE, STRIDES, LANE, ROW)                                                                            \
  { SHAPE, STRIDES, LANE, ROW }
#define REGISTERS(...)                                                                                                 \
  {                                                                                                                    \
    sizeof((unsigned char[]){__VA_ARGS__}), {                                                                          \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  }
static const atom_row rows[] = {
#define TF_MMA_ATOM(NAME, M, N, K, A, B, C, SM, PTX, INTRINSIC, FRAGMENT_A, FRAGMENT_B, FRAGMENT_C, REGS_A, REGS_B,    \
                    REGS_C)                                                                                            \
  {#NAME, {M, N, K}, {TF_DTYPE_##A, TF_DTYPE_##B, TF_DTYPE_##C}, SM,                                                   \
   PTX,   INTRINSIC, {FRAGMENT_A, FRAGMENT_B, FRAGMENT_C},       {REGS_A, REGS_B, REGS_C}},
#include <tilefoundry/MmaAtoms.def>
};
#define ROWS (sizeof rows / sizeof *rows)

/* 0, 1, 2 for A, B, C. */
static unsigned operand_index(char operand) {
  return operand == 'A' ? 0 : operand == 'B' ? 1 : 2;
}

/* ---- Instructions
 * ------------------------------------------------------------------------------------------------------- */
static const tf_layout *flat_layout(tf_context *context, unsigned rank, const int64_t *shape, const int64_t *strides) {
  return tf_layout_plain(context, tf_tuple_ints(context, rank, shape), tf_tuple_ints(context, rank, strides));
}

/* The 32 lanes as (lane % 4, lane / 4). */
static const tf_mesh *lane_mesh(tf_context *context) {
  tf_topology level = {TF_LEVEL_THREAD, tf_dim_int(context, 32)};
  return tf_mesh_get(context, 1, &level, flat_layout(context, 2, (int64_t[]){4, 8}, (int64_t[]){1, 4}), 0, NULL);
}

static unsigned fragment_rank(const fragment *map) {
  unsigned rank = 0;
  while (rank < MAX_FACTORS && map->shape[rank])
    rank++;
  return rank;
}

static const tf_layout *fragment_layout(tf_context *context, const fragment *map, const tf_mesh *mesh) {
  tf_shard_attr attrs[2] = {{.kind = TF_SHARD_SPLIT, .axis = map->lane_axis},
                            {.kind = TF_SHARD_SPLIT, .axis = map->row_axis}};
  return tf_layout_shard(context, flat_layout(context, fragment_rank(map), map->shape, map->strides), 2, attrs, mesh);
}

static const tf_mma_atom *intern_atom(tf_context *context, const tf_mma_atom *key) {
  return tf_context_intern_bytes(context, TF_INTERN_ATOM, key, sizeof *key);
}

const tf_mma_atom *tf_mma_atom_get(tf_context *context, const char *op_name) {
  size_t i = 0;
  while (op_name && i < ROWS && strcmp(rows[i].name, op_name) != 0)
    i++;
  if (!context || !op_name || i == ROWS) return NULL;
  tf_mma_atom key;
  memset(&key, 0, sizeof key);
  key.row = &rows[i];
  memcpy(key.mnk, rows[i].mnk, sizeof key.mnk);
  key.scope = lane_mesh(context);
  for (unsigned k = 0; k < 3; k++)
    key.layouts[k] = fragment_layout(context, &rows[i].fragments[k], key.scope);
  return intern_atom(context, &key);
}

const char *tf_mma_atom_known_name(unsigned index) {
  return index < ROWS ? rows[index].name : NULL;
}

/* ---- Tiles
 * -------------------------------------------------------------------------------------------------------------- */
/* One operand of a tile: a matrix of rows x columns, in blocks over block_rows x block_columns warps, of atoms of
 * atom_rows x atom_columns. */
typedef struct tile_operand {
  int64_t rows, columns, block_rows, block_columns, atom_rows, atom_columns;
} tile_operand;

/* Position of the index i of C order over the atom's matrix, in C order of the tile's. */
static int64_t spread_stride(const tile_operand *tile, int64_t stride) {
  return stride / tile->atom_columns * tile->columns + stride % tile->atom_columns;
}

static const tf_layout *tile_layout(tf_context *context, const tile_operand *tile, const fragment *map,
                                    const tf_mesh *mesh) {
  int64_t warp_rows = tile->rows / tile->block_rows, warp_columns = tile->columns / tile->block_columns;
  int64_t shape[4 + MAX_FACTORS] = {tile->block_rows, tile->block_columns, warp_rows / tile->atom_rows,
                                    warp_columns / tile->atom_columns};
  int64_t strides[4 + MAX_FACTORS] = {warp_rows * tile->columns, warp_columns, tile->atom_rows * tile->columns,
                                      tile->atom_columns};
  unsigned rank = fragment_rank(map);
  for (unsigned i = 0; i < rank; i++) {
    shape[4 + i] = map->shape[i];
    strides[4 + i] = spread_stride(tile, map->strides[i]);
  }
  tf_shard_attr attrs[4] = {{.kind = TF_SHARD_SPLIT, .axis = 0},
                            {.kind = TF_SHARD_SPLIT, .axis = 1},
                            {.kind = TF_SHARD_SPLIT, .axis = 4 + map->lane_axis},
                            {.kind = TF_SHARD_SPLIT, .axis = 4 + map->row_axis}};
  return tf_layout_shard(context, flat_layout(context, 4 + rank, shape, strides), 4, attrs, mesh);
}

/* The same with the mesh axis `axis` replicated: its factor has extent 1 then and stays for the sake of one shape. */
static const tf_layout *replicated_over(tf_context *context, const tf_layout *layout, unsigned axis) {
  tf_shard_attr attrs[4];
  for (unsigned i = 0; i < 4; i++)
    attrs[i] = i == axis ? (tf_shard_attr){.kind = TF_SHARD_BROADCAST} : tf_layout_attr(layout, i);
  return tf_layout_shard(context, tf_layout_outer(layout), 4, attrs, tf_layout_mesh(layout));
}

static const tf_mesh *tile_mesh(tf_context *context, const int64_t warps[2]) {
  tf_topology levels[2] = {{TF_LEVEL_WARP, tf_dim_int(context, warps[0] * warps[1])},
                           {TF_LEVEL_THREAD, tf_dim_int(context, 32)}};
  const tf_layout *layout =
      flat_layout(context, 4, (int64_t[]){warps[0], warps[1], 4, 8}, (int64_t[]){32 * warps[1], 32, 1, 4});
  return tf_mesh_get(context, 2, levels, layout, 0, NULL);
}

/* Null if the tile is fine, else why not. */
static const char *tile_fault(tf_context *context, const tf_mma_atom *atom, const int64_t mnk[3],
                              const int64_t warps[2]) {
  static const int64_t most = INT64_C(1) << 20; /* products of three stay in 64 bits */
  if (atom->base) return "a tile is made from an instruction, not from another tile";
  for (unsigned i = 0; i < 2; i++)
    if (warps[i] < 1 || warps[i] > 32) return "a tile has 1 to 32 warps";
  if (warps[0] * warps[1] > 32) return "a tile has 1 to 32 warps";
  for (unsigned i = 0; i < 3; i++) {
    int64_t unit = atom->mnk[i] * (i < 2 ? warps[i] : 1);
    if (mnk[i] >= 1 && mnk[i] <= most && mnk[i] % unit == 0) continue;
    return tf_arena_printf(
        &context->arena, "%c = %lld is not a positive multiple of %lld, the atom's %lld times %lld warp(s)", "MNK"[i],
        (long long)mnk[i], (long long)unit, (long long)atom -> mnk[i], (long long)(unit / atom->mnk[i]));
  }
  return NULL;
}

const tf_mma_atom *tf_mma_atom_tile(tf_context *context, const tf_mma_atom *atom, const int64_t mnk[3],
                                    const int64_t warps[2], const char **reason) {
  const char *fault = context && atom ? tile_fault(context, atom, mnk, warps) : "there is no such atom";
  if (fault) {
    if (reason) *reason = fault;
    return NULL;
  }
  const int64_t *unit = atom->mnk;
  tile_operand a = {mnk[0], mnk[2], warps[0], 1, unit[0], unit[2]};
  tile_operand b = {mnk[2], mnk[1], 1, warps[1], unit[2], unit[1]};
  tile_operand c = {mnk[0], mnk[1], warps[0], warps[1], unit[0], unit[1]};
  tf_mma_atom key;
  memset(&key, 0, sizeof key);
  key.row = atom->row;
  key.base = atom;
  memcpy(key.mnk, mnk, sizeof key.mnk);
  memcpy(key.warps, warps, sizeof key.warps);
  key.scope = tile_mesh(context, warps);
  const fragment *maps = atom->row->fragments;
  key.layouts[0] = replicated_over(context, tile_layout(context, &a, &maps[0], key.scope), 1);
  key.layouts[1] = replicated_over(context, tile_layout(context, &b, &maps[1], key.scope), 0);
  key.layouts[2] = tile_layout(context, &c, &maps[2], key.scope);
  return intern_atom(context, &key);
}

/* ---- Reading
 * ---------------------------------------------------------------------------------------------------------- */
const char *tf_mma_atom_name(const tf_mma_atom *atom) {
  return atom ? atom->row->name : NULL;
}

void tf_mma_atom_shape(const tf_mma_atom *atom, int64_t mnk[3]) {
  for (unsigned i = 0; i < 3; i++)
    mnk[i] = atom ? atom->mnk[i] : 0;
}

bool tf_mma_atom_is_tile(const tf_mma_atom *atom, int64_t warps[2]) {
  bool tile = atom && atom->base;
  if (tile && warps) memcpy(warps, atom->warps, sizeof atom->warps);
  return tile;
}

const tf_mma_atom *tf_mma_atom_base(const tf_mma_atom *atom) {
  return atom && atom->base ? atom->base : atom;
}

tf_dtype tf_mma_atom_dtype(const tf_mma_atom *atom, char operand) {
  return atom ? atom->row->dtypes[operand_index(operand)] : TF_DTYPE_COUNT;
}

const tf_layout *tf_mma_atom_layout(const tf_mma_atom *atom, char operand) {
  return atom ? atom->layouts[operand_index(operand)] : NULL;
}

const tf_mesh *tf_mma_atom_required_scope(const tf_mma_atom *atom) {
  return atom ? atom->scope : NULL;
}

const char *tf_mma_atom_intrinsic(const tf_mma_atom *atom) {
  return atom->row->intrinsic;
}

unsigned tf_mma_atom_min_sm(const tf_mma_atom *atom) {
  return atom->row->min_sm;
}

unsigned tf_mma_atom_min_ptx(const tf_mma_atom *atom) {
  return atom->row->min_ptx;
}

unsigned tf_mma_atom_registers(const tf_mma_atom *atom, char operand, const unsigned char **out) {
  const registers *list = &atom->row->registers[operand_index(operand)];
  *out = list->values;
  return list->count;
}

void tf_mma_atom_matrix(const tf_mma_atom *atom, char operand, int64_t *rows_out, int64_t *columns_out) {
  *rows_out = atom->mnk[operand == 'B' ? 2 : 0];
  *columns_out = atom->mnk[operand == 'A' ? 2 : 1];
}

bool tf_mma_atom_belongs(tf_context *context, const tf_mma_atom *atom) {
  return atom && intern_atom(context, atom) == atom;
}

/* ---- Arrays of fragments
 * -------------------------------------------------------------------------------------------------- */
/* The strides of the axes in front: C order over (extents…, the layout's domain). */
static const tf_tuple *stacked_strides(tf_context *context, const tf_layout *plain, unsigned count,
                                       const int64_t *extents) {
  unsigned own = tf_tuple_count(tf_layout_strides(plain));
  const tf_tuple **strides = TF_ARENA_ARRAY(&context->arena, const tf_tuple *, count + own);
  const tf_dim *step = tf_tuple_product(context, tf_layout_shape(plain));
  for (unsigned i = count; i-- > 0;) {
    strides[i] = tf_tuple_leaf(context, step);
    step = tf_dim_binary(context, TF_DIM_MUL, step, tf_dim_int(context, extents[i]));
    if (!step) return NULL;
  }
  for (unsigned i = 0; i < own; i++)
    strides[count + i] = tf_tuple_element(tf_layout_strides(plain), i);
  return tf_tuple_list(context, count + own, strides);
}

static const tf_tuple *stacked_shape(tf_context *context, const tf_layout *plain, unsigned count,
                                     const int64_t *extents) {
  unsigned own = tf_tuple_count(tf_layout_shape(plain));
  const tf_tuple **shape = TF_ARENA_ARRAY(&context->arena, const tf_tuple *, count + own);
  for (unsigned i = 0; i < count; i++)
    shape[i] = tf_tuple_leaf(context, tf_dim_int(context, extents[i]));
  for (unsigned i = 0; i < own; i++)
    shape[count + i] = tf_tuple_element(tf_layout_shape(plain), i);
  return tf_tuple_list(context, count + own, shape);
}

const tf_layout *tf_mma_stack(tf_context *context, const tf_layout *layout, unsigned count, const int64_t *extents) {
  const tf_layout *plain = context && tf_layout_is_shard(layout) ? tf_layout_outer(layout) : NULL;
  if (!plain || tf_layout_get_kind(plain) != TF_LAYOUT_PLAIN) return NULL;
  for (unsigned i = 0; i < count; i++)
    if (extents[i] < 1) return NULL;
  const tf_tuple *strides = NULL; /* dealt in C order of the domain: still true with axes in front */
  if (tf_layout_strides(plain)) {
    strides = stacked_strides(context, plain, count, extents);
    if (!strides) return NULL;
  }
  unsigned attr_count = tf_layout_attr_count(layout);
  tf_shard_attr *attrs = TF_ARENA_ARRAY(&context->arena, tf_shard_attr, attr_count);
  for (unsigned i = 0; i < attr_count; i++) {
    attrs[i] = tf_layout_attr(layout, i);
    if (attrs[i].kind == TF_SHARD_SPLIT) attrs[i].axis += count;
  }
  const tf_layout *stacked = tf_layout_plain(context, stacked_shape(context, plain, count, extents), strides);
  return tf_layout_shard(context, stacked, attr_count, attrs, tf_layout_mesh(layout));
}
