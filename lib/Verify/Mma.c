/* Matrix products: operands as the instruction wants them, and all of the threads that it runs on. */
#include "Verify/State.h"

#include <limits.h>

#include "IR/MmaAtom.h"
#include "IR/View.h"

typedef struct tf_mma_use {
  tf_verifier *v;
  const tf_mma_atom *atom;
  const tf_expr *operands[3];
} tf_mma_use;

static const char operand_letters[] = "CAB";
static const char *const operand_names[] = {"acc", "lhs", "rhs"};

/* ---- Operand contracts ---------------------------------------------------------------------------------------------------- */

static const char *shape_text(tf_context *context, const tf_type *type) {
  tf_string text;
  tf_string_init(&text, &context->arena);
  for (unsigned i = 0; i < tf_type_rank(type); i++)
    tf_string_printf(&text, "%s%s", i ? ", " : "(", tf_dim_print(context, tf_type_extent(type, i)));
  tf_string_puts(&text, ")");
  return text.text;
}

static bool check_dtype(const tf_mma_use *use, int i) {
  const tf_expr *operand = use->operands[i];
  tf_dtype want = tf_mma_atom_dtype(use->atom, operand_letters[i]), have = tf_type_dtype(operand->type);
  if (have == want) return true;
  TF_FAIL(use->v, operand, tf_verifier_loc(use->v, operand), MMA_DTYPE, operand_names[i], tf_dtype_name(have),
          tf_mma_atom_name(use->atom), tf_dtype_name(want));
  return false;
}

static bool check_shape(const tf_mma_use *use, int i) {
  const tf_expr *operand = use->operands[i];
  int64_t rows, columns, have_rows, have_columns;
  tf_mma_atom_matrix(use->atom, operand_letters[i], &rows, &columns);
  if (tf_mma_matrix_of(operand->type, &have_rows, &have_columns) && have_rows == rows && have_columns == columns)
    return true;
  TF_FAIL(use->v, operand, tf_verifier_loc(use->v, operand), MMA_SHAPE, operand_names[i],
          shape_text(use->v->context, operand->type), tf_mma_atom_name(use->atom), (long long)rows, (long long)columns);
  return false;
}

static const tf_ownership *owned(const tf_mma_use *use, int i) {
  const tf_view *view = tf_view_of(use->v->context, use->operands[i], NULL);
  return view ? view->ownership : NULL;
}

static bool check_layout(const tf_mma_use *use, int i) {
  const tf_expr *operand = use->operands[i];
  tf_context *context = use->v->context;
  const tf_layout *have = tf_type_layout(operand->type), *want = tf_mma_atom_layout(use->atom, operand_letters[i]);
  tf_storage storage = tf_type_storage(operand->type);
  bool shared = storage == TF_STORAGE_SMEM && i > 0;
  if (!shared && storage != TF_STORAGE_RMEM) {
    TF_FAIL(use->v, operand, tf_verifier_loc(use->v, operand), MMA_STORAGE, operand_names[i], tf_storage_name(storage),
            i == 0 ? "the accumulator is a fragment in rmem" : "operands are fragments in rmem or windows in smem");
    return false;
  }
  if (shared ? !tf_layout_is_shard(have) : tf_mma_atom_owns(context, use->atom, operand_letters[i], owned(use, i)))
    return true;
  TF_FAIL(use->v, operand, tf_verifier_loc(use->v, operand), MMA_LAYOUT, operand_names[i],
          have ? tf_layout_print(context, have) : "of a plain tensor", tf_mma_atom_name(use->atom),
          shared ? "no layout for shared windows (they are plain)" : tf_layout_print(context, want));
  return false;
}

/* ---- Scope ------------------------------------------------------------------------------------------------------------------ */

static bool same_levels(const tf_mesh *a, const tf_mesh *b) {
  if (tf_mesh_level_count(a) != tf_mesh_level_count(b)) return false;
  for (unsigned i = 0; i < tf_mesh_level_count(a); i++)
    if (tf_mesh_level(a, i).level != tf_mesh_level(b, i).level) return false;
  return true;
}

static bool check_scope(const tf_mma_use *use, const tf_mesh *required) {
  tf_verifier *v = use->v;
  const char *name = tf_mma_atom_name(use->atom), *text = tf_mesh_print(v->context, required);
  if (tf_region_provides(&v->region, required)) return true;
  bool threads = false, levels = false;
  for (const tf_scope *s = v->region.scope; s; s = s->outer) {
    threads = threads || s->placement->threads > 0;
    levels = levels || same_levels(s->placement->mesh, required);
  }
  bool reported;
  if (!threads)
    reported = TF_FAIL(v, v->stmt, v->stmt->loc, MMA_NO_SCOPE, name, text);
  else if (!levels)
    reported = TF_FAIL(v, v->stmt, v->stmt->loc, MMA_SCOPE_LEVEL, name, text);
  else
    reported = TF_FAIL(v, v->stmt, v->stmt->loc, MMA_SCOPE_LAYOUT, name, text);
  if (reported) tf_verifier_scope_notes(v);
  return false;
}

/* The threads that execute the instruction together: whole warps, or for a tile the whole required scope. */
static void meet(const tf_mma_use *use, const tf_mesh *required) {
  tf_verifier *v = use->v;
  tf_thread_set groups[TF_MAX_BLOCK / 32];
  unsigned count = 0;
  int64_t warps[2], wanted = 32;
  if (tf_mma_atom_is_tile(use->atom, warps)) {
    wanted = 32 * tf_static_or(tf_mesh_level(required, 0).size, 1);
    groups[count++] = tf_threads_interval(0, wanted);
  } else {
    for (int64_t t = tf_threads_next(&v->region.active, 0); t >= 0;
         t = tf_threads_next(&v->region.active, t / 32 * 32 + 32))
      groups[count++] = tf_threads_interval(t / 32 * 32, 32);
  }
  int64_t come = 0;
  bool all = true;
  for (unsigned i = 0; i < count; i++) {
    all = all && tf_threads_subset(&groups[i], &v->region.active);
    come += tf_threads_count(&groups[i]);
  }
  if (!all) {
    if (TF_FAIL(v, v->stmt, v->stmt->loc, MMA_LANES, (long long)come, (long long)tf_threads_count(&v->region.active)))
      tf_verifier_scope_notes(v);
    return;
  }
  tf_verifier_meet(v, "mma", count, groups, false);
}

/* ---- The op ------------------------------------------------------------------------------------------------------------------ */

/* If the target has none, one that it lacks, for the message. */
static const tf_mma_atom *implied_atom(const tf_mma_use *use) {
  tf_context *context = use->v->context;
  const tf_type *types[TF_MMA_OPERANDS];
  const tf_ownership *fragments[TF_MMA_OPERANDS];
  for (int i = 0; i < TF_MMA_OPERANDS; i++) {
    types[i] = use->operands[i]->type;
    fragments[i] = tf_type_storage(types[i]) == TF_STORAGE_RMEM ? owned(use, i) : NULL;
  }
  const tf_mma_atom *atom = tf_mma_atom_implied(context, tf_target_sm(use->v->target), types, fragments);
  return atom ? atom : tf_mma_atom_implied(context, UINT_MAX, types, fragments);
}

void tf_verify_MMA(tf_verifier *v, const tf_invocation *inv) {
  tf_mma_use use = {v,
                    inv->attrs[TF_ATTRIBUTE_MMA_atom].atom,
                    {inv->args[TF_ARG_MMA_acc], inv->args[TF_ARG_MMA_lhs], inv->args[TF_ARG_MMA_rhs]}};
  if (!tf_verify_operands(v, inv)) return;
  if (!use.atom) use.atom = implied_atom(&use);
  if (!use.atom) {
    TF_FAIL(v, v->stmt, v->stmt->loc, MMA_NO_ATOM);
    return;
  }
  if (tf_target_sm(v->target) < tf_mma_atom_min_sm(use.atom))
    TF_FAIL(v, v->stmt, v->stmt->loc, MMA_TARGET, tf_mma_atom_name(use.atom), tf_mma_atom_min_sm(use.atom),
            tf_target_name(v->target));
  bool good = true;
  for (int i = 0; i < 3; i++)
    good &= check_dtype(&use, i) && check_shape(&use, i) && check_layout(&use, i);
  const tf_mesh *required = tf_mma_atom_required_scope(use.atom);
  if (check_scope(&use, required) && good) meet(&use, required);
}
