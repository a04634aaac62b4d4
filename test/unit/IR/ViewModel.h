/* What the tests of views share: making IR, addresses of a view by the definition in View.h (run-time starts are bound to
 * numbers), and a model that knows nothing of strides: a value is the list of addresses of its elements in C order, and
 * windows and reshapes pick from that list. */
#ifndef TF_TEST_IR_VIEW_MODEL_H
#define TF_TEST_IR_VIEW_MODEL_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "IR/Construct.h"
#include "IR/Infer.h"
#include "IR/View.h"
#include "Random.h"

static tf_context *context;
static uint64_t seed;

static inline void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  seed = 88172645463325252u;
}

static inline void teardown(void) {
  tf_context_destroy(context);
}

static inline int64_t draw(int64_t lo, int64_t hi) { /* lo … hi */
  return lo + (int64_t)random_below(&seed, (uint64_t)(hi - lo + 1));
}

static inline int64_t number(const tf_dim *dim) {
  int64_t value = -1;
  ck_assert_msg(tf_dim_is_static(dim, &value), "a symbolic dim");
  return value;
}

/* ---- Making IR -------------------------------------------------------------------------------------------------------------- */
/* Run-time numbers are variables whose name is their value. */
static inline const tf_expr *runtime(int64_t value) {
  char name[32];
  snprintf(name, sizeof name, "%lld", (long long)value);
  return tf_expr_var_new(context, name, tf_type_scalar(context, TF_DTYPE_I64), TF_NO_LOC);
}

static inline const tf_expr *constant(int64_t value) {
  return tf_expr_int(context, TF_DTYPE_I64, value, TF_NO_LOC);
}

static inline const tf_expr *either(int64_t value) {
  return draw(0, 1) ? runtime(value) : constant(value);
}

static inline int64_t evaluate(const tf_expr *expr) {
  if (expr->kind == TF_EXPR_CONSTANT) return expr->constant.i;
  if (expr->kind == TF_EXPR_VAR) return strtoll(expr->var.name, NULL, 10);
  ck_assert_int_eq(expr->call.op, TF_OP_SCALAR_BINARY);
  ck_assert_int_eq(expr->call.attrs[0].i, TF_SCALAR_BINARY_ADD);
  return evaluate(expr->call.args[0]) + evaluate(expr->call.args[1]);
}

static inline const tf_dim *const *dims(unsigned count, const int64_t *values) {
  const tf_dim **out = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count + 1);
  for (unsigned i = 0; i < count; i++)
    out[i] = tf_dim_int(context, values[i]);
  return out;
}

static inline const tf_layout *plain(unsigned rank, const int64_t *shape, const int64_t *strides) {
  return tf_layout_plain(context, tf_tuple_ints(context, rank, shape),
                         strides ? tf_tuple_ints(context, rank, strides) : NULL);
}

static inline const tf_type *tensor(unsigned rank, const int64_t *shape, const tf_layout *layout, tf_storage storage) {
  return tf_type_tensor(context, rank, dims(rank, shape), TF_DTYPE_F32, layout, storage);
}

static inline const tf_expr *param(unsigned rank, const int64_t *shape, const tf_layout *layout) {
  return tf_expr_param(context, "x", tensor(rank, shape, layout, TF_STORAGE_GMEM), false, TF_NO_LOC);
}

static inline const tf_expr *bind(const tf_expr *value) {
  return value ? tf_expr_let_var(context, "v", value, TF_NO_LOC) : NULL;
}

static inline const tf_expr *alloc(const tf_type *type) {
  tf_attr attr = {.type = type};
  return bind(tf_expr_call(context, TF_OP_ALLOC_TENSOR, 0, NULL, &attr, TF_NO_LOC));
}

static inline const tf_expr *view_with(const tf_expr *memory, unsigned starts, const tf_expr *const *indices,
                                       const tf_layout *layout, const tf_tuple *shape, const tf_expr *clip) {
  const tf_expr *args[20] = {memory};
  for (unsigned i = 0; i < starts; i++)
    args[1 + i] = indices[i];
  tf_attr attrs[3] = {{.layout = layout}, {.tuple = shape}, {.literal = clip}};
  return bind(tf_expr_call(context, TF_OP_TENSOR_VIEW, 1 + starts, args, attrs, TF_NO_LOC));
}

static inline const tf_expr *window(const tf_expr *memory, unsigned starts, const tf_expr *const *indices,
                                    unsigned rank, const int64_t *shape) {
  return view_with(memory, starts, indices, NULL, tf_tuple_ints(context, rank, shape), NULL);
}

static inline const tf_expr *reshape(const tf_expr *memory, unsigned rank, const int64_t *shape) {
  return view_with(memory, 0, NULL, NULL, tf_tuple_ints(context, rank, shape), NULL);
}

static inline const tf_expr *laid(const tf_expr *memory, const tf_layout *layout) {
  return view_with(memory, 0, NULL, layout, NULL, NULL);
}

static inline const tf_view *view_of(const tf_expr *expr) {
  const char *reason = "";
  ck_assert_msg(expr != NULL, "%s",
                tf_context_diagnostic_count(context) ? tf_context_diagnostic(context, 0)->message : "no expression");
  const tf_view *view = tf_view_of(context, expr, &reason);
  ck_assert_msg(view != NULL, "%s", reason);
  ck_assert_ptr_eq(view->type, expr->type);
  return view;
}

/* ---- Addresses, by the definition in View.h ------------------------------------------------------------------------------------ */
/* The coordinates of this instance on the meshes that occur: at most two. */
typedef struct instance {
  const tf_mesh *mesh[2];
  int64_t coordinates[2][8];
} instance;

static inline const int64_t *coordinates_on(const instance *who, const tf_mesh *mesh) {
  for (unsigned i = 0; i < 2; i++)
    if (who && who->mesh[i] == mesh) return who->coordinates[i];
  ck_abort_msg("a mesh that the test does not know");
  return NULL;
}

static inline int64_t first_address(const tf_view *view, const instance *who) {
  int64_t sum = number(view->constant);
  for (unsigned i = 0; i < view->start_count; i++) {
    const tf_view_start *start = &view->starts[i];
    int64_t index = start->index
                        ? evaluate(start->index)
                        : coordinates_on(who, start->mesh)[start->mesh_axis] / start->divisor % number(start->extent);
    sum += index * number(start->stride);
  }
  return sum;
}

typedef struct element {
  int64_t logical, address;
} element;

/* The elements of this instance in order of their local number. */
static inline unsigned elements_of(const tf_view *view, const instance *who, element *out, unsigned capacity) {
  const tf_ownership *own = view->ownership;
  ck_assert_ptr_nonnull(view->digit_strides);
  element fixed = {0, first_address(view, who)};
  int64_t count = 1;
  for (unsigned i = 0; i < own->factor_count; i++) {
    const tf_factor *factor = &own->factors[i];
    if (factor->mesh_axis < 0) {
      count *= number(factor->extent);
      continue;
    }
    int64_t digit = coordinates_on(who, own->mesh)[factor->mesh_axis] / factor->divisor % number(factor->extent);
    fixed.logical += digit * number(factor->step);
    fixed.address += digit * number(view->digit_strides[i]);
  }
  ck_assert_int_le(count, capacity);
  for (int64_t n = 0; n < count; n++) {
    int64_t rest = n;
    out[n] = fixed;
    for (unsigned i = 0; i < own->factor_count; i++) {
      if (own->factors[i].mesh_axis >= 0) continue;
      int64_t digit = rest % number(own->factors[i].extent);
      rest /= number(own->factors[i].extent);
      out[n].logical += digit * number(own->factors[i].step);
      out[n].address += digit * number(view->digit_strides[i]);
    }
  }
  return (unsigned)count;
}

/* ---- The model --------------------------------------------------------------------------------------------------------------------- */
#define MAX_ELEMENTS 4096
#define MAX_RANK     6
typedef struct value {
  unsigned rank;
  int64_t shape[MAX_RANK];
  int64_t count;
  int64_t address[MAX_ELEMENTS];
} value;

static inline int64_t product(unsigned rank, const int64_t *shape) {
  int64_t count = 1;
  for (unsigned i = 0; i < rank; i++)
    count *= shape[i];
  return count;
}

static inline void unravel(int64_t index, unsigned rank, const int64_t *shape, int64_t *out) {
  for (unsigned i = rank; i-- > 0;) {
    out[i] = index % shape[i];
    index /= shape[i];
  }
}

static inline int64_t ravel(unsigned rank, const int64_t *shape, const int64_t *coordinates) {
  int64_t index = 0;
  for (unsigned i = 0; i < rank; i++)
    index = index * shape[i] + coordinates[i];
  return index;
}

static inline value *row_major(unsigned rank, const int64_t *shape) {
  value *out = calloc(1, sizeof *out);
  out->rank = rank;
  memcpy(out->shape, shape, rank * sizeof *shape);
  out->count = product(rank, shape);
  for (int64_t i = 0; i < out->count; i++)
    out->address[i] = i;
  return out;
}

/* In place: the window at `starts` of extents `extents` (one per axis), the first `dropped` axes left out. */
static inline void model_window(value *v, const int64_t *starts, const int64_t *extents, unsigned dropped) {
  value old = *v;
  v->count = product(v->rank, extents);
  for (int64_t i = 0; i < v->count; i++) {
    int64_t at[MAX_RANK];
    unravel(i, v->rank, extents, at);
    for (unsigned axis = 0; axis < v->rank; axis++)
      at[axis] += starts[axis];
    v->address[i] = old.address[ravel(old.rank, old.shape, at)];
  }
  v->rank -= dropped;
  memmove(v->shape, extents + dropped, v->rank * sizeof *extents);
}

static inline void model_reshape(value *v, unsigned rank, const int64_t *shape) {
  ck_assert_int_eq(product(rank, shape), v->count);
  v->rank = rank;
  memcpy(v->shape, shape, rank * sizeof *shape);
}

static inline void check_shape(const tf_type *type, const value *v) {
  ck_assert_uint_eq(tf_type_rank(type), v->rank);
  for (unsigned axis = 0; axis < v->rank; axis++)
    ck_assert_int_eq(number(tf_type_extent(type, axis)), v->shape[axis]);
}

/* The type's own layout puts the elements where the view does, from its first one on. */
static inline int64_t offset_by_type(const tf_type *type, int64_t index) {
  const tf_layout *layout = tf_type_layout(type);
  int64_t at[MAX_RANK], shape[MAX_RANK], offset = 0;
  unsigned leaf = 0, rank = tf_type_rank(type);
  const tf_dim *extents[64], *strides[64];
  if (!layout) return index;
  tf_tuple_leaves(tf_layout_shape(layout), extents);
  tf_tuple_leaves(tf_layout_strides(layout), strides);
  for (unsigned axis = 0; axis < rank; axis++)
    shape[axis] = number(tf_type_extent(type, axis));
  unravel(index, rank, shape, at);
  for (unsigned axis = 0; axis < rank; axis++) {
    unsigned count = tf_tuple_leaf_count(tf_tuple_element(tf_layout_shape(layout), axis));
    for (unsigned i = 0; i < count; i++, leaf++) {
      offset += at[axis] % number(extents[leaf]) * number(strides[leaf]);
      at[axis] /= number(extents[leaf]);
    }
  }
  return offset;
}

static inline void check_plain(const tf_expr *expr, const value *v) {
  const tf_view *view = view_of(expr);
  check_shape(view->type, v);
  int64_t base = first_address(view, NULL);
  for (int64_t i = 0; i < v->count; i++) {
    int64_t offset;
    ck_assert(tf_view_offset(view, i, &offset));
    ck_assert_int_eq(base + offset, v->address[i]);
    ck_assert_int_eq(base + offset_by_type(view->type, i), v->address[i]);
  }
  if (!view->digit_strides) return;
  element *elements = calloc(MAX_ELEMENTS, sizeof *elements);
  ck_assert_int_eq(elements_of(view, NULL, elements, MAX_ELEMENTS), v->count);
  for (int64_t i = 0; i < v->count; i++)
    ck_assert_int_eq(elements[i].address, v->address[elements[i].logical]);
  free(elements);
}

/* ---- Distributions ---- */
static inline const tf_mesh *mesh_of(tf_level level, unsigned rank, const int64_t *shape) {
  tf_topology topology = {level, tf_dim_int(context, product(rank, shape))};
  return tf_mesh_get(context, 1, &topology, plain(rank, shape, NULL), 0, NULL);
}

static inline const tf_layout *shard(const tf_layout *layout, unsigned count, const int *axes, const tf_mesh *mesh) {
  tf_shard_attr attrs[8] = {{0}};
  for (unsigned i = 0; i < count; i++)
    attrs[i] = axes[i] < 0 ? (tf_shard_attr){.kind = TF_SHARD_BROADCAST}
                           : (tf_shard_attr){.kind = TF_SHARD_SPLIT, .axis = (unsigned)axes[i]};
  return tf_layout_shard(context, layout, count, attrs, mesh);
}

/* Every element of every instance lies where the model has its logical index. */
static inline void check_distribution(const tf_expr *expr, const value *v, const tf_mesh *mesh, unsigned rank,
                                      const int64_t *extents) {
  const tf_view *view = view_of(expr);
  instance who = {.mesh = {mesh}};
  element elements[256];
  bool *seen = calloc((size_t)v->count, sizeof *seen);
  for (int64_t id = 0; id < product(rank, extents); id++) {
    unravel(id, rank, extents, who.coordinates[0]);
    unsigned count = elements_of(view, &who, elements, 256);
    for (unsigned i = 0; i < count; i++) {
      ck_assert_int_eq(elements[i].address, v->address[elements[i].logical]);
      seen[elements[i].logical] = true;
    }
  }
  for (int64_t i = 0; i < v->count; i++)
    ck_assert(seen[i]);
  free(seen);
}

static inline const tf_mma_atom *atom_named(const char *name) {
  return tf_mma_atom_get(context, name);
}

#endif
