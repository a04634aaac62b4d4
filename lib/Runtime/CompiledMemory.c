/* Memory of host functions: temporaries, copies, fills, loads. Everything goes through the call's stream; what touches host
 * memory is waited for before host code looks at it (Frame.h), or is part of the graph that is being captured (Capture.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/Frame.h"

#define HOST_ALIGNMENT 64
#define MAX_PITCH      INT32_MAX

static int32_t fail(const tf_frame *f, const tf_compiled_place *place, tf_status status, const char *what,
                    const char *why) {
  const tf_mloc loc = tf_place_loc(place);
  return (int32_t)tf_frame_fail(f, status, &loc, what, why);
}

/* ---- Temporaries ------------------------------------------------------------------------------------------------- */

static tf_status allocate_host(size_t bytes, tf_temporary *out) {
  void *memory = NULL;
  if (posix_memalign(&memory, HOST_ALIGNMENT, bytes) != 0) return TF_OUT_OF_MEMORY;
  *out = (tf_temporary){TF_TEMPORARY_HOST, (uint64_t)(uintptr_t)memory};
  return TF_OK;
}

static tf_status allocate_device(tf_frame *f, size_t bytes, tf_temporary *out) {
  bool ordered;
  CUdeviceptr address;
  tf_status status = tf_device_take_ordered(f->program->runtime, bytes, f->stream, &address, &ordered);
  if (status == TF_OK) *out = (tf_temporary){ordered ? TF_TEMPORARY_ASYNC : TF_TEMPORARY_DEVICE, address};
  return status;
}

/* A graph's memory: the device's by nodes, the host's by an object of the graph, so that nothing of it is left to free. */
static tf_status allocate_captured(tf_frame *f, const tf_mloc *loc, const char *name, bool is_host, size_t bytes,
                                   tf_temporary *out) {
  tf_status status = tf_capture_check_memory(f, loc, name);
  if (status != TF_OK) return status;
  status = is_host ? allocate_host(bytes, out) : allocate_device(f, bytes, out);
  if (status == TF_OK)
    return is_host ? tf_capture_keep(f, (void *)(uintptr_t)out->address) : tf_frame_remember(f, *out);
  return is_host ? tf_frame_fail(f, status, loc, name, "out of memory") : status;
}

int32_t tf_compiled_allocate(tf_call *call, const tf_compiled_place *place, const char *name, int64_t dtype,
                             int64_t is_host, int64_t elements, uint64_t *address) {
  tf_frame *f = tf_frame_of(call);
  if (elements < 0) return fail(f, place, TF_LAUNCH, name, "an extent is negative");
  if (elements > INT64_MAX / 8) return fail(f, place, TF_OUT_OF_MEMORY, name, "out of memory");
  size_t bytes = (size_t)tf_element_bytes((tf_element)dtype, (uint64_t)elements);
  tf_temporary made = {TF_TEMPORARY_HOST, 0};
  bool capturing;
  tf_status status = tf_capture_ask(f, &capturing);
  if (status != TF_OK) return (int32_t)status;
  if (capturing) {
    const tf_mloc loc = tf_place_loc(place);
    status = allocate_captured(f, &loc, name, is_host, bytes ? bytes : 1, &made);
    if (status == TF_OK) *address = made.address;
    return (int32_t)status;
  }
  status = is_host ? allocate_host(bytes ? bytes : 1, &made) : allocate_device(f, bytes ? bytes : 1, &made);
  if (status != TF_OK && is_host) return fail(f, place, TF_OUT_OF_MEMORY, name, "out of memory");
  if (status == TF_OK) status = tf_frame_remember(f, made);
  if (status == TF_OK) *address = made.address;
  return (int32_t)status;
}

int64_t tf_compiled_mark(tf_call *call) {
  return (int64_t)tf_frame_of(call)->temporary_count;
}

int32_t tf_compiled_release(tf_call *call, int64_t mark) {
  return (int32_t)tf_frame_release(tf_frame_of(call), (size_t)mark);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* A copy or a fill in progress. */
typedef struct move {
  tf_frame *frame;
  tf_runtime *rt;
  const tf_compiled_view *source, *destination; /* of a fill: the same */
  tf_element element;
  uint64_t pattern; /* of fills and clipped elements */
  bool is_fill;
  bool capturing; /* known where host memory is written */
} move;

static uint64_t address_of(const tf_compiled_view *view, tf_element element, int64_t position) {
  return view->data + tf_element_bytes(element, (uint64_t)position);
}

static void *host_pointer(uint64_t address) {
  return (void *)(uintptr_t)address;
}

void tf_fill_host(char *to, uint64_t pattern, size_t bytes, int64_t count) {
  for (int64_t i = 0; i < count; i++, to += bytes)
    memcpy(to, &pattern, bytes); /* the low bytes: hosts are little-endian, as the device is */
}

/* The driver has no fill of 8 bytes: the low halves, then the high ones, as columns of one word. */
static tf_status fill_device_wide(move *m, uint64_t to, size_t count) {
  uint32_t low = (uint32_t)m->pattern, high = (uint32_t)(m->pattern >> 32);
  tf_status status = TF_CALL(m->rt, cuMemsetD2D32Async, to, 8, low, 1, count, m->frame->stream);
  return status == TF_OK ? TF_CALL(m->rt, cuMemsetD2D32Async, to + 4, 8, high, 1, count, m->frame->stream) : status;
}

static tf_status fill_device(move *m, uint64_t to, size_t bytes, int64_t count) {
  size_t n = (size_t)count;
  uint32_t low = (uint32_t)m->pattern;
  switch (bytes) {
  case 1:
    return TF_CALL(m->rt, cuMemsetD8Async, to, (unsigned char)low, n, m->frame->stream);
  case 2:
    return TF_CALL(m->rt, cuMemsetD16Async, to, (unsigned short)low, n, m->frame->stream);
  case 4:
    return TF_CALL(m->rt, cuMemsetD32Async, to, low, n, m->frame->stream);
  default:
    return fill_device_wide(m, to, n);
  }
}

/* Packed elements have a pattern of one byte that holds two of them. */
static tf_status fill_row(move *m, int64_t position, int64_t count) {
  unsigned bits = tf_element_bits(m->element);
  uint64_t to = address_of(m->destination, m->element, position);
  size_t bytes = bits < 8 ? 1 : bits / 8;
  int64_t n = bits < 8 ? (count + 1) / 2 : count;
  if (!m->destination->is_host) return fill_device(m, to, bytes, n);
  if (m->capturing) return tf_capture_fill(m->frame, host_pointer(to), m->pattern, bytes, n);
  tf_fill_host(host_pointer(to), m->pattern, bytes, n);
  return TF_OK;
}

static tf_status copy_row(move *m, int64_t source, int64_t destination, int64_t count) {
  uint64_t from = address_of(m->source, m->element, source), to = address_of(m->destination, m->element, destination);
  size_t bytes = (size_t)tf_element_bytes(m->element, (uint64_t)count);
  CUstream stream = m->frame->stream;
  if (m->source->is_host) return TF_CALL(m->rt, cuMemcpyHtoDAsync, to, host_pointer(from), bytes, stream);
  if (m->destination->is_host) return TF_CALL(m->rt, cuMemcpyDtoHAsync, host_pointer(to), from, bytes, stream);
  return TF_CALL(m->rt, cuMemcpyDtoDAsync, to, from, bytes, stream);
}

/* A driver may refuse pitches between places of the device that it has not chosen itself. *done is false then: the rows are
 * copied one by one. */
static tf_status copy_rows(move *m, const tf_block *b, bool *done) {
  uint64_t from = address_of(m->source, m->element, b->source);
  uint64_t to = address_of(m->destination, m->element, b->destination);
  CUDA_MEMCPY2D copy = {
      .srcMemoryType = m->source->is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
      .dstMemoryType = m->destination->is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
      .srcPitch = (size_t)tf_element_bytes(m->element, (uint64_t)b->source_pitch),
      .dstPitch = (size_t)tf_element_bytes(m->element, (uint64_t)b->destination_pitch),
      .WidthInBytes = (size_t)tf_element_bytes(m->element, (uint64_t)b->count),
      .Height = (size_t)b->rows,
  };
  copy.srcHost = m->source->is_host ? host_pointer(from) : NULL;
  copy.srcDevice = m->source->is_host ? 0 : from;
  copy.dstHost = m->destination->is_host ? host_pointer(to) : NULL;
  copy.dstDevice = m->destination->is_host ? 0 : to;
  CUresult result = m->rt->driver.cuMemcpy2DAsync(&copy, m->frame->stream);
  *done = result != CUDA_ERROR_INVALID_VALUE || m->source->is_host || m->destination->is_host;
  return *done ? tf_runtime_check(m->rt, result, "cuMemcpy2DAsync") : TF_OK;
}

static bool is_pitch(const move *m, int64_t elements) {
  return tf_element_bytes(m->element, (uint64_t)elements) <= MAX_PITCH;
}

/* Packed elements move as bytes: whole ones, but for the last byte of the destination. */
static bool is_whole_bytes(const move *m, const tf_block *b) {
  if (tf_element_bits(m->element) >= 8) return true;
  bool end = b->destination + b->count == m->destination->size;
  return b->source % 2 == 0 && b->destination % 2 == 0 && (b->count % 2 == 0 || end) && b->source_pitch % 2 == 0 &&
         b->destination_pitch % 2 == 0;
}

static tf_status move_block(void *user, const tf_block *block) {
  move *m = user;
  bool fills = m->is_fill || block->clipped;
  bool done = false;
  tf_status status = TF_OK;
  if (!is_whole_bytes(m, block)) return TF_UNSUPPORTED;
  if (!fills && block->rows > 1 && is_pitch(m, block->source_pitch) && is_pitch(m, block->destination_pitch))
    status = copy_rows(m, block, &done);
  if (done) return status;
  for (int64_t row = 0; row < block->rows && status == TF_OK; row++) {
    int64_t to = block->destination + row * block->destination_pitch;
    status = fills ? fill_row(m, to, block->count)
                   : copy_row(m, block->source + row * block->source_pitch, to, block->count);
  }
  return status;
}

/* ---- Copies and fills -------------------------------------------------------------------------------------------- */

/* Faults of the walk have no message yet; the driver's have theirs. */
static int32_t run_move(move *m, const tf_compiled_place *place) {
  int outside = -1;
  tf_status status = tf_strided_walk(m->source, m->destination, move_block, m, &outside);
  if (status == TF_LAUNCH && outside >= 0)
    return fail(m->frame, place, TF_LAUNCH, outside ? m->destination->name : m->source->name,
                "the window leaves its tensor");
  if (status == TF_UNSUPPORTED && tf_element_bits(m->element) < 8)
    return fail(m->frame, place, status, m->destination->name, "the window begins or ends inside a byte");
  return (int32_t)status;
}

/* The bytes from the view's first element to its last; of a clipped one those of its storage. */
static tf_host_range range_of(const tf_compiled_view *v, tf_element element) {
  int64_t low = v->offset, high = v->offset;
  for (int64_t i = 0; i < v->mode_count && !v->clip_count; i++) {
    int64_t reach = (v->modes[i].extent - 1) * v->modes[i].stride; /* fits: the view is inside of its storage */
    *(reach < 0 ? &low : &high) += reach;
  }
  if (v->clip_count) low = 0, high = v->size - 1;
  return (tf_host_range){address_of(v, element, low), v->data + tf_element_bytes(element, (uint64_t)high + 1)};
}

/* Before host memory takes part in a move: what runs still is waited for if host code fills, and the move's own copies
 * are to be waited for later. In a capture there is nothing to wait for, but what will be written is not to be read. */
static tf_status prepare_host(move *m) {
  tf_frame *f = m->frame;
  bool to_host = m->destination->is_host, from_host = m->source->is_host && !m->is_fill;
  if (!to_host && !from_host) return TF_OK;
  tf_status status = tf_capture_ask(f, &m->capturing);
  if (status != TF_OK) return status;
  if (m->capturing) {
    bool inside = m->destination->clip_count || tf_view_is_inside(m->destination);
    return to_host && inside ? tf_capture_note_write(f, range_of(m->destination, m->element)) : TF_OK;
  }
  if (to_host && (m->is_fill || m->source->clip_count)) status = tf_frame_settle(f);
  if (status == TF_OK && !m->is_fill) f->root->unsettled = true;
  return status;
}

static uint64_t byte_pattern(tf_element element, uint64_t bits) {
  return tf_element_bits(element) < 8 ? (bits & 15) | (bits & 15) << 4 : bits;
}

int32_t tf_compiled_copy(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *source,
                         const tf_compiled_view *destination) {
  tf_frame *f = tf_frame_of(call);
  tf_element element = (tf_element)destination->dtype;
  move m = {.frame = f,
            .rt = f->program->runtime,
            .source = source,
            .destination = destination,
            .element = element,
            .pattern = byte_pattern(element, source->clip_bits)};
  int64_t count = tf_view_count(destination);
  if (count < 0 || count != tf_view_count(source))
    return fail(f, place, TF_LAUNCH, destination->name, "source and destination differ in their number of elements");
  if (count == 0) return TF_OK;
  tf_status status = prepare_host(&m);
  return status == TF_OK ? run_move(&m, place) : (int32_t)status;
}

int32_t tf_compiled_fill(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *destination,
                         uint64_t bits) {
  tf_frame *f = tf_frame_of(call);
  tf_element element = (tf_element)destination->dtype;
  move m = {.frame = f,
            .rt = f->program->runtime,
            .source = destination,
            .destination = destination,
            .element = element,
            .pattern = byte_pattern(element, bits),
            .is_fill = true};
  int64_t count = tf_view_count(destination);
  if (count == 0) return TF_OK;
  if (count < 0) return fail(f, place, TF_LAUNCH, destination->name, "more than 64 bits of elements");
  tf_status status = prepare_host(&m);
  return status == TF_OK ? run_move(&m, place) : (int32_t)status;
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

static int32_t fail_index(const tf_frame *f, const tf_compiled_place *place, const tf_compiled_view *v, int64_t axis,
                          int64_t index) {
  char why[128];
  snprintf(why, sizeof why, "load: index %" PRId64 " on axis %" PRId64 " is outside [0, %" PRId64 ")", index, axis,
           v->shape[axis]);
  return fail(f, place, TF_LAUNCH, v->name, why);
}

int32_t tf_compiled_load(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *source,
                         const int64_t *indices, uint64_t *bits) {
  tf_frame *f = tf_frame_of(call);
  int64_t flat = 0, position = 0;
  for (int64_t axis = 0; axis < source->rank; axis++) {
    if (indices[axis] < 0 || indices[axis] >= source->shape[axis])
      return fail_index(f, place, source, axis, indices[axis]);
    flat = flat * source->shape[axis] + indices[axis];
  }
  tf_position found = tf_view_position(source, flat, &position);
  if (found == TF_POSITION_OUTSIDE) return fail(f, place, TF_LAUNCH, source->name, "the window leaves its tensor");
  tf_status status = tf_frame_settle(f);
  if (status != TF_OK) return (int32_t)status;
  *bits = source->clip_bits;
  if (found == TF_POSITION_CLIPPED) return TF_OK;
  tf_element element = (tf_element)source->dtype;
  uint64_t from = address_of(source, element, position), bytes = tf_element_bytes(element, 1);
  if (tf_capture_writes(f, (tf_host_range){from, from + bytes}))
    return fail(f, place, TF_UNSUPPORTED, source->name,
                "load: the stream is being captured into a graph that writes this element when it runs, so it has no "
                "value yet: load it in a call of its own after the graph has run");
  *bits = 0;
  memcpy(bits, host_pointer(from), (size_t)bytes);
  return TF_OK;
}
