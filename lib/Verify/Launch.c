/* Launches of kernels from host functions: callee, arguments, geometry, attributes.
 *
 *   block.x * block.y * block.z   is exactly the kernel's B, if it has a thread scope
 *   grid.x  * grid.y  * grid.z    is exactly the kernel's G, if it has a cta scope        (the runtime asks again) */
#include "Verify/State.h"

enum { GRID, BLOCK };

typedef struct tf_extents {
  bool known[3];
  int64_t values[3];
} tf_extents;

static bool read_extents(tf_verifier *v, const tf_invocation *inv, int which, tf_extents *out) {
  static const int64_t limits[2][3] = {{INT32_MAX, 65535, 65535}, {1024, 1024, 64}};
  static const char axis_names[] = "xyz";
  const char *name = which == GRID ? "grid" : "block";
  bool good = true;
  for (int i = 0; i < 3; i++) {
    const tf_expr *extent = inv->args[(which == GRID ? TF_ARG_LAUNCH_grid_x : TF_ARG_LAUNCH_block_x) + i];
    const tf_fact *fact = tf_fact_of(v->facts, &v->region, extent);
    out->known[i] = fact->known && !fact->values;
    out->values[i] = fact->constant;
    if (!out->known[i] || (fact->constant >= 0 && fact->constant <= limits[which][i])) continue;
    TF_FAIL(v, extent, tf_verifier_loc(v, extent), LAUNCH_EXTENT, name, axis_names[i], (long long)fact->constant,
            (long long)limits[which][i]);
    good = false;
  }
  return good;
}

static bool product(const tf_extents *extents, int64_t *out) {
  *out = 1;
  for (int i = 0; i < 3; i++) {
    if (!extents->known[i]) return false;
    *out *= extents->values[i];
  }
  return true;
}

static void check_geometry(tf_verifier *v, const tf_stmt *kernel, const tf_extents *grid, const tf_extents *block) {
  tf_geometry geometry = tf_geometry_of(v->module, kernel);
  int64_t threads, ctas, wanted = tf_static_or(geometry.grid, -1);
  bool reported = false;
  if (product(block, &threads) && threads > TF_MAX_BLOCK) {
    TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_BLOCK_LIMIT, (long long)threads, TF_MAX_BLOCK);
    return;
  }
  if (product(block, &threads) && threads != 0 && geometry.has_threads && threads != geometry.block)
    reported = TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_GEOMETRY, "threads", (long long)threads, kernel->function.name,
                       (long long)geometry.block, "threads of a block");
  if (!reported && product(grid, &ctas) && ctas != 0 && geometry.has_ctas && wanted >= 0 && ctas != wanted)
    reported = TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_GEOMETRY, "CTAs", (long long)ctas, kernel->function.name,
                       (long long)wanted, "CTAs of the grid");
  if (reported) tf_report(v->context, kernel->loc, FUNCTION_HERE, kernel->function.name);
}

/* ---- Attributes ------------------------------------------------------------------------------------------------------------- */

static bool check_feature(tf_verifier *v, const tf_target *target, const char *what, bool available,
                          const char *needs) {
  if (available) return true;
  TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_FEATURE, what, tf_target_name(target), needs);
  return false;
}

static void check_cluster(tf_verifier *v, const tf_target *target, const char *what, const int64_t extents[3],
                          const tf_extents *grid) {
  int64_t total = 1;
  if (!check_feature(v, target, what, tf_target_sm(target) >= 90, "sm_90 or newer")) return;
  for (int i = 0; i < 3; i++)
    total = extents[i] < 1 || extents[i] > 16 ? 1000 : total * extents[i];
  if (total > 16) {
    TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_CLUSTER, (long long)extents[0], (long long)extents[1],
            (long long)extents[2]);
    return;
  }
  for (int i = 0; i < 3; i++)
    if (grid->known[i] && grid->values[i] % extents[i] != 0) {
      TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_CLUSTER_GRID, (long long)grid->values[i], (long long)extents[i],
              "xyz"[i]);
      return;
    }
}

static void check_attrs(tf_verifier *v, const tf_invocation *inv, const tf_target *target, const tf_extents *grid) {
  const tf_launch_attrs *attrs = inv->attrs[TF_ATTRIBUTE_LAUNCH_attrs].launch_attrs;
  for (size_t i = 0; attrs && i < attrs->count; i++) {
    const tf_launch_attr *attr = &attrs->entries[i];
    const char *name = tf_launch_attr_name(attr->kind);
    if (attr->kind == TF_LAUNCH_ATTR_CLUSTER_DIMENSION) check_cluster(v, target, name, attr->values, grid);
    if (attr->kind == TF_LAUNCH_ATTR_PROGRAMMATIC_STREAM_SERIALIZATION)
      check_feature(v, target, name, tf_target_sm(target) >= 90, "sm_90 or newer");
    for (size_t j = 0; j < i; j++)
      if (attrs->entries[j].kind == attr->kind) TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_ATTR_TWICE, name);
  }
}

static void check_options(tf_verifier *v, const tf_invocation *inv, const tf_target *target, const tf_extents *grid) {
  const tf_tuple *cluster = inv->attrs[TF_ATTRIBUTE_LAUNCH_cluster].tuple;
  if (cluster && tf_tuple_count(cluster) == 3) {
    int64_t extents[3];
    for (unsigned i = 0; i < 3; i++)
      extents[i] = tf_static_or(tf_tuple_dim(tf_tuple_element(cluster, i)), 0);
    check_cluster(v, target, "cluster", extents, grid);
  }
  const tf_dim *bytes = inv->attrs[TF_ATTRIBUTE_LAUNCH_dynamic_smem].dim;
  int64_t min = 0, max;
  if (bytes) tf_dim_range(bytes, &min, &max);
  if (min < 0) TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_DYNAMIC_SMEM, tf_dim_print(v->context, bytes));
  check_attrs(v, inv, target, grid);
}

/* ---- The op ------------------------------------------------------------------------------------------------------------------ */

void tf_verify_LAUNCH(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *symbol = inv->args[TF_ARG_LAUNCH_callee], *const * args;
  if (!v->host) {
    TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_PLACE, v->region.function->function.name);
    return;
  }
  const tf_stmt *kernel = tf_verify_symbol(v, symbol, v->stmt->loc);
  if (!kernel) return;
  if (tf_function_is_host(kernel)) {
    if (TF_FAIL(v, v->stmt, v->stmt->loc, LAUNCH_CALLEE, kernel->function.name))
      tf_report(v->context, kernel->loc, FUNCTION_HERE, kernel->function.name);
    return;
  }
  unsigned count = tf_invocation_variadic(inv, &args);
  tf_extents grid, block;
  bool good = tf_verify_arguments(v, kernel, true, v->stmt->loc, count, args);
  good &= read_extents(v, inv, GRID, &grid);
  good &= read_extents(v, inv, BLOCK, &block);
  if (!good) return;
  check_geometry(v, kernel, &grid, &block);
  check_options(v, inv, tf_verifier_target(v, kernel), &grid);
}
