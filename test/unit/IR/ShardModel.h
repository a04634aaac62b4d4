/* Shard layouts as plain numbers, and what each instance holds by the definition: an instance's coordinate on a layout axis
 * is the mesh digits that split it, in mesh order, then the local digit; the element is the storage offset, divided by the
 * storage's strides in descending order, or the C-order index of the domain coordinate. Nothing here uses the library's
 * factors. */
#ifndef TF_TEST_SHARD_MODEL_H
#define TF_TEST_SHARD_MODEL_H

#include "IR/Ownership.h"
#include "LayoutModel.h"

enum { MAX_AXES = 6, MAX_NUMEL = 4096 }; /* three axes of three factors each fit */

static tf_context *context;

static inline void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static inline void teardown(void) {
  tf_context_destroy(context);
}

static inline void renew(int round) {
  if (round % 500 != 499) return;
  teardown();
  setup();
}

/* ---- The model ---- */
typedef struct shard {
  int rank, layout_axes, mesh_axes;
  int64_t shape[MAX_AXES], storage[MAX_AXES]; /* storage strides */
  int64_t extent[MAX_AXES * 2], stride[MAX_AXES * 2];
  bool has_strides;
  int64_t mesh[MAX_AXES];
  int split[MAX_AXES]; /* layout axis, or -1: Broadcast, -2: Partial */
} shard;

static inline int64_t numel_of(int count, const int64_t *extents) {
  int64_t product = 1;
  for (int i = 0; i < count; i++)
    product *= extents[i];
  return product;
}

static inline int64_t local_extent(const shard *s, int axis) {
  int64_t rest = s->extent[axis];
  for (int a = 0; a < s->mesh_axes; a++)
    if (s->split[a] == axis) rest /= s->mesh[a];
  return rest;
}

static inline int64_t local_count(const shard *s) {
  int64_t product = 1;
  for (int k = 0; k < s->layout_axes; k++)
    product *= local_extent(s, k);
  return product;
}

static inline bool is_dealt(const shard *s) {
  for (int a = 0; a < s->mesh_axes; a++)
    if (s->split[a] >= 0 && s->mesh[a] > 1 && s->has_strides && s->stride[s->split[a]] == 0) return true;
  return !s->has_strides;
}

/* The coordinate on each layout axis of local position `number` of an instance. */
static inline void domain_coordinate(const shard *s, const int64_t *instance, int64_t number, int64_t *x) {
  for (int k = 0; k < s->layout_axes; k++) {
    int64_t local = local_extent(s, k);
    x[k] = 0;
    for (int a = 0; a < s->mesh_axes; a++)
      if (s->split[a] == k) x[k] = x[k] * s->mesh[a] + instance[a];
    x[k] = x[k] * local + number % local;
    number /= local;
  }
}

/* The C-order index of the element at a storage offset; -1 outside the shape. */
static inline int64_t element_at(const shard *s, int64_t offset) {
  int64_t index = 0;
  bool used[MAX_AXES] = {false};
  for (;;) {
    int best = -1;
    for (int i = 0; i < s->rank; i++)
      if (!used[i] && s->shape[i] > 1 && (best < 0 || s->storage[i] > s->storage[best])) best = i;
    if (best < 0) return offset == 0 ? index : -1;
    used[best] = true;
    int64_t digit = offset < 0 ? -1 : offset / s->storage[best];
    if (digit < 0 || digit >= s->shape[best]) return -1;
    offset -= digit * s->storage[best];
    index += digit * numel_of(s->rank - best - 1, s->shape + best + 1);
  }
}

static inline int64_t model_element(const shard *s, const int64_t *instance, int64_t number) {
  int64_t x[MAX_AXES * 2], offset = 0, order = 0;
  domain_coordinate(s, instance, number, x);
  for (int k = 0; k < s->layout_axes; k++) {
    offset += x[k] * s->stride[k];
    order = order * s->extent[k] + x[k];
  }
  return is_dealt(s) ? order : element_at(s, offset);
}

static inline bool next_instance(const shard *s, int64_t *instance) {
  for (int a = s->mesh_axes; a-- > 0;) {
    if (++instance[a] < s->mesh[a]) return true;
    instance[a] = 0;
  }
  return false;
}

/* Whether the definition accepts it: offsets all different, and all inside the shape. */
static inline bool model_accepts(const shard *s) {
  if (numel_of(s->rank, s->shape) != numel_of(s->layout_axes, s->extent)) return false;
  if (is_dealt(s)) return true;
  model m = {.count = s->layout_axes};
  memcpy(m.extent, s->extent, sizeof m.extent);
  memcpy(m.stride, s->stride, sizeof m.stride);
  if (!model_is_injective(&m)) return false;
  for (int64_t i = 0; i < model_size(&m); i++)
    if (element_at(s, model_apply(&m, i)) < 0) return false;
  return true;
}

/* ---- The library's objects ---- */
static inline const tf_tuple *ints(int count, const int64_t *values) {
  return tf_tuple_ints(context, (unsigned)count, values);
}

static inline const tf_mesh *mesh_of(const shard *s) {
  const tf_topology level = {TF_LEVEL_THREAD, tf_dim_int(context, numel_of(s->mesh_axes, s->mesh))};
  const tf_layout *layout = tf_layout_plain(context, ints(s->mesh_axes, s->mesh), NULL);
  return tf_mesh_get(context, 1, &level, layout, 0, NULL);
}

static inline const tf_layout *layout_of(const shard *s) {
  tf_shard_attr attrs[MAX_AXES];
  for (int a = 0; a < s->mesh_axes; a++)
    attrs[a] = s->split[a] >= 0    ? (tf_shard_attr){TF_SHARD_SPLIT, (unsigned)s->split[a], TF_REDUCE_SUM}
               : s->split[a] == -1 ? (tf_shard_attr){TF_SHARD_BROADCAST, 0, TF_REDUCE_SUM}
                                   : (tf_shard_attr){TF_SHARD_PARTIAL, 0, TF_REDUCE_MAX};
  const tf_tuple *strides = s->has_strides ? ints(s->layout_axes, s->stride) : NULL;
  const tf_layout *plain = tf_layout_plain(context, ints(s->layout_axes, s->extent), strides);
  return tf_layout_shard(context, plain, (unsigned)s->mesh_axes, attrs, mesh_of(s));
}

static inline const tf_type *type_of(const shard *s, tf_storage storage) {
  const tf_dim *shape[MAX_AXES];
  for (int i = 0; i < s->rank; i++)
    shape[i] = tf_dim_int(context, s->shape[i]);
  return tf_type_tensor(context, (unsigned)s->rank, shape, TF_DTYPE_F32, layout_of(s), storage);
}

static inline tf_status ownership_of(const shard *s, const tf_ownership **out, const char **reason) {
  const tf_dim *strides[MAX_AXES];
  for (int i = 0; i < s->rank; i++)
    strides[i] = tf_dim_int(context, s->storage[i]);
  return tf_ownership_of(context, type_of(s, TF_STORAGE_RMEM), strides, out, reason);
}

static inline const char *describe(const shard *s) {
  const tf_type *type = type_of(s, TF_STORAGE_RMEM);
  return tf_type_print(context, type);
}

/* ---- Random shard layouts ---- */
static inline int64_t pick_divisor(uint64_t *seed, int64_t n) {
  int64_t divisor = 1 + (int64_t)random_below(seed, (uint64_t)n);
  while (n % divisor)
    divisor--;
  return divisor;
}

static inline void random_shape(uint64_t *seed, shard *s) {
  static const int64_t extents[] = {1, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16};
  do {
    s->rank = 1 + (int)random_below(seed, 3);
    for (int i = 0; i < s->rank; i++)
      s->shape[i] = extents[random_below(seed, 11)];
  } while (numel_of(s->rank, s->shape) > 512);
  int64_t stride = 1;
  bool is_padded = random_below(seed, 3) == 0; /* a window of something larger */
  for (int i = s->rank; i-- > 0;) {
    s->storage[i] = stride;
    stride *= s->shape[i] + (is_padded ? (int64_t)random_below(seed, 5) : 0);
  }
}

/* Gives each mesh axis a divisor of what is left of some layout axis, or nothing to split. */
static inline void random_splits(uint64_t *seed, shard *s) {
  s->mesh_axes = 1 + (int)random_below(seed, 3);
  for (int a = 0; a < s->mesh_axes; a++)
    s->mesh[a] = 1;
  for (int a = 0; a < s->mesh_axes; a++) {
    s->split[a] =
        random_below(seed, 5) ? (int)random_below(seed, (uint64_t)s->layout_axes) : -1 - (int)random_below(seed, 2);
    if (s->split[a] < 0) s->mesh[a] = 1 + (int64_t)random_below(seed, 3);
    if (s->split[a] >= 0) s->mesh[a] = pick_divisor(seed, local_extent(s, s->split[a]));
  }
}

/* Factors of the shape's axes in random order, each stepping through the storage: every element exactly once. */
static inline void factor_shape(uint64_t *seed, shard *s) {
  s->layout_axes = 0;
  for (int i = 0; i < s->rank; i++) {
    int64_t rest = s->shape[i], stride = s->storage[i];
    for (int n = 0; n < 3 && (n == 0 || rest > 1); n++) {
      int64_t part = n == 2 ? rest : pick_divisor(seed, rest);
      s->extent[s->layout_axes] = part;
      s->stride[s->layout_axes++] = stride;
      stride *= part;
      rest /= part;
    }
  }
  for (int i = s->layout_axes; i-- > 1;) {
    int k = (int)random_below(seed, (uint64_t)i + 1);
    int64_t e = s->extent[i], t = s->stride[i];
    s->extent[i] = s->extent[k], s->stride[i] = s->stride[k];
    s->extent[k] = e, s->stride[k] = t;
  }
}

static inline shard random_valid(uint64_t *seed) {
  shard s = {.has_strides = true};
  random_shape(seed, &s);
  factor_shape(seed, &s);
  random_splits(seed, &s);
  return s;
}

/* Another shape's extents with as many elements: layout axes that cross the shape's axes. */
static inline shard random_crossing(uint64_t *seed) {
  shard s = {.layout_axes = 1 + (int)random_below(seed, 3), .has_strides = random_below(seed, 2)};
  random_shape(seed, &s);
  int64_t rest = numel_of(s.rank, s.shape), stride = 1;
  for (int k = 0; k < s.layout_axes; k++) {
    s.extent[k] = k + 1 == s.layout_axes ? rest : pick_divisor(seed, rest);
    rest /= s.extent[k];
  }
  for (int k = s.layout_axes; k-- > 0;) {
    s.stride[k] = stride;
    stride *= s.extent[k];
  }
  random_splits(seed, &s);
  return s;
}

/* Anything: strides out of a small pool, 0 among them. */
static inline shard random_wild(uint64_t *seed) {
  shard s = random_below(seed, 2) ? random_valid(seed) : random_crossing(seed);
  s.has_strides = true;
  int k = (int)random_below(seed, (uint64_t)s.layout_axes);
  s.stride[k] = (int64_t)random_below(seed, 4) ? (int64_t)random_below(seed, 40) : 0;
  if (random_below(seed, 4) == 0) s.storage[random_below(seed, (uint64_t)s.rank)] = 1 + (int64_t)random_below(seed, 30);
  return s;
}

#endif
