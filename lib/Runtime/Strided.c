/* Joint walks over two views; see Strided.h. Positions are checked before blocks are handed out: by the extremes of a
 * view without clips, else at each element. */
#include "Runtime/Strided.h"

#include <stddef.h>

#define MAX_MODES 512

/* ---- Single views ------------------------------------------------------------------------------------------------ */

int64_t tf_extents_count(int64_t rank, const int64_t *shape) {
  int64_t count = 1;
  bool wraps = false, empty = false;
  for (int64_t axis = 0; axis < rank; axis++) {
    if (shape[axis] < 0) return -1;
    empty = empty || shape[axis] == 0;
    wraps = __builtin_mul_overflow(count, shape[axis], &count) || wraps;
  }
  return empty ? 0 : wraps ? -1 : count;
}

int64_t tf_view_count(const tf_compiled_view *view) {
  return tf_extents_count(view->rank, view->shape);
}

bool tf_view_is_inside(const tf_compiled_view *view) {
  int64_t low = view->offset, high = view->offset, reach;
  for (int64_t i = 0; i < view->mode_count; i++) {
    const tf_compiled_mode *mode = &view->modes[i];
    if (mode->extent == 0) return true;
    if (__builtin_mul_overflow(mode->extent - 1, mode->stride, &reach)) return false;
    if (__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) return false;
  }
  return low >= 0 && high < view->size;
}

static bool is_clipped(const tf_compiled_view *view, int64_t axis, int64_t coordinate) {
  for (int64_t i = 0; i < view->clip_count; i++) {
    const tf_compiled_clip *clip = &view->clips[i];
    int64_t at;
    if (clip->axis != axis) continue;
    if (__builtin_add_overflow(clip->start, coordinate, &at) || at < 0 || at >= clip->extent) return true;
  }
  return false;
}

tf_position tf_view_position(const tf_compiled_view *view, int64_t index, int64_t *out) {
  int64_t position = view->offset, coordinate = 0, place = 1, step;
  if (is_clipped(view, -1, 0)) return TF_POSITION_CLIPPED;
  for (int64_t i = view->mode_count; i-- > 0;) {
    const tf_compiled_mode *mode = &view->modes[i];
    int64_t digit = index % mode->extent;
    index /= mode->extent;
    coordinate += digit * place;
    place *= mode->extent;
    if (i == 0 || view->modes[i - 1].axis != mode->axis) {
      if (is_clipped(view, mode->axis, coordinate)) return TF_POSITION_CLIPPED;
      coordinate = 0;
      place = 1;
    }
    if (__builtin_mul_overflow(digit, mode->stride, &step) || __builtin_add_overflow(position, step, &position))
      return TF_POSITION_OUTSIDE;
  }
  *out = position;
  return position >= 0 && position < view->size ? TF_POSITION_INSIDE : TF_POSITION_OUTSIDE;
}

/* ---- By modes ---------------------------------------------------------------------------------------------------- */

typedef struct joint_mode {
  int64_t extent, source, destination;
} joint_mode;

/* One side's modes from the fastest on, of which parts can be taken. */
typedef struct mode_reader {
  const tf_compiled_view *view;
  int64_t left; /* modes that were not begun */
  int64_t extent, stride;
} mode_reader;

/* False at the end. Modes of extent 1 say nothing. */
static bool fetch(mode_reader *r) {
  while (r->extent == 1 && r->left > 0) {
    const tf_compiled_mode *mode = &r->view->modes[--r->left];
    r->extent = mode->extent;
    r->stride = mode->stride;
  }
  return r->extent > 1;
}

static void take(mode_reader *r, int64_t extent) {
  r->extent /= extent;
  r->stride *= extent;
}

static int64_t add_mode(joint_mode *modes, int64_t count, joint_mode next) {
  joint_mode *last = count ? &modes[count - 1] : NULL;
  if (last && next.source == last->source * last->extent && next.destination == last->destination * last->extent) {
    last->extent *= next.extent;
    return count;
  }
  modes[count] = next;
  return count + 1;
}

/* The modes of both, fastest first; -1 if they do not divide each other. */
static int64_t join(const tf_compiled_view *source, const tf_compiled_view *destination, joint_mode *modes) {
  mode_reader s = {source, source->mode_count, 1, 0}, d = {destination, destination->mode_count, 1, 0};
  int64_t count = 0;
  for (;;) {
    bool more = fetch(&s);
    if (fetch(&d) != more) return -1;
    if (!more) return count;
    int64_t extent = s.extent < d.extent ? s.extent : d.extent;
    if (s.extent % extent != 0 || d.extent % extent != 0 || count == MAX_MODES) return -1;
    count = add_mode(modes, count, (joint_mode){extent, s.stride, d.stride});
    take(&s, extent);
    take(&d, extent);
  }
}

/* Takes the fastest modes into the block's row, and the next one into its rows where the pitches allow that. */
static int64_t shape_block(const joint_mode *modes, int64_t count, tf_block *block) {
  int64_t used = 0;
  if (count > 0 && modes[0].source == 1 && modes[0].destination == 1) block->count = modes[used++].extent;
  if (used == count) return used;
  const joint_mode *next = &modes[used];
  if (next->source < block->count || next->destination < block->count) return used;
  block->rows = next->extent;
  block->source_pitch = next->source;
  block->destination_pitch = next->destination;
  return used + 1;
}

static tf_status walk_modes(const joint_mode *modes, int64_t count, tf_block block, tf_block_fn call, void *user) {
  int64_t digits[MAX_MODES], first = shape_block(modes, count, &block);
  for (int64_t i = first; i < count; i++)
    digits[i] = 0;
  for (;;) {
    tf_status status = call(user, &block);
    if (status != TF_OK) return status;
    int64_t i = first;
    for (; i < count; i++) {
      block.source += modes[i].source;
      block.destination += modes[i].destination;
      if (++digits[i] < modes[i].extent) break;
      block.source -= modes[i].source * modes[i].extent;
      block.destination -= modes[i].destination * modes[i].extent;
      digits[i] = 0;
    }
    if (i == count) return TF_OK;
  }
}

/* ---- By elements ------------------------------------------------------------------------------------------------- */

/* Whether the element goes on where the run ends. */
static bool continues(const tf_block *run, tf_position from, int64_t source, int64_t destination) {
  bool clipped = from == TF_POSITION_CLIPPED;
  if (run->count == 0 || run->clipped != clipped || destination != run->destination + run->count) return false;
  return clipped || source == run->source + run->count;
}

static tf_status walk_elements(const tf_compiled_view *source, const tf_compiled_view *destination, int64_t count,
                               tf_block_fn call, void *user, int *outside) {
  tf_block run = {.rows = 1};
  for (int64_t i = 0; i < count; i++) {
    int64_t at = 0, from_at = 0;
    tf_position to = tf_view_position(destination, i, &at), from = tf_view_position(source, i, &from_at);
    *outside = to == TF_POSITION_OUTSIDE;
    if (to == TF_POSITION_OUTSIDE || (from == TF_POSITION_OUTSIDE && to != TF_POSITION_CLIPPED)) return TF_LAUNCH;
    if (to == TF_POSITION_CLIPPED) continue;
    if (!continues(&run, from, from_at, at)) {
      tf_status status = run.count ? call(user, &run) : TF_OK;
      if (status != TF_OK) return status;
      run = (tf_block){.source = from_at, .destination = at, .rows = 1, .clipped = from == TF_POSITION_CLIPPED};
    }
    run.count++;
  }
  return run.count ? call(user, &run) : TF_OK;
}

tf_status tf_strided_walk(const tf_compiled_view *source, const tf_compiled_view *destination, tf_block_fn call,
                          void *user, int *outside) {
  joint_mode modes[MAX_MODES];
  *outside = -1;
  bool clipped = source->clip_count || destination->clip_count;
  if (!clipped && !tf_view_is_inside(source)) *outside = 0;
  if (!clipped && !tf_view_is_inside(destination)) *outside = 1;
  if (*outside >= 0) return TF_LAUNCH;
  int64_t count = clipped ? -1 : join(source, destination, modes);
  if (count < 0) return walk_elements(source, destination, tf_view_count(destination), call, user, outside);
  tf_block block = {.source = source->offset, .destination = destination->offset, .count = 1, .rows = 1};
  return walk_modes(modes, count, block, call, user);
}
