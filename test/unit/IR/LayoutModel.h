/* What the layout tests share: random layouts as plain arrays, evaluated here without the library. */
#ifndef TF_TEST_LAYOUT_MODEL_H
#define TF_TEST_LAYOUT_MODEL_H

#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Layout.h>

#include "QuietCheck.h"
#include "Random.h"

enum { MODEL_MODES = 12 };

/* Modes, leftmost fastest. */
typedef struct model {
  int count;
  int64_t extent[MODEL_MODES], stride[MODEL_MODES];
} model;

static inline int64_t model_size(const model *m) {
  int64_t size = 1;
  for (int i = 0; i < m->count; i++)
    size *= m->extent[i];
  return size;
}

static inline int64_t model_apply(const model *m, int64_t index) {
  int64_t sum = 0;
  for (int i = 0; i < m->count; i++) {
    sum += index % m->extent[i] * m->stride[i];
    index /= m->extent[i];
  }
  return sum;
}

static inline int64_t model_cosize(const model *m) {
  int64_t most = -1;
  for (int64_t i = 0; i < model_size(m); i++)
    if (i == 0 || model_apply(m, i) + 1 > most) most = model_apply(m, i) + 1;
  return most;
}

/* The modes of a plain layout of the library, read leaf by leaf. */
static inline model model_of(const tf_layout *layout) {
  const tf_dim *e[64], *s[64];
  model m = {0};
  ck_assert_ptr_nonnull(layout);
  ck_assert_int_eq(tf_layout_get_kind(layout), TF_LAYOUT_PLAIN);
  m.count = (int)tf_tuple_leaf_count(tf_layout_shape(layout));
  ck_assert_int_le(m.count, MODEL_MODES);
  tf_tuple_leaves(tf_layout_shape(layout), e);
  if (tf_layout_strides(layout)) tf_tuple_leaves(tf_layout_strides(layout), s);
  int64_t product = 1;
  for (int i = 0; i < m.count; i++) {
    ck_assert(tf_dim_is_static(e[i], &m.extent[i]));
    m.stride[i] = product;
    if (tf_layout_strides(layout)) ck_assert(tf_dim_is_static(s[i], &m.stride[i]));
    product *= m.extent[i];
  }
  return m;
}

static inline const tf_layout *model_layout(tf_context *context, const model *m) {
  return tf_layout_plain(context, tf_tuple_ints(context, (unsigned)m->count, m->extent),
                         tf_tuple_ints(context, (unsigned)m->count, m->stride));
}

/* The same modes in random nested groups. */
static inline const tf_layout *model_nested(tf_context *context, const model *m, uint64_t *seed) {
  const tf_tuple *e[MODEL_MODES], *s[MODEL_MODES];
  unsigned count = 0;
  for (int i = 0; i < m->count;) {
    int group = 1 + (int)random_below(seed, 3);
    if (group > m->count - i) group = m->count - i;
    e[count] = tf_tuple_ints(context, (unsigned)group, m->extent + i);
    s[count] = tf_tuple_ints(context, (unsigned)group, m->stride + i);
    if (group == 1 && random_below(seed, 2)) {
      e[count] = tf_tuple_element(e[count], 0);
      s[count] = tf_tuple_element(s[count], 0);
    }
    count++;
    i += group;
  }
  return tf_layout_plain(context, tf_tuple_list(context, count, e), tf_tuple_list(context, count, s));
}

/* Any strides: repeated, 0, negative, overlapping. */
static inline model random_model(uint64_t *seed) {
  model m = {.count = 1 + (int)random_below(seed, 4)};
  for (int i = 0; i < m.count; i++) {
    m.extent[i] = 1 + (int64_t)random_below(seed, 6);
    m.stride[i] = (int64_t)random_below(seed, 40) - (random_below(seed, 8) == 0 ? 20 : 0);
  }
  return m;
}

/* Strides that form a chain with gaps, in random order: what complements and inverses are defined for. */
static inline model random_chain(uint64_t *seed, int max_gap) {
  model m = {.count = 1 + (int)random_below(seed, 4)};
  int order[MODEL_MODES] = {0};
  for (int i = 0; i < m.count; i++) {
    int at = (int)random_below(seed, (uint64_t)i + 1);
    order[i] = order[at];
    order[at] = i;
  }
  int64_t covered = 1;
  for (int i = 0; i < m.count; i++) {
    int mode = order[i];
    covered *= 1 + (int64_t)random_below(seed, (uint64_t)max_gap);
    m.extent[mode] = 1 + (int64_t)random_below(seed, 4);
    m.stride[mode] = covered;
    covered *= m.extent[mode];
  }
  return m;
}

static inline int compare_int64(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* All offsets in ascending order; the caller frees. */
static inline int64_t *model_sorted(const model *m) {
  int64_t size = model_size(m), *all = malloc((size_t)(size + 1) * sizeof *all);
  for (int64_t i = 0; i < size; i++)
    all[i] = model_apply(m, i);
  qsort(all, (size_t)size, sizeof *all, compare_int64);
  return all;
}

static inline bool model_is_injective(const model *m) {
  int64_t *all = model_sorted(m);
  bool distinct = true;
  for (int64_t i = 1; i < model_size(m); i++)
    distinct &= all[i] != all[i - 1];
  free(all);
  return distinct;
}

#endif
