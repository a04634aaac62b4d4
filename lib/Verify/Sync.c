/* Barriers: where a sync is legal, what it joins, and that all of them come. */
#include "Verify/State.h"

static void note_nearest(tf_verifier *v, const tf_scope *nearest) {
  if (nearest)
    tf_report(v->context, nearest->stmt->loc, SCOPE_NEAREST, nearest->stmt->mesh_scope.var->var.name,
              tf_mesh_print(v->context, nearest->placement->mesh));
  else
    tf_verifier_scope_notes(v);
}

/* Refusals whose message names the mesh and nothing else. */
static void refuse(tf_verifier *v, tf_sync_fault fault, const tf_mesh *mesh, const tf_scope *nearest) {
  tf_loc loc = v->stmt->loc;
  const char *text = tf_mesh_print(v->context, mesh);
  const char *reason = NULL;
  bool note = false;
  int64_t base = 0, count = 0;
  if (fault == TF_SYNC_NOT_ALIGNED) tf_participants(mesh, &base, &count);
  int64_t unit = tf_mesh_has_level(mesh, TF_LEVEL_THREAD) ? 1 : 32;
  long long first = base * unit, total = count * unit;
  switch (fault) {
  case TF_SYNC_NO_SCOPE:
    TF_FAIL(v, v->stmt, loc, SYNC_NO_SCOPE, text);
    break;
  case TF_SYNC_NOT_THAT_MESH:
    note = TF_FAIL(v, v->stmt, loc, SYNC_NOT_THAT_MESH, text);
    break;
  case TF_SYNC_NOT_A_SLICE:
    note = TF_FAIL(v, v->stmt, loc, SYNC_NOT_A_SLICE, text);
    break;
  case TF_SYNC_CTA_SLICE:
    TF_FAIL(v, v->stmt, loc, SYNC_CTA_SLICE);
    break;
  case TF_SYNC_PART_OF_GRID:
    TF_FAIL(v, v->stmt, loc, SYNC_PART_OF_GRID, tf_dim_print(v->context, tf_mesh_level(mesh, 0).size),
            tf_dim_print(v->context, v->geometry.grid));
    break;
  case TF_SYNC_MIXED:
    TF_FAIL(v, v->stmt, loc, SYNC_MIXED, text);
    break;
  case TF_SYNC_UNPLACED:
    tf_placement_of(v->context, mesh, false, &reason);
    TF_FAIL(v, v->stmt, loc, SYNC_INCONSISTENT, text, reason);
    break;
  case TF_SYNC_NOT_CONTIGUOUS:
    TF_FAIL(v, v->stmt, loc, SYNC_NOT_CONTIGUOUS, text);
    break;
  case TF_SYNC_NOT_ALIGNED:
    TF_FAIL(v, v->stmt, loc, SYNC_NOT_ALIGNED, first, first + total, total);
    break;
  case TF_SYNC_NOT_ALL_ACTIVE:
    if (TF_FAIL(v, v->stmt, loc, SYNC_NOT_ALL_ACTIVE, tf_mesh_is_grid(mesh) ? "whole blocks" : "its participants",
                (long long)tf_threads_count(&v->region.active), (long long)v->geometry.block))
      tf_verifier_scope_notes(v);
    break;
  case TF_SYNC_FINE:
    break;
  }
  if (note) note_nearest(v, nearest);
}

void tf_verify_SYNC(tf_verifier *v, const tf_invocation *inv) {
  const tf_mesh *mesh = inv->attrs[TF_ATTRIBUTE_SYNC_mesh].mesh;
  tf_participation participation;
  const tf_scope *scope = NULL;
  tf_sync_fault fault = tf_classify(&v->region, mesh, &participation, &scope);
  if (fault != TF_SYNC_FINE) {
    refuse(v, fault, mesh, scope);
    return;
  }
  tf_thread_set groups[TF_MAX_BLOCK / 32];
  unsigned count = tf_participation_groups(&v->region, &participation, groups);
  bool grid = participation.kind == TF_BARRIER_GRID;
  tf_site *site = tf_verifier_meet(v, "sync", grid ? 0 : count, groups, grid);
  site->participation = participation;
}
