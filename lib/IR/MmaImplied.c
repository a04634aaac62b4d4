/* Which instruction, or tile of it, an mma without atom= means: one whose dtypes and shapes are the operands' and whose fragments
 * are what the operands own; of several, which then differ in K alone, the one that does most. The accumulator's fragment tells
 * warps' rows from their columns:
 *
 *   4 warps, acc 64 x 64      (4, 1): 16 x 64 each      (2, 2): 32 x 32 each      (1, 4): 64 x 16 each */
#include "IR/MmaAtom.h"
#include "IR/View.h"

static const char letters[TF_MMA_OPERANDS] = {'C', 'A', 'B'};

/* The ownership of the atom's own fragment; null only for a faulty table, which its tests exclude. */
static const tf_ownership *fragment_ownership(tf_context *context, const tf_mma_atom *atom, char operand) {
  int64_t rows, columns;
  tf_mma_atom_matrix(atom, operand, &rows, &columns);
  const tf_dim *shape[2] = {tf_dim_int(context, rows), tf_dim_int(context, columns)};
  const tf_type *type = tf_type_tensor(context, 2, shape, tf_mma_atom_dtype(atom, operand),
                                       tf_mma_atom_layout(atom, operand), TF_STORAGE_RMEM);
  const tf_ownership *ownership = NULL;
  const char *reason;
  return tf_ownership_of(context, type, NULL, &ownership, &reason) == TF_OK ? ownership : NULL;
}

static bool same_ownership(const tf_ownership *a, const tf_ownership *b) {
  if (!a || !b || !a->mesh || !b->mesh || !tf_mesh_same_shape(a->mesh, b->mesh)) return false;
  if (a->factor_count != b->factor_count || !a->steps_are_affine || !b->steps_are_affine) return false;
  for (unsigned i = 0; i < a->factor_count; i++) {
    const tf_factor *x = &a->factors[i], *y = &b->factors[i];
    if (x->extent != y->extent || x->step != y->step || x->mesh_axis != y->mesh_axis || x->divisor != y->divisor)
      return false;
  }
  return true;
}

bool tf_mma_atom_owns(tf_context *context, const tf_mma_atom *atom, char operand, const tf_ownership *owned) {
  return same_ownership(owned, fragment_ownership(context, atom, operand));
}

/* The last two extents are the matrix; what stands before is 1. */
bool tf_mma_matrix_of(const tf_type *type, int64_t *rows, int64_t *columns) {
  unsigned rank = tf_type_rank(type);
  int64_t *out[2] = {rows, columns};
  if (rank < 2) return false;
  for (unsigned i = 0; i < rank; i++) {
    int64_t extent;
    if (!tf_dim_is_static(tf_type_extent(type, i), &extent)) return false;
    if (i + 2 >= rank)
      *out[i + 2 - rank] = extent;
    else if (extent != 1)
      return false;
  }
  return true;
}

static bool fits(tf_context *context, const tf_mma_atom *atom, const tf_type *const *types,
                 const tf_ownership *const *owned) {
  if (!atom) return false;
  for (int i = 0; i < TF_MMA_OPERANDS; i++) {
    int64_t rows, columns, want_rows, want_columns;
    tf_mma_atom_matrix(atom, letters[i], &want_rows, &want_columns);
    if (!tf_mma_matrix_of(types[i], &rows, &columns) || rows != want_rows || columns != want_columns) return false;
    if (owned[i] && !tf_mma_atom_owns(context, atom, letters[i], owned[i])) return false;
  }
  return true;
}

static bool has_dtypes(const tf_mma_atom *atom, const tf_type *const *types) {
  for (int i = 0; i < TF_MMA_OPERANDS; i++)
    if (tf_mma_atom_dtype(atom, letters[i]) != tf_type_dtype(types[i])) return false;
  return true;
}

/* The tile over some arrangement of the accumulator's warps. */
static const tf_mma_atom *implied_tile(tf_context *context, const tf_mma_atom *atom, const tf_type *const *types,
                                       const tf_ownership *const *owned) {
  int64_t mnk[3], rows_of_lhs, count;
  tf_topology warps = tf_mesh_level(owned[0]->mesh, 0);
  if (warps.level != TF_LEVEL_WARP || !tf_dim_is_static(warps.size, &count)) return NULL;
  if (!tf_mma_matrix_of(types[0], &mnk[0], &mnk[1]) || !tf_mma_matrix_of(types[1], &rows_of_lhs, &mnk[2])) return NULL;
  for (int64_t rows = 1; rows <= count; rows++) {
    if (count % rows != 0) continue;
    const tf_mma_atom *tile = tf_mma_atom_tile(context, atom, mnk, (int64_t[]){rows, count / rows}, NULL);
    if (fits(context, tile, types, owned)) return tile;
  }
  return NULL;
}

static int64_t depth(const tf_mma_atom *atom) {
  int64_t mnk[3];
  tf_mma_atom_shape(tf_mma_atom_base(atom), mnk);
  return mnk[2];
}

const tf_mma_atom *tf_mma_atom_implied(tf_context *context, unsigned sm, const tf_type *const types[TF_MMA_OPERANDS],
                                       const tf_ownership *const owned[TF_MMA_OPERANDS]) {
  const tf_mma_atom *best = NULL;
  const char *name;
  for (unsigned i = 0; owned[0] && owned[0]->mesh && (name = tf_mma_atom_known_name(i)) != NULL; i++) {
    const tf_mma_atom *atom = tf_mma_atom_get(context, name);
    if (!atom || tf_mma_atom_min_sm(atom) > sm || !has_dtypes(atom, types)) continue;
    if (!fits(context, atom, types, owned)) atom = implied_tile(context, atom, types, owned);
    if (atom && (!best || depth(atom) > depth(best))) best = atom;
  }
  return best;
}
