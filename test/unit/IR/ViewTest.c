/* Views against a model that knows nothing of strides: a value is the list of addresses of its elements in C order, and
 * windows, reshapes and parts pick from that list. Addresses of a view are computed from its starts and digits as View.h
 * defines them, with run-time starts bound to random numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "IR/Construct.h"
#include "IR/Infer.h"
#include "IR/View.h"

static tf_context *context;
static uint64_t seed;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  seed = 88172645463325252u;
}

static void teardown(void) {
  tf_context_destroy(context);
}

static int64_t draw(int64_t lo, int64_t hi) { /* lo … hi */
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return lo + (int64_t)(seed % (uint64_t)(hi - lo + 1));
}

static int64_t number(const tf_dim *dim) {
  int64_t value = -1;
  ck_assert_msg(tf_dim_is_static(dim, &value), "a symbolic dim");
  return value;
}

/* ---- Making IR -------------------------------------------------------------------------------------------------------------- */
/* Run-time numbers are variables whose name is their value. */
static const tf_expr *runtime(int64_t value) {
  char name[32];
  snprintf(name, sizeof name, "%lld", (long long)value);
  return tf_expr_var_new(context, name, tf_type_scalar(context, TF_DTYPE_I64), TF_NO_LOC);
}

static const tf_expr *constant(int64_t value) {
  return tf_expr_int(context, TF_DTYPE_I64, value, TF_NO_LOC);
}

static const tf_expr *either(int64_t value) {
  return draw(0, 1) ? runtime(value) : constant(value);
}

static int64_t evaluate(const tf_expr *expr) {
  if (expr->kind == TF_EXPR_CONSTANT) return expr->constant.i;
  if (expr->kind == TF_EXPR_VAR) return strtoll(expr->var.name, NULL, 10);
  ck_assert_int_eq(expr->call.op, TF_OP_SCALAR_BINARY);
  ck_assert_int_eq(expr->call.attrs[0].i, TF_SCALAR_BINARY_ADD);
  return evaluate(expr->call.args[0]) + evaluate(expr->call.args[1]);
}

static const tf_dim *const *dims(unsigned count, const int64_t *values) {
  const tf_dim **out = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count + 1);
  for (unsigned i = 0; i < count; i++)
    out[i] = tf_dim_int(context, values[i]);
  return out;
}

static const tf_layout *plain(unsigned rank, const int64_t *shape, const int64_t *strides) {
  return tf_layout_plain(context, tf_tuple_ints(context, rank, shape),
                         strides ? tf_tuple_ints(context, rank, strides) : NULL);
}

static const tf_type *tensor(unsigned rank, const int64_t *shape, const tf_layout *layout, tf_storage storage) {
  return tf_type_tensor(context, rank, dims(rank, shape), TF_DTYPE_F32, layout, storage);
}

static const tf_expr *param(unsigned rank, const int64_t *shape, const tf_layout *layout) {
  return tf_expr_param(context, "x", tensor(rank, shape, layout, TF_STORAGE_GMEM), false, TF_NO_LOC);
}

static const tf_expr *bind(const tf_expr *value) {
  return value ? tf_expr_let_var(context, "v", value, TF_NO_LOC) : NULL;
}

static const tf_expr *alloc(const tf_type *type) {
  tf_attr attr = {.type = type};
  return bind(tf_expr_call(context, TF_OP_ALLOC_TENSOR, 0, NULL, &attr, TF_NO_LOC));
}

static const tf_expr *view_with(const tf_expr *memory, unsigned starts, const tf_expr *const *indices,
                                const tf_layout *layout, const tf_tuple *shape, const tf_expr *clip) {
  const tf_expr *args[20] = {memory};
  for (unsigned i = 0; i < starts; i++)
    args[1 + i] = indices[i];
  tf_attr attrs[3] = {{.layout = layout}, {.tuple = shape}, {.literal = clip}};
  return bind(tf_expr_call(context, TF_OP_TENSOR_VIEW, 1 + starts, args, attrs, TF_NO_LOC));
}

static const tf_expr *window(const tf_expr *memory, unsigned starts, const tf_expr *const *indices, unsigned rank,
                             const int64_t *shape) {
  return view_with(memory, starts, indices, NULL, tf_tuple_ints(context, rank, shape), NULL);
}

static const tf_expr *reshape(const tf_expr *memory, unsigned rank, const int64_t *shape) {
  return view_with(memory, 0, NULL, NULL, tf_tuple_ints(context, rank, shape), NULL);
}

static const tf_expr *laid(const tf_expr *memory, const tf_layout *layout) {
  return view_with(memory, 0, NULL, layout, NULL, NULL);
}

static const tf_view *view_of(const tf_expr *expr) {
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

static const int64_t *coordinates_on(const instance *who, const tf_mesh *mesh) {
  for (unsigned i = 0; i < 2; i++)
    if (who && who->mesh[i] == mesh) return who->coordinates[i];
  ck_abort_msg("a mesh that the test does not know");
  return NULL;
}

static int64_t first_address(const tf_view *view, const instance *who) {
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
static unsigned elements_of(const tf_view *view, const instance *who, element *out, unsigned capacity) {
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

static int64_t product(unsigned rank, const int64_t *shape) {
  int64_t count = 1;
  for (unsigned i = 0; i < rank; i++)
    count *= shape[i];
  return count;
}

static void unravel(int64_t index, unsigned rank, const int64_t *shape, int64_t *out) {
  for (unsigned i = rank; i-- > 0;) {
    out[i] = index % shape[i];
    index /= shape[i];
  }
}

static int64_t ravel(unsigned rank, const int64_t *shape, const int64_t *coordinates) {
  int64_t index = 0;
  for (unsigned i = 0; i < rank; i++)
    index = index * shape[i] + coordinates[i];
  return index;
}

static value *row_major(unsigned rank, const int64_t *shape) {
  value *out = calloc(1, sizeof *out);
  out->rank = rank;
  memcpy(out->shape, shape, rank * sizeof *shape);
  out->count = product(rank, shape);
  for (int64_t i = 0; i < out->count; i++)
    out->address[i] = i;
  return out;
}

/* In place: the window at `starts` of extents `extents` (one per axis), the first `dropped` axes left out. */
static void model_window(value *v, const int64_t *starts, const int64_t *extents, unsigned dropped) {
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

static void model_reshape(value *v, unsigned rank, const int64_t *shape) {
  ck_assert_int_eq(product(rank, shape), v->count);
  v->rank = rank;
  memcpy(v->shape, shape, rank * sizeof *shape);
}

static void check_shape(const tf_type *type, const value *v) {
  ck_assert_uint_eq(tf_type_rank(type), v->rank);
  for (unsigned axis = 0; axis < v->rank; axis++)
    ck_assert_int_eq(number(tf_type_extent(type, axis)), v->shape[axis]);
}

/* The type's own layout puts the elements where the view does, from its first one on. */
static int64_t offset_by_type(const tf_type *type, int64_t index) {
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

static void check_plain(const tf_expr *expr, const value *v) {
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

/* ---- Random chains of plain views ----------------------------------------------------------------------------------------------------- */
static const tf_expr *random_window(const tf_expr *expr, value *v) {
  int64_t starts[MAX_RANK], extents[MAX_RANK];
  const tf_expr *indices[MAX_RANK];
  unsigned ones = 0;
  for (unsigned axis = 0; axis < v->rank; axis++) {
    extents[axis] = draw(0, 2) ? draw(1, v->shape[axis]) : axis == ones ? 1 : v->shape[axis];
    ones += axis == ones && extents[axis] == 1;
    starts[axis] = draw(0, v->shape[axis] - extents[axis]);
    indices[axis] = either(starts[axis]);
  }
  unsigned dropped = ones ? (unsigned)draw(0, ones) : 0;
  if (dropped == v->rank) dropped--;
  const tf_expr *out = window(expr, v->rank, indices, v->rank - dropped, extents + dropped);
  if (out) model_window(v, starts, extents, dropped);
  return out;
}

/* Splits an axis, joins neighbours, or both at random. */
static const tf_expr *random_reshape(const tf_expr *expr, value *v) {
  int64_t shape[MAX_RANK];
  unsigned rank = 0;
  int64_t left = v->count;
  while (left > 1 && rank < MAX_RANK - 1) {
    int64_t factor = 1;
    for (int64_t i = draw(1, left); i >= 1 && factor == 1; i--)
      if (left % i == 0) factor = i;
    shape[rank++] = factor;
    left /= factor;
  }
  shape[rank++] = left;
  const tf_expr *out = reshape(expr, rank, shape);
  if (out) model_reshape(v, rank, shape);
  return out;
}

/* Axes exchanged: addresses anew from the first element, over as many neighbours as there are elements. */
static const tf_expr *random_layout(const tf_expr *expr, value *v) {
  int64_t strides[MAX_RANK] = {0}, step = 1, first = v->address[0];
  unsigned order[MAX_RANK];
  for (unsigned i = 0; i < v->rank; i++)
    order[i] = i;
  for (unsigned i = v->rank; i-- > 1;) {
    unsigned other = (unsigned)draw(0, i), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (unsigned i = 0; i < v->rank; i++) {
    strides[order[i]] = step;
    step *= v->shape[order[i]];
  }
  const tf_expr *out = laid(expr, plain(v->rank, v->shape, strides));
  ck_assert_ptr_nonnull(out);
  for (int64_t i = 0; i < v->count; i++) {
    int64_t at[MAX_RANK], offset = 0;
    unravel(i, v->rank, v->shape, at);
    for (unsigned axis = 0; axis < v->rank; axis++)
      offset += at[axis] * strides[axis];
    v->address[i] = first + offset;
  }
  return out;
}

static bool is_even(const value *v) {
  for (int64_t i = 2; i < v->count; i++)
    if (v->address[i] - v->address[i - 1] != v->address[1] - v->address[0]) return false;
  return true;
}

static const tf_expr *random_flat(const tf_expr *expr, value *v) {
  int64_t shape[2], start;
  shape[0] = draw(1, v->count);
  shape[1] = draw(1, v->count / shape[0]);
  start = draw(0, v->count - shape[0] * shape[1]);
  const tf_expr *index = either(start);
  const tf_expr *out = window(expr, 1, &index, 2, shape);
  if (!is_even(v) || (v->rank == 1 && false)) {
    ck_assert_ptr_null(out);
    return NULL;
  }
  if (out) {
    memmove(v->address, v->address + start, (size_t)(shape[0] * shape[1]) * sizeof *v->address);
    v->count = shape[0] * shape[1];
    model_reshape(v, 2, shape);
  }
  return out;
}

START_TEST(random_chains_of_plain_views) {
  static unsigned refused, accepted;
  for (unsigned round = 0; round < 400; round++) {
    unsigned rank = (unsigned)draw(1, 4);
    int64_t shape[4];
    for (unsigned i = 0; i < rank; i++)
      shape[i] = draw(1, 7);
    value *v = row_major(rank, shape);
    const tf_expr *expr = param(rank, shape, NULL);
    for (unsigned step = 0; step < 5; step++) {
      int64_t kind = draw(0, 5);
      const tf_expr *next = kind <= 1   ? random_window(expr, v)
                            : kind <= 3 ? random_reshape(expr, v)
                            : kind == 4 ? random_layout(expr, v)
                                        : random_flat(expr, v);
      refused += next == NULL;
      accepted += next != NULL;
      if (kind <= 3 && is_even(v)) ck_assert_ptr_nonnull(next);
      if (next) expr = next;
      check_plain(expr, v);
    }
    free(v);
  }
  ck_assert_uint_gt(accepted, 5 * refused);
}
END_TEST

/* ---- Distributions over plain views ---------------------------------------------------------------------------------------------------- */
static const tf_mesh *mesh_of(tf_level level, unsigned rank, const int64_t *shape) {
  tf_topology topology = {level, tf_dim_int(context, product(rank, shape))};
  return tf_mesh_get(context, 1, &topology, plain(rank, shape, NULL), 0, NULL);
}

static const tf_layout *shard(const tf_layout *layout, unsigned count, const int *axes, const tf_mesh *mesh) {
  tf_shard_attr attrs[8] = {{0}};
  for (unsigned i = 0; i < count; i++)
    attrs[i] = axes[i] < 0 ? (tf_shard_attr){.kind = TF_SHARD_BROADCAST}
                           : (tf_shard_attr){.kind = TF_SHARD_SPLIT, .axis = (unsigned)axes[i]};
  return tf_layout_shard(context, layout, count, attrs, mesh);
}

/* Every element of every instance lies where the model has its logical index. */
static void check_distribution(const tf_expr *expr, const value *v, const tf_mesh *mesh, unsigned rank,
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

START_TEST(distributions_over_a_window_step_in_its_storage) {
  const int64_t shape[] = {40, 50}, starts[] = {7, 3}, extents[] = {16, 24};
  value *v = row_major(2, shape);
  const tf_expr *indices[] = {runtime(7), runtime(3)};
  const tf_expr *x = window(param(2, shape, NULL), 2, indices, 2, extents);
  model_window(v, starts, extents, 0);
  const tf_mesh *mesh = mesh_of(TF_LEVEL_THREAD, 2, (int64_t[]){4, 8});
  /* Strides name storage offsets: rows are 50 apart. */
  const tf_layout *strided = shard(plain(3, (int64_t[]){16, 8, 3}, (int64_t[]){50, 3, 1}), 2, (int[]){0, 1}, mesh);
  check_distribution(laid(x, strided), v, mesh, 2, (int64_t[]){4, 8});
  /* Without strides the elements are dealt in C order. */
  const tf_layout *dealt = shard(plain(3, (int64_t[]){4, 8, 12}, NULL), 2, (int[]){0, 1}, mesh);
  check_distribution(laid(x, dealt), v, mesh, 2, (int64_t[]){4, 8});
  /* Strides of the window's own C order name elements outside of it. */
  const tf_layout *wrong = shard(plain(3, (int64_t[]){16, 8, 3}, (int64_t[]){24, 3, 1}), 2, (int[]){0, 1}, mesh);
  ck_assert_ptr_null(laid(x, wrong));
  ck_assert_ptr_nonnull(strstr(tf_context_diagnostic(context, 0)->message, "plain window"));
  free(v);
}
END_TEST

/* Chunks that cross rows of C-order storage still step evenly; over a strided window they do not. */
START_TEST(dealt_chunks_across_rows) {
  const int64_t shape[] = {16, 12};
  const tf_mesh *mesh = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){8});
  const tf_layout *dealt = shard(plain(3, (int64_t[]){3, 8, 8}, NULL), 1, (int[]){1}, mesh);
  value *v = row_major(2, shape);
  const tf_expr *x = param(2, shape, NULL);
  check_distribution(laid(x, dealt), v, mesh, 1, (int64_t[]){8});
  const int64_t wide[] = {16, 20};
  const tf_expr *zero[] = {constant(0), runtime(4)};
  const tf_view *view = view_of(laid(window(param(2, wide, NULL), 2, zero, 2, shape), dealt));
  ck_assert_ptr_null(view->digit_strides);
  int64_t offset;
  ck_assert(tf_view_offset(view, 13, &offset));
  ck_assert_int_eq(offset, 21);
  free(v);
}
END_TEST

/* A CTA's part over its threads: blocks of a matrix, then rows of the block; and a part that is no box. */
START_TEST(parts_of_parts) {
  const int64_t shape[] = {24, 32};
  const tf_mesh *grid = mesh_of(TF_LEVEL_CTA, 2, (int64_t[]){3, 2}),
                *threads = mesh_of(TF_LEVEL_THREAD, 2, (int64_t[]){4, 8});
  const tf_layout *blocks = shard(plain(2, (int64_t[]){24, 32}, NULL), 2, (int[]){0, 1}, grid);
  const tf_layout *rows = shard(plain(3, (int64_t[]){8, 8, 2}, NULL), 2, (int[]){0, 1}, threads);
  const tf_expr *whole = laid(param(2, shape, NULL), blocks), *part = laid(whole, rows);
  const tf_view *view = view_of(part);
  ck_assert_ptr_eq(view->outer, view_of(whole));
  ck_assert_int_eq(number(tf_type_extent(view->type, 0)), 8);
  ck_assert_int_eq(number(tf_type_extent(view->type, 1)), 16);
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 2; j++)
      for (int64_t t = 0; t < 32; t++) {
        instance who = {{grid, threads}, {{i, j}, {t / 8, t % 8}}};
        element elements[4];
        ck_assert_uint_eq(elements_of(view, &who, elements, 4), 4);
        for (int64_t n = 0; n < 4; n++) {
          /* local numbers: the second row digit is local (8 rows over 4), then the pair of columns: rows first */
          int64_t row = 2 * (t / 8) + n % 2, column = 2 * (t % 8) + n / 2;
          ck_assert_int_eq(elements[n].logical, row * 16 + column);
          ck_assert_int_eq(elements[n].address, (8 * i + row) * 32 + 16 * j + column);
        }
      }
}
END_TEST

START_TEST(parts_that_are_no_box_are_flat) {
  const int64_t shape[] = {6, 4};
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){2});
  /* thread t owns rows t, t + 2, t + 4 */
  const tf_layout *striped = shard(plain(3, (int64_t[]){3, 2, 4}, (int64_t[]){8, 4, 1}), 1, (int[]){1}, threads);
  const tf_view *view = view_of(
      laid(laid(param(2, shape, NULL), striped), shard(plain(1, (int64_t[]){12}, NULL), 1, (int[]){-1}, threads)));
  for (int64_t t = 0; t < 2; t++) {
    instance who = {{threads}, {{t}}};
    element elements[12];
    ck_assert_uint_eq(elements_of(view, &who, elements, 12), 12);
    for (int64_t n = 0; n < 12; n++)
      ck_assert_int_eq(elements[n].address, (2 * (elements[n].logical / 4) + t) * 4 + elements[n].logical % 4);
  }
}
END_TEST

/* ---- Register fragments ----------------------------------------------------------------------------------------------------------------- */
static const tf_mma_atom *atom_named(const char *name) {
  return tf_mma_atom_get(context, name);
}

/* Element (i, j) of an array of accumulators has the accumulator's own layout, and its registers step by the array's. */
START_TEST(windows_of_fragment_arrays) {
  const tf_layout *c_layout = tf_mma_atom_layout(atom_named("SM80_16x8x16_F32BF16BF16F32_TN"), 'C');
  const tf_mesh *lanes = tf_layout_mesh(c_layout);
  const tf_layout *stack = tf_mma_stack(context, c_layout, 2, (int64_t[]){3, 5});
  const tf_expr *acc = alloc(tensor(4, (int64_t[]){3, 5, 16, 8}, stack, TF_STORAGE_RMEM));
  ck_assert_int_eq(number(view_of(acc)->storage_size), 60);
  element whole[64], part[8];
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 5; j++) {
      const tf_expr *indices[] = {either(i), either(j), constant(0), constant(0)};
      const tf_expr *one = window(acc, 4, indices, 2, (int64_t[]){16, 8});
      ck_assert_ptr_eq(tf_type_layout(view_of(one)->type), c_layout);
      for (int64_t lane = 0; lane < 32; lane += 5) {
        instance who = {{lanes}, {{lane % 4, lane / 4}}};
        unsigned all = elements_of(view_of(acc), &who, whole, 64), few = elements_of(view_of(one), &who, part, 8);
        ck_assert_uint_eq(all, 60);
        ck_assert_uint_eq(few, 4);
        for (unsigned p = 0; p < few; p++) { /* the same register holds the same element of the array */
          ck_assert_int_eq(whole[part[p].address].address, part[p].address);
          ck_assert_int_eq(whole[part[p].address].logical, (i * 5 + j) * 128 + part[p].logical);
        }
      }
    }
  /* layout= may say it again, in any way that means the same, and nothing else */
  const tf_expr *indices[] = {constant(2), runtime(1), constant(0), constant(0)};
  const tf_tuple *shape = tf_tuple_ints(context, 2, (int64_t[]){16, 8});
  ck_assert_ptr_nonnull(view_with(acc, 4, indices, c_layout, shape, NULL));
  const tf_layout *other = shard(plain(4, (int64_t[]){2, 4, 8, 2}, (int64_t[]){64, 2, 8, 1}), 2, (int[]){1, 2}, lanes);
  ck_assert_ptr_null(view_with(acc, 4, indices, other, shape, NULL));
  /* a split axis cannot be cut */
  const tf_expr *cut[] = {constant(0), constant(0), constant(8), constant(0)};
  ck_assert_ptr_null(window(acc, 4, cut, 2, (int64_t[]){8, 8}));
}
END_TEST

START_TEST(windows_of_several_fragments) {
  const tf_layout *a_layout = tf_mma_atom_layout(atom_named("SM80_16x8x16_F32BF16BF16F32_TN"), 'A');
  const tf_mesh *lanes = tf_layout_mesh(a_layout);
  const tf_layout *stack = tf_mma_stack(context, a_layout, 2, (int64_t[]){4, 3});
  const tf_expr *a = alloc(tensor(4, (int64_t[]){4, 3, 16, 16}, stack, TF_STORAGE_RMEM));
  const tf_expr *indices[] = {constant(1), runtime(2), constant(0), constant(0)};
  const tf_expr *two = window(a, 4, indices, 4, (int64_t[]){2, 1, 16, 16});
  const tf_view *view = view_of(two);
  const tf_layout *want = tf_mma_stack(context, a_layout, 1, (int64_t[]){2});
  ck_assert_ptr_eq(tf_layout_outer(tf_type_layout(view->type)), tf_layout_outer(want));
  /* the type alone gives the same ownership as the view */
  const tf_ownership *own;
  ck_assert_int_eq(tf_ownership_of(context, view->type, NULL, &own, NULL), TF_OK);
  element whole[128], part[32];
  instance who = {{lanes}, {{3, 5}}};
  int64_t listed[16];
  tf_ownership_enumerate(own, who.coordinates[0], listed);
  elements_of(view_of(a), &who, whole, 128);
  ck_assert_uint_eq(elements_of(view, &who, part, 32), 16);
  for (unsigned p = 0; p < 16; p++) {
    ck_assert_int_eq(part[p].logical, listed[p]);
    int64_t i = part[p].logical / 256, inside = part[p].logical % 256;
    ck_assert_int_eq(whole[part[p].address].logical, ((1 + i) * 3 + 2) * 256 + inside);
  }
}
END_TEST

/* A tile's layout with extents of 1 inside comes out of an array of tiles as it went in. */
START_TEST(windows_of_arrays_of_tiles) {
  const tf_mma_atom *atom = atom_named("SM80_16x8x8_F32TF32TF32F32_TN");
  const tf_mma_atom *tile = tf_mma_atom_tile(context, atom, (int64_t[]){32, 8, 8}, (int64_t[]){2, 1}, NULL);
  const tf_layout *c_layout = tf_mma_atom_layout(tile, 'C');
  for (int64_t n = 1; n <= 3; n++) {
    const tf_expr *acc =
        alloc(tensor(3, (int64_t[]){n, 32, 8}, tf_mma_stack(context, c_layout, 1, &n), TF_STORAGE_RMEM));
    const tf_expr *indices[] = {runtime(n - 1), constant(0), constant(0)};
    ck_assert_ptr_eq(tf_type_layout(window(acc, 3, indices, 2, (int64_t[]){32, 8})->type), c_layout);
  }
}
END_TEST

/* A thread's own values as a plain tensor. */
START_TEST(the_part_of_a_fragment) {
  const tf_layout *c_layout = tf_mma_atom_layout(atom_named("SM80_16x8x16_F32BF16BF16F32_TN"), 'C');
  const tf_expr *acc = alloc(tensor(2, (int64_t[]){16, 8}, c_layout, TF_STORAGE_RMEM));
  const tf_view *view = view_of(laid(acc, plain(1, (int64_t[]){4}, NULL)));
  ck_assert_uint_eq(view->start_count, 0);
  for (int64_t i = 0; i < 4; i++) {
    int64_t offset;
    ck_assert(tf_view_offset(view, i, &offset));
    ck_assert_int_eq(offset, i);
  }
}
END_TEST

/* ---- Shared allocations ------------------------------------------------------------------------------------------------------------------- */
START_TEST(shared_allocations_are_one_buffer) {
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 2, (int64_t[]){4, 8});
  const int64_t shape[] = {8, 24};
  value *v = row_major(2, shape);
  const tf_layout *dealt = shard(plain(2, (int64_t[]){8, 24}, NULL), 2, (int[]){0, 1}, threads);
  const tf_expr *buffer = alloc(tensor(2, shape, dealt, TF_STORAGE_SMEM));
  ck_assert_int_eq(number(view_of(buffer)->storage_size), 192);
  check_distribution(buffer, v, threads, 2, (int64_t[]){4, 8});
  free(v);
}
END_TEST

START_TEST(ctas_keep_their_own_part) {
  const tf_mesh *grid = mesh_of(TF_LEVEL_CTA, 1, (int64_t[]){4});
  /* columns are split over CTAs: 6 of 24 stay, rows close up */
  const tf_layout *split = shard(plain(2, (int64_t[]){5, 24}, NULL), 1, (int[]){1}, grid);
  const tf_expr *buffer = alloc(tensor(2, (int64_t[]){5, 24}, split, TF_STORAGE_SMEM));
  const tf_view *view = view_of(buffer);
  ck_assert_int_eq(number(view->storage_size), 30);
  bool seen[30] = {false};
  element elements[30];
  instance who = {{grid}, {{3}}};
  ck_assert_uint_eq(elements_of(view, &who, elements, 30), 30);
  for (unsigned i = 0; i < 30; i++) {
    int64_t row = elements[i].logical / 24, column = elements[i].logical % 24;
    ck_assert_int_eq(column / 6, 3);
    ck_assert_int_eq(elements[i].address, row * 6 + column % 6);
    seen[elements[i].address] = true;
  }
  for (unsigned i = 0; i < 30; i++)
    ck_assert(seen[i]);
  /* the extent that a Split divides away may be symbolic */
  const tf_dim *symbol, *extents[2];
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 1000, &symbol), TF_OK);
  tf_topology ctas = {TF_LEVEL_CTA, symbol};
  const tf_tuple *one = tf_tuple_dims(context, 1, &symbol);
  const tf_mesh *all = tf_mesh_get(context, 1, &ctas, tf_layout_plain(context, one, NULL), 0, NULL);
  extents[0] = symbol;
  extents[1] = tf_dim_int(context, 12);
  const tf_layout *rows = shard(tf_layout_plain(context, tf_tuple_dims(context, 2, extents), NULL), 1, (int[]){0}, all);
  const tf_expr *row = alloc(tf_type_tensor(context, 2, extents, TF_DTYPE_F32, rows, TF_STORAGE_SMEM));
  ck_assert_int_eq(number(view_of(row)->storage_size), 12);
  ck_assert_ptr_null(alloc(tf_type_tensor(context, 2, extents, TF_DTYPE_F32, NULL, TF_STORAGE_SMEM)));
}
END_TEST

/* Warps with a buffer each (stride 0), padded to 5 elements per row. */
START_TEST(private_buffers_lie_behind_one_another) {
  const tf_mesh *warps = mesh_of(TF_LEVEL_WARP, 1, (int64_t[]){3});
  const tf_layout *split = shard(plain(3, (int64_t[]){3, 2, 4}, (int64_t[]){0, 5, 1}), 1, (int[]){0}, warps);
  const tf_expr *buffer = alloc(tensor(3, (int64_t[]){3, 2, 4}, split, TF_STORAGE_SMEM));
  const tf_view *view = view_of(buffer);
  ck_assert(view->ownership->private_instances);
  ck_assert_int_eq(number(view->storage_size), 27);
  for (int64_t w = 0; w < 3; w++) {
    element elements[8];
    instance who = {{warps}, {{w}}};
    ck_assert_uint_eq(elements_of(view, &who, elements, 8), 8);
    for (unsigned i = 0; i < 8; i++) {
      int64_t inside = elements[i].logical % 8;
      ck_assert_int_eq(elements[i].logical / 8, w);
      ck_assert_int_eq(elements[i].address, 9 * w + inside / 4 * 5 + inside % 4);
    }
  }
  /* its part is a plain buffer at the warp's place; a window cuts what is not split */
  const tf_view *part = view_of(laid(buffer, shard(plain(2, (int64_t[]){2, 4}, NULL), 1, (int[]){-1}, warps)));
  instance who = {{warps}, {{2}}};
  ck_assert_int_eq(first_address(part, &who), 18);
  const tf_expr *indices[] = {constant(0), runtime(1), constant(2)};
  const tf_view *corner = view_of(window(buffer, 3, indices, 3, (int64_t[]){3, 1, 2}));
  element elements[2];
  ck_assert_uint_eq(elements_of(corner, &who, elements, 2), 2);
  ck_assert_int_eq(elements[0].address, 18 + 5 + 2);
  ck_assert_int_eq(elements[0].logical, 4);
  ck_assert_int_eq(elements[1].address, 18 + 5 + 3);
  ck_assert(corner->ownership->private_instances);
}
END_TEST

START_TEST(swizzles_are_behind_all_views) {
  const tf_layout *swizzle = tf_layout_swizzle(context, 3, 3, 3);
  const int64_t shape[] = {16, 64};
  const tf_layout *composed = tf_layout_composed(context, swizzle, NULL, plain(2, shape, (int64_t[]){64, 1}));
  const tf_expr *buffer = alloc(tensor(2, shape, composed, TF_STORAGE_SMEM));
  ck_assert_ptr_eq(view_of(buffer)->inner, swizzle);
  ck_assert_int_eq(number(view_of(buffer)->storage_size), 1024);
  value *v = row_major(2, shape);
  const tf_expr *indices[] = {runtime(4), constant(32)};
  const tf_expr *tile = window(buffer, 2, indices, 2, (int64_t[]){8, 16});
  model_window(v, (int64_t[]){4, 32}, (int64_t[]){8, 16}, 0);
  check_plain(tile, v);
  ck_assert_ptr_eq(view_of(tile)->inner, swizzle);
  /* whole blocks of 64 elements, if the size is none */
  const int64_t odd[] = {3, 50};
  const tf_layout *small = tf_layout_composed(context, swizzle, NULL, plain(2, odd, NULL));
  ck_assert_int_eq(number(view_of(alloc(tensor(2, odd, small, TF_STORAGE_SMEM)))->storage_size), 192);
  ck_assert_ptr_null(alloc(tensor(2, odd, small, TF_STORAGE_RMEM)));
  ck_assert_ptr_null(laid(tile, tf_layout_composed(context, swizzle, NULL, NULL)));
  free(v);
}
END_TEST

/* ---- Clip ------------------------------------------------------------------------------------------------------------------------------------- */
START_TEST(clipped_windows) {
  const int64_t shape[] = {17, 30};
  const tf_expr *x = param(2, shape, NULL), *zero = tf_expr_float(context, TF_DTYPE_F32, 0, TF_NO_LOC);
  const tf_expr *indices[] = {runtime(16), constant(0)};
  const tf_tuple *tile = tf_tuple_ints(context, 2, (int64_t[]){16, 16});
  const tf_expr *clipped = view_with(x, 2, indices, NULL, tile, zero);
  const tf_view *view = view_of(clipped);
  ck_assert_uint_eq(view->clip_count, 1); /* columns 0 … 15 are inside for certain */
  ck_assert_int_eq(view->clips[0].axis, 0);
  ck_assert_int_eq(evaluate(view->clips[0].start), 16);
  ck_assert_int_eq(number(view->clips[0].extent), 17);
  ck_assert_ptr_eq(view->clip_value, zero);
  /* a window of it is clipped at the same place, counted from its own first element */
  const tf_expr *inner[] = {runtime(3), constant(8)};
  view = view_of(window(clipped, 2, inner, 1, (int64_t[]){8}));
  ck_assert_uint_eq(view->clip_count, 1);
  ck_assert_int_eq(view->clips[0].axis, -1);
  ck_assert_int_eq(evaluate(view->clips[0].start), 19);
  ck_assert_int_eq(first_address(view, NULL), 19 * 30 + 8);
  /* wider than its source: no strides */
  const tf_expr *zeros[] = {constant(0), constant(0)};
  const tf_tuple *wide = tf_tuple_ints(context, 2, (int64_t[]){32, 32});
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){32});
  ck_assert_ptr_nonnull(
      view_with(x, 2, zeros, shard(plain(2, (int64_t[]){32, 32}, NULL), 1, (int[]){0}, threads), wide, zero));
  const tf_layout *strided = shard(plain(2, (int64_t[]){32, 32}, (int64_t[]){30, 1}), 1, (int[]){0}, threads);
  ck_assert_ptr_null(view_with(x, 2, zeros, strided, wide, zero));
  ck_assert_ptr_null(view_with(x, 2, zeros, plain(2, (int64_t[]){32, 32}, NULL), wide, zero));
}
END_TEST

/* ---- Reshapes of distributed values ------------------------------------------------------------------------------------------------------------ */
START_TEST(reshapes_keep_the_distribution) {
  const tf_layout *c_layout = tf_mma_atom_layout(atom_named("SM80_16x8x16_F32BF16BF16F32_TN"), 'C');
  const tf_mesh *lanes = tf_layout_mesh(c_layout);
  const tf_expr *acc = alloc(tensor(2, (int64_t[]){16, 8}, c_layout, TF_STORAGE_RMEM));
  static const int64_t shapes[][3] = {{8, 16, 1}, {128, 1, 1}, {2, 8, 8}, {4, 4, 8}};
  for (unsigned s = 0; s < 4; s++) {
    const tf_expr *other = reshape(acc, 3, shapes[s]);
    ck_assert_ptr_eq(tf_type_layout(other->type), c_layout);
    for (int64_t lane = 0; lane < 32; lane++) {
      instance who = {{lanes}, {{lane % 4, lane / 4}}};
      element before[4], after[4];
      elements_of(view_of(acc), &who, before, 4);
      ck_assert_uint_eq(elements_of(view_of(other), &who, after, 4), 4);
      for (unsigned i = 0; i < 4; i++) /* the same register holds the same logical index */
        for (unsigned k = 0; k < 4; k++)
          ck_assert(before[i].address != after[k].address || before[i].logical == after[k].logical);
    }
  }
}
END_TEST

/* ---- Symbolic shapes, spans, pointers --------------------------------------------------------------------------------------------------------------- */
START_TEST(symbolic_extents) {
  const tf_dim *s, *shape[2];
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 65536, &s), TF_OK);
  shape[0] = s;
  shape[1] = tf_dim_int(context, 512);
  const tf_type *type = tf_type_tensor(context, 2, shape, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM);
  const tf_expr *x = tf_expr_param(context, "x", type, false, TF_NO_LOC);
  const tf_expr *indices[] = {runtime(5), constant(0)};
  const tf_view *row = view_of(window(x, 2, indices, 1, (int64_t[]){512}));
  ck_assert_ptr_null(tf_type_layout(row->type));
  ck_assert_int_eq(first_address(row, NULL), 5 * 512);
  ck_assert_ptr_eq(row->storage_size, tf_dim_binary(context, TF_DIM_MUL, s, shape[1]));
  const tf_dim *flat = tf_dim_binary(context, TF_DIM_MUL, s, shape[1]);
  const tf_tuple *joined = tf_tuple_dims(context, 1, &flat);
  ck_assert_ptr_nonnull(view_with(x, 0, NULL, NULL, joined, NULL));
  const tf_dim *split[] = {tf_dim_binary(context, TF_DIM_MUL, s, tf_dim_int(context, 4)), tf_dim_int(context, 128)};
  ck_assert_ptr_nonnull(view_with(x, 0, NULL, NULL, tf_tuple_dims(context, 2, split), NULL));
  ck_assert_ptr_null(view_with(x, 0, NULL, NULL, tf_tuple_ints(context, 1, (int64_t[]){512}), NULL));
  const tf_expr *behind[] = {constant(65535), constant(0)};
  ck_assert_ptr_null(window(x, 2, behind, 1, (int64_t[]){512}));
}
END_TEST

START_TEST(spans_and_pointers_keep_offsets) {
  const int64_t shape[] = {9, 10};
  const tf_expr *indices[] = {runtime(4), constant(2)};
  const tf_expr *tile = window(param(2, shape, NULL), 2, indices, 2, (int64_t[]){3, 4});
  const tf_expr *span = bind(tf_expr_call(context, TF_OP_MEMORY_SPAN, 1, &tile, NULL, TF_NO_LOC));
  const tf_expr *pointer = bind(tf_expr_call(context, TF_OP_PTR_OF, 1, &span, NULL, TF_NO_LOC));
  value *v = row_major(2, shape);
  model_window(v, (int64_t[]){4, 2}, (int64_t[]){3, 4}, 0);
  check_plain(pointer, v);
  const tf_expr *more[] = {constant(1), runtime(1)};
  model_window(v, (int64_t[]){1, 1}, (int64_t[]){2, 2}, 0);
  check_plain(window(pointer, 2, more, 2, (int64_t[]){2, 2}), v);
  free(v);
}
END_TEST

/* Nested modes walk leftmost fastest; the layout's own extents are the shape if there is none. */
START_TEST(nested_layouts) {
  const tf_tuple *inner = tf_tuple_ints(context, 2, (int64_t[]){2, 3}),
                 *inner_strides = tf_tuple_ints(context, 2, (int64_t[]){12, 4});
  const tf_tuple *four = tf_tuple_leaf(context, tf_dim_int(context, 4)),
                 *unit = tf_tuple_leaf(context, tf_dim_int(context, 1));
  const tf_tuple *shape = tf_tuple_list(context, 2, (const tf_tuple *const[]){inner, four});
  const tf_tuple *strides = tf_tuple_list(context, 2, (const tf_tuple *const[]){inner_strides, unit});
  const tf_expr *x = laid(param(1, (int64_t[]){24}, NULL), tf_layout_plain(context, shape, strides));
  value *v = row_major(2, (int64_t[]){6, 4});
  for (int64_t i = 0; i < 24; i++)
    v->address[i] = i / 4 % 2 * 12 + i / 4 / 2 * 4 + i % 4;
  check_plain(x, v);
  ck_assert_ptr_nonnull(view_of(x)->address_layout);
  ck_assert_ptr_null(view_of(x)->strides[0]);
  const tf_expr *indices[] = {constant(1), constant(0)};
  ck_assert_ptr_null(window(x, 2, indices, 2, (int64_t[]){2, 4}));
  const tf_expr *columns[] = {constant(0), runtime(2)};
  model_window(v, (int64_t[]){0, 2}, (int64_t[]){6, 2}, 0);
  check_plain(window(x, 2, columns, 2, (int64_t[]){6, 2}), v);
  free(v);
}
END_TEST

/* ---- Refusals: each with its row ------------------------------------------------------------------------------------------------------------------------ */
static void refused(const tf_expr *expr, tf_diag_id id) {
  ck_assert_ptr_null(expr);
  size_t count = tf_context_diagnostic_count(context);
  ck_assert_uint_eq(count, 1);
  ck_assert_msg(tf_context_diagnostic(context, 0)->id == id, "%s: %s",
                tf_diag_name(tf_context_diagnostic(context, 0)->id), tf_context_diagnostic(context, 0)->message);
  tf_context_clear_diagnostics(context);
}

START_TEST(refused_windows) {
  const tf_expr *x = param(2, (int64_t[]){12, 20}, NULL);
  const tf_expr *zeros[] = {constant(0), constant(0), constant(0)}, *far[] = {constant(5), constant(1)};
  const tf_expr *before[] = {constant(-1), constant(0)}, *last = constant(233);
  refused(view_with(x, 2, zeros, NULL, NULL, NULL), TF_DIAG_VIEW_NEEDS_SHAPE);
  refused(view_with(x, 0, NULL, NULL, tf_tuple_ints(context, 1, (int64_t[]){240}), constant(0)),
          TF_DIAG_VIEW_NEEDS_SHAPE);
  refused(window(x, 3, zeros, 2, (int64_t[]){1, 1}), TF_DIAG_VIEW_STARTS);
  refused(window(x, 2, zeros, 3, (int64_t[]){1, 1, 1}), TF_DIAG_VIEW_WINDOW_RANK);
  refused(window(x, 2, zeros, 2, (int64_t[]){13, 20}), TF_DIAG_VIEW_LARGER);
  refused(window(x, 2, far, 2, (int64_t[]){8, 8}), TF_DIAG_VIEW_OUTSIDE);
  refused(window(x, 2, before, 2, (int64_t[]){1, 1}), TF_DIAG_VIEW_OUTSIDE);
  refused(window(x, 1, &last, 1, (int64_t[]){8}), TF_DIAG_VIEW_OUTSIDE);
  const tf_expr *tile = window(x, 2, zeros, 2, (int64_t[]){6, 4});
  refused(window(tile, 1, zeros, 1, (int64_t[]){8}), TF_DIAG_VIEW_FLAT_START);
  refused(reshape(tile, 2, (int64_t[]){8, 3}), TF_DIAG_VIEW_RESHAPE_STRIDED);
  refused(reshape(tile, 2, (int64_t[]){8, 4}), TF_DIAG_VIEW_RESHAPE_COUNT);
}
END_TEST

START_TEST(refused_layouts) {
  const tf_expr *x = param(2, (int64_t[]){12, 20}, NULL);
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){4});
  const tf_shard_attr pending = {.kind = TF_SHARD_PARTIAL, .reduce = TF_REDUCE_SUM};
  const tf_layout *partial = tf_layout_shard(context, plain(2, (int64_t[]){12, 20}, NULL), 1, &pending, threads);
  const tf_tuple *same = tf_tuple_ints(context, 2, (int64_t[]){12, 20});
  refused(view_with(x, 0, NULL, plain(2, (int64_t[]){20, 12}, NULL), same, NULL), TF_DIAG_VIEW_LAYOUT_SHAPE);
  refused(laid(x, plain(2, (int64_t[]){12, 20}, (int64_t[]){1, 1})), TF_DIAG_VIEW_LAYOUT_OVERLAP);
  refused(laid(x, plain(2, (int64_t[]){12, 20}, (int64_t[]){21, 1})), TF_DIAG_VIEW_LAYOUT_OUTSIDE);
  refused(laid(x, tf_layout_composed(context, NULL, tf_dim_int(context, 1), plain(2, (int64_t[]){12, 20}, NULL))),
          TF_DIAG_VIEW_LAYOUT_OUTSIDE);
  refused(laid(x, tf_layout_composed(context, tf_layout_swizzle(context, 1, 1, 1), NULL, NULL)), TF_DIAG_VIEW_SWIZZLE);
  refused(laid(x, shard(plain(2, (int64_t[]){12, 20}, (int64_t[]){0, 1}), 1, (int[]){0}, threads)),
          TF_DIAG_VIEW_ZERO_SPLIT);
  refused(laid(x, shard(plain(2, (int64_t[]){12, 20}, NULL), 1, (int[]){2}, threads)), TF_DIAG_VIEW_SHARD);
  refused(laid(laid(x, partial), plain(1, (int64_t[]){240}, NULL)), TF_DIAG_VIEW_PARTIAL);
}
END_TEST

START_TEST(refused_allocations) {
  refused(alloc(tf_type_scalar(context, TF_DTYPE_F32)), TF_DIAG_ALLOC_RANK);
  refused(alloc(NULL), TF_DIAG_ALLOC_TYPE);
  const tf_dim *s;
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 9, &s), TF_OK);
  refused(alloc(tf_type_tensor(context, 1, &s, TF_DTYPE_F32, NULL, TF_STORAGE_RMEM)), TF_DIAG_ALLOC_DYNAMIC);
  ck_assert_ptr_nonnull(alloc(tf_type_tensor(context, 1, &s, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM)));
  const tf_layout *cleared = tf_layout_composed(context, tf_layout_swizzle(context, 2, 0, 0), NULL, NULL);
  refused(alloc(tensor(1, (int64_t[]){64}, cleared, TF_STORAGE_SMEM)), TF_DIAG_VIEW_SWIZZLE_BITS);
}
END_TEST

START_TEST(refused_clips) {
  const tf_expr *x = param(2, (int64_t[]){12, 20}, NULL), *indices[] = {runtime(3), runtime(4)};
  const tf_expr *zero = tf_expr_float(context, TF_DTYPE_F32, 0, TF_NO_LOC),
                *one = tf_expr_float(context, TF_DTYPE_F32, 1, TF_NO_LOC);
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){4});
  const tf_tuple *tile = tf_tuple_ints(context, 2, (int64_t[]){4, 4});
  const tf_layout *rows = shard(plain(2, (int64_t[]){4, 4}, NULL), 1, (int[]){0}, threads);
  const tf_expr *clipped = view_with(x, 2, indices, NULL, tile, zero);
  refused(reshape(clipped, 1, (int64_t[]){16}), TF_DIAG_VIEW_CLIP_RESHAPE);
  refused(view_with(clipped, 2, indices, NULL, tile, one), TF_DIAG_VIEW_CLIP_VALUES);
  refused(laid(laid(clipped, rows), plain(2, (int64_t[]){1, 4}, NULL)), TF_DIAG_VIEW_CLIP_PART);
  refused(laid(clipped, plain(2, (int64_t[]){4, 4}, NULL)), TF_DIAG_VIEW_CLIP_LAYOUT);
  refused(view_with(laid(window(x, 2, indices, 2, (int64_t[]){4, 4}), rows), 2, indices, NULL, tile, zero),
          TF_DIAG_VIEW_CLIP_SHARDED);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("views");
  TCase *tests = tcase_create("views");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, random_chains_of_plain_views);
  tcase_add_test(tests, distributions_over_a_window_step_in_its_storage);
  tcase_add_test(tests, dealt_chunks_across_rows);
  tcase_add_test(tests, parts_of_parts);
  tcase_add_test(tests, parts_that_are_no_box_are_flat);
  tcase_add_test(tests, windows_of_fragment_arrays);
  tcase_add_test(tests, windows_of_several_fragments);
  tcase_add_test(tests, windows_of_arrays_of_tiles);
  tcase_add_test(tests, the_part_of_a_fragment);
  tcase_add_test(tests, shared_allocations_are_one_buffer);
  tcase_add_test(tests, ctas_keep_their_own_part);
  tcase_add_test(tests, private_buffers_lie_behind_one_another);
  tcase_add_test(tests, swizzles_are_behind_all_views);
  tcase_add_test(tests, clipped_windows);
  tcase_add_test(tests, reshapes_keep_the_distribution);
  tcase_add_test(tests, symbolic_extents);
  tcase_add_test(tests, spans_and_pointers_keep_offsets);
  tcase_add_test(tests, nested_layouts);
  tcase_add_test(tests, refused_windows);
  tcase_add_test(tests, refused_layouts);
  tcase_add_test(tests, refused_allocations);
  tcase_add_test(tests, refused_clips);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
