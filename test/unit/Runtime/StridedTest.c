/* Joint walks over two views, against loops over coordinates: shapes that differ, permuted and padded strides, axes of several
 * modes, clips, windows that leave their storage. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "Harness.h"
#include "Random.h"
#include "Runtime/Strided.h"

enum { MAX_RANK = 3, MAX_MODES_OF_AXIS = 2, ROOM = 1 << 16, ROUNDS = 3000 };

static uint64_t state = 12345;

static int64_t draw(int64_t n) {
  return (int64_t)random_below(&state, (uint64_t)n);
}

/* A view with room for its arrays. */
typedef struct sample {
  tf_compiled_view view;
  int64_t shape[MAX_RANK];
  tf_compiled_mode modes[MAX_RANK * MAX_MODES_OF_AXIS];
  tf_compiled_clip clips[MAX_RANK];
} sample;

/* Strides that never meet: the modes in random order, each beyond what the earlier ones reach, sometimes with a gap. */
static void choose_strides(sample *s) {
  bool done[MAX_RANK * MAX_MODES_OF_AXIS] = {false};
  int64_t step = 1;
  for (int64_t left = s->view.mode_count; left > 0; left--) {
    int64_t pick = draw(4) ? s->view.mode_count - 1 : draw(s->view.mode_count);
    while (done[pick])
      pick = (pick + s->view.mode_count - 1) % s->view.mode_count;
    done[pick] = true;
    s->modes[pick].stride = step;
    step *= s->modes[pick].extent;
    if (draw(4) == 0) step += draw(3);
  }
  s->view.offset = draw(9);
  s->view.size = s->view.offset + step;
}

static void make_view(sample *s, int64_t rank, const int64_t *shape) {
  *s = (sample){.view = {.rank = rank, .shape = s->shape, .modes = s->modes, .clips = s->clips, .clip_bits = 0xee}};
  for (int64_t axis = 0; axis < rank; axis++) {
    s->shape[axis] = shape[axis];
    int64_t factor = shape[axis] % 2 == 0 && draw(3) == 0   ? 2
                     : shape[axis] % 3 == 0 && draw(3) == 0 ? 3
                                                                    : 1;
    if (factor > 1) s->modes[s->view.mode_count++] = (tf_compiled_mode){axis, factor, 0};
    s->modes[s->view.mode_count++] = (tf_compiled_mode){axis, shape[axis] / factor, 0};
  }
  choose_strides(s);
}

/* The element's place by its coordinates; false if it is clipped. */
static bool place_of(const sample *s, int64_t index, int64_t *out) {
  int64_t coordinates[MAX_RANK], digits[MAX_RANK * MAX_MODES_OF_AXIS];
  for (int64_t axis = s->view.rank; axis-- > 0; index /= s->shape[axis])
    coordinates[axis] = index % s->shape[axis];
  for (int64_t i = 0; i < s->view.clip_count; i++) {
    int64_t at = s->clips[i].start + (s->clips[i].axis < 0 ? 0 : coordinates[s->clips[i].axis]);
    if (at < 0 || at >= s->clips[i].extent) return false;
  }
  for (int64_t i = s->view.mode_count; i-- > 0;) {
    digits[i] = coordinates[s->modes[i].axis] % s->modes[i].extent;
    coordinates[s->modes[i].axis] /= s->modes[i].extent;
  }
  *out = s->view.offset;
  for (int64_t i = 0; i < s->view.mode_count; i++)
    *out += digits[i] * s->modes[i].stride;
  return true;
}

static unsigned char from[ROOM], to[ROOM], wanted[ROOM];
static int blocks;

static tf_status copy_block(void *user, const tf_block *b) {
  const sample *source = user;
  blocks++;
  ck_assert(b->rows == 1 || (b->source_pitch >= b->count && b->destination_pitch >= b->count));
  for (int64_t row = 0; row < b->rows; row++) {
    unsigned char *out = to + b->destination + row * b->destination_pitch;
    if (b->clipped)
      memset(out, (int)source->view.clip_bits, (size_t)b->count);
    else
      memcpy(out, from + b->source + row * b->source_pitch, (size_t)b->count);
  }
  return TF_OK;
}

static void fill_buffers(void) {
  for (int i = 0; i < ROOM; i++) {
    from[i] = (unsigned char)draw(251);
    to[i] = wanted[i] = 0xcd;
  }
}

static void expect_copied(sample *source, sample *destination, int64_t count) {
  int outside = 7;
  fill_buffers();
  for (int64_t i = 0; i < count; i++) {
    int64_t read = 0, written = 0;
    bool here = place_of(source, i, &read);
    if (place_of(destination, i, &written)) wanted[written] = here ? from[read] : (unsigned char)source->view.clip_bits;
  }
  ck_assert_int_eq(tf_strided_walk(&source->view, &destination->view, copy_block, source, &outside), TF_OK);
  ck_assert_int_eq(memcmp(to, wanted, ROOM), 0);
}

static int64_t random_shape(int64_t *rank, int64_t *shape) {
  int64_t count = 1;
  *rank = 1 + draw(MAX_RANK);
  for (int64_t axis = 0; axis < *rank; axis++)
    count *= shape[axis] = 1 + draw(12);
  return count;
}

START_TEST(same_shapes) {
  sample source, destination;
  int64_t rank, shape[MAX_RANK];
  for (int round = 0; round < ROUNDS; round++) {
    int64_t count = random_shape(&rank, shape);
    make_view(&source, rank, shape);
    make_view(&destination, rank, shape);
    expect_copied(&source, &destination, count);
  }
}
END_TEST

START_TEST(other_shapes_of_as_many_elements) {
  sample source, destination;
  int64_t rank, shape[MAX_RANK];
  for (int round = 0; round < ROUNDS; round++) {
    int64_t count = random_shape(&rank, shape), flat[2] = {count, 1};
    make_view(&source, rank, shape);
    for (int64_t d = 2; d < 8; d++)
      if (count % d == 0 && draw(2)) flat[0] = count / d, flat[1] = d;
    make_view(&destination, 2, flat);
    expect_copied(&source, &destination, count);
    expect_copied(&destination, &source, count);
  }
}
END_TEST

/* An axis or a dropped one whose source ends somewhere inside, or before, or behind. */
static void clip(sample *s) {
  for (int64_t axis = draw(2) - 1; axis < s->view.rank; axis++) {
    if (draw(2)) continue;
    int64_t extent = axis < 0 ? 1 : s->shape[axis];
    s->clips[s->view.clip_count++] = (tf_compiled_clip){axis, draw(2 * extent + 1) - extent, extent};
    if (s->view.clip_count == MAX_RANK) return;
  }
}

START_TEST(clipped_elements) {
  sample source, destination;
  int64_t rank, shape[MAX_RANK];
  for (int round = 0; round < ROUNDS; round++) {
    int64_t count = random_shape(&rank, shape);
    make_view(&source, rank, shape);
    make_view(&destination, rank, shape);
    clip(&source);
    if (draw(2)) clip(&destination);
    expect_copied(&source, &destination, count);
  }
}
END_TEST

START_TEST(contiguous_views_are_one_block) {
  sample source = {.shape = {6, 40}, .modes = {{0, 6, 40}, {1, 40, 1}}};
  sample destination = {.shape = {240}, .modes = {{0, 240, 1}}};
  source.view = (tf_compiled_view){
      .size = 310, .offset = 60, .rank = 2, .shape = source.shape, .mode_count = 2, .modes = source.modes};
  destination.view = (tf_compiled_view){
      .size = 240, .rank = 1, .shape = destination.shape, .mode_count = 1, .modes = destination.modes};
  blocks = 0;
  expect_copied(&source, &destination, 240);
  ck_assert_int_eq(blocks, 1);
  source.modes[0].stride = 41; /* rows with a gap: still one block, of rows */
  blocks = 0;
  expect_copied(&source, &destination, 240);
  ck_assert_int_eq(blocks, 1);
}
END_TEST

START_TEST(windows_that_leave_their_storage) {
  for (int side = 0; side < 2; side++) {
    for (int64_t offset = -3; offset <= 3; offset++) {
      sample v[2];
      int outside = 7;
      for (int i = 0; i < 2; i++) {
        v[i] = (sample){.shape = {4, 5}, .modes = {{0, 4, 5}, {1, 5, 1}}};
        v[i].view =
            (tf_compiled_view){.size = 20, .rank = 2, .shape = v[i].shape, .mode_count = 2, .modes = v[i].modes};
      }
      v[side].view.offset = offset;
      fill_buffers();
      blocks = 0;
      tf_status status = tf_strided_walk(&v[0].view, &v[1].view, copy_block, &v[0], &outside);
      ck_assert_int_eq(status, offset == 0 ? TF_OK : TF_LAUNCH);
      if (offset != 0) ck_assert_int_eq(outside, side);
      ck_assert_int_eq(blocks, offset == 0);
      v[side].view.clip_count = 1; /* the same where elements are looked at one by one */
      v[side].view.clips = v[side].clips;
      v[side].clips[0] = (tf_compiled_clip){0, 0, 4};
      status = tf_strided_walk(&v[0].view, &v[1].view, copy_block, &v[0], &outside);
      ck_assert_int_eq(status, offset == 0 ? TF_OK : TF_LAUNCH);
      if (offset != 0) ck_assert_int_eq(outside, side);
    }
  }
}
END_TEST

static tf_status stop(void *user, const tf_block *block) {
  (void)user, (void)block;
  return ++blocks == 2 ? TF_DRIVER : TF_OK;
}

START_TEST(the_first_failure_ends_the_walk) {
  sample a = {.shape = {5, 3}, .modes = {{0, 5, 1}, {1, 3, 5}}};
  a.view = (tf_compiled_view){.size = 15, .rank = 2, .shape = a.shape, .mode_count = 2, .modes = a.modes};
  int outside;
  blocks = 0;
  a.view.clip_count = 1;
  a.view.clips = a.clips;
  a.clips[0] = (tf_compiled_clip){1, 0, 3};
  ck_assert_int_eq(tf_strided_walk(&a.view, &a.view, stop, NULL, &outside), TF_DRIVER);
  ck_assert_int_eq(blocks, 2);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("strided");
  tcase_add_test(c, same_shapes);
  tcase_add_test(c, other_shapes_of_as_many_elements);
  tcase_add_test(c, clipped_elements);
  tcase_add_test(c, contiguous_views_are_one_block);
  tcase_add_test(c, windows_that_leave_their_storage);
  tcase_add_test(c, the_first_failure_ends_the_walk);
  return run_case("strided", c);
}
