/* Element-wise statements: who drives, how wide the chunks are, which digits become loops, and the emission.
 *
 *   for (loops …)                                    digits that are symbolic or long, when no register is involved
 *     batch:  load chunk 0 … k of every source       loads first: they are in flight together, and an operand that
 *             compute, store chunk 0 … k             aliases the destination is read before it is written; what is
 *                                                    broadcast is loaded once for all batches
 *
 * Chunks lie along one local digit: the one that needs the fewest accesses to memory. Registers do not care about order, so they
 * never decide unless nothing else is there. */
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Project.h"
#include "LowerToLLVM/Walk.h"

#include "IR/DimImpl.h"

/* Positions that are unrolled at most when no register is involved; beyond that, loops. */
#define MAX_UNROLLED 64
/* Bytes of one source that a batch holds in registers. */
#define BATCH_BYTES  128

tf_operand tf_operand_of(tf_lowering *lowering, const tf_expr *expr) {
  tf_operand operand = {.is_scalar = tf_is_scalar(expr), .dtype = tf_type_dtype(expr->type)};
  if (operand.is_scalar)
    operand.scalar = tf_to_memory(lowering, tf_lower_scalar(lowering, expr), operand.dtype, 1);
  else
    operand.tensor = tf_tensor_of(lowering, expr);
  return operand;
}

/* ---- The driver ---- */
static bool is_sharded(const tf_tensor *tensor) {
  return tensor->view->ownership && tensor->view->ownership->mesh;
}

/* Rank of a tensor as a driver, lower first; see Access.h. */
static int preference(const tf_tensor *tensor, bool is_destination) {
  if (tf_tensor_is_register(tensor)) return is_destination ? 0 : 2;
  if (is_sharded(tensor)) return is_destination ? 1 : 3;
  return is_destination ? 4 : 5;
}

/* Elements of the destination that a tensor of smaller shape holds: its axes of extent 1 become local digits. */
static bool covers_shape(tf_lowering *lowering, const tf_driver *driver, const tf_tensor *destination) {
  return tf_type_numel(lowering->context, driver->type) == tf_type_numel(lowering->context, destination->type);
}

/* A thread writes only what it sees of the destination: a source may drive a sharded destination if each thread's elements
 * of the source are all among its elements of the destination. */
static bool stays_inside(tf_lowering *lowering, const tf_walk *walk, const tf_tensor *tensor) {
  const tf_tensor *destination = &walk->destination;
  if (walk->overlaps || tensor == destination || tf_tensor_is_register(destination) || !is_sharded(destination))
    return true;
  if (walk->driver.ownership == destination->view->ownership) return true;
  const tf_pairing *pairing = tf_lower_pairing(lowering, walk->driver.ownership, walk->driver.type,
                                               destination->view->ownership, destination->type);
  return !pairing || pairing->kind != TF_PAIRING_MISSING;
}

typedef bool access_fn(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out);

static bool try_driver(tf_lowering *lowering, tf_walk *walk, const tf_tensor *tensor, access_fn *access) {
  if (!tf_driver_of(lowering, tensor, &walk->driver) || !covers_shape(lowering, &walk->driver, &walk->destination))
    return false;
  if (!stays_inside(lowering, walk, tensor)) return false;
  walk->has_registers = false;
  if (!access(lowering, &walk->destination, &walk->driver, &walk->store)) return false;
  walk->has_registers = walk->store.registers != NULL;
  for (unsigned i = 0; i < walk->source_count; i++) {
    if (walk->sources[i].is_scalar) continue;
    if (!access(lowering, &walk->sources[i].tensor, &walk->driver, &walk->loads[i])) return false;
    walk->has_registers |= walk->loads[i].registers != NULL;
  }
  return true;
}

static bool choose_driver(tf_lowering *lowering, tf_walk *walk, access_fn *access) {
  for (int rank = 0; rank <= 5; rank++) {
    if (preference(&walk->destination, true) == rank && try_driver(lowering, walk, &walk->destination, access))
      return true;
    for (unsigned i = 0; i < walk->source_count; i++) {
      const tf_operand *source = &walk->sources[i];
      if (!source->is_scalar && preference(&source->tensor, false) == rank &&
          try_driver(lowering, walk, &source->tensor, access))
        return true;
    }
  }
  return false;
}

/* Threads that hold in registers less than they see of a shared destination, and other things besides: each stores what is
 * both. A register source drives, without the elements that its thread does not see of the destination. */
static bool choose_overlap(tf_lowering *lowering, tf_walk *walk) {
  const tf_tensor *destination = &walk->destination;
  if (tf_tensor_is_register(destination) || !is_sharded(destination)) return false;
  for (unsigned i = 0; i < walk->source_count; i++) {
    const tf_operand *source = &walk->sources[i];
    if (source->is_scalar || !tf_tensor_is_register(&source->tensor)) continue;
    walk->overlaps = true;
    if (try_driver(lowering, walk, &source->tensor, tf_access_varying) &&
        tf_driver_keep_seen(lowering, destination, &walk->driver))
      return true;
  }
  return walk->overlaps = false;
}

/* ---- Chunks ---- */
static unsigned smallest_bytes(const tf_walk *walk) {
  unsigned bytes = tf_dtype_bytes(walk->destination.dtype);
  for (unsigned i = 0; i < walk->source_count; i++) {
    unsigned other = walk->sources[i].is_scalar ? bytes : tf_dtype_bytes(walk->sources[i].tensor.dtype);
    if (other < bytes) bytes = other;
  }
  return bytes;
}

/* The largest power of two that divides the digit's extent, up to 16 bytes of the narrowest operand. A digit of unknown
 * extent counts by what provably divides it. */
static unsigned chunk_limit(const tf_walk *walk, unsigned inner) {
  int64_t divisor = tf_dim_divisor(walk->driver.digits[walk->driver.local[inner]].extent);
  unsigned width = 16 / smallest_bytes(walk);
  while (walk->overlaps && width > walk->driver.seen_width[inner])
    width /= 2;
  while (width > 1 && divisor % width != 0)
    width /= 2;
  return width;
}

/* Widest access of any memory operand along this digit; 0 if there is no memory operand. */
static unsigned memory_width(tf_lowering *lowering, const tf_walk *walk, const tf_access *access, unsigned inner) {
  if (access->registers || !access->tensor) return 0;
  return tf_access_width(lowering, access, inner, chunk_limit(walk, inner));
}

static unsigned width_along(tf_lowering *lowering, const tf_walk *walk, unsigned inner) {
  unsigned width = memory_width(lowering, walk, &walk->store, inner);
  for (unsigned i = 0; i < walk->source_count; i++) {
    unsigned other = memory_width(lowering, walk, &walk->loads[i], inner);
    if (other > width) width = other;
  }
  return width;
}

static bool is_packed(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) == TF_CLASS_FLOAT && tf_dtype_bits(dtype) <= 16;
}

/* Pairs where a small float is involved, so that packed arithmetic and conversions apply; single values otherwise. */
static unsigned register_width(const tf_walk *walk) {
  bool packed = is_packed(walk->destination.dtype);
  for (unsigned i = 0; i < walk->source_count; i++)
    packed |= !walk->sources[i].is_scalar && is_packed(walk->sources[i].tensor.dtype);
  return packed && chunk_limit(walk, 0) >= 2 ? 2 : 1;
}

/* Memory accesses for each element of the destination with chunks along a digit: fewer for wide accesses, and for what is broadcast
 * and read once for many elements. */
static double accesses_along(tf_lowering *lowering, const tf_walk *walk, const tf_access *access, unsigned inner) {
  unsigned width = memory_width(lowering, walk, access, inner);
  return width > 0 ? tf_access_share(access) / width : 0;
}

static double cost_along(tf_lowering *lowering, const tf_walk *walk, unsigned inner) {
  double cost = accesses_along(lowering, walk, &walk->store, inner);
  for (unsigned i = 0; i < walk->source_count; i++)
    cost += accesses_along(lowering, walk, &walk->loads[i], inner);
  return cost;
}

/* Returns the accesses for each element. */
static double choose_chunks(tf_lowering *lowering, tf_walk *walk) {
  walk->inner = 0;
  walk->width = 1;
  if (walk->driver.local_count == 0) return 0;
  unsigned best = 0;
  double least = 0;
  for (unsigned i = 0; i < walk->driver.local_count; i++) {
    unsigned width = width_along(lowering, walk, i);
    double cost = cost_along(lowering, walk, i);
    if (i == 0 || cost < least || (cost == least && width > best)) {
      best = width;
      least = cost;
      walk->inner = i;
    }
  }
  walk->width = best;
  if (best <= 1) walk->inner = 0;
  if (best == 0 || (best == 1 && walk->has_registers)) walk->width = register_width(walk);
  return least;
}

static void renumber(tf_lowering *lowering, tf_walk *walk) {
  tf_driver_number(&walk->driver);
  tf_access_of(lowering, &walk->destination, &walk->driver, &walk->store);
  for (unsigned i = 0; i < walk->source_count; i++)
    if (!walk->sources[i].is_scalar) tf_access_of(lowering, &walk->sources[i].tensor, &walk->driver, &walk->loads[i]);
}

/* Whether a digit goes through an axis of the operand's memory and on through the next one. */
static bool crosses_axes(const tf_walk *walk, const tf_access *access) {
  for (unsigned i = 0; access->projection && i < walk->driver.local_count; i++)
    if (!access->projection->steps[walk->driver.local[i]]) return true;
  return false;
}

/* Digits that continue each other are one, which is good where memory goes on, too, and bad where a chunk should lie along their
 * upper part: columns 8 apart and then the next row, in a tensor whose rows lie side by side. */
static void cut_at_axes(tf_lowering *lowering, tf_walk *walk, double joined) {
  bool crosses = crosses_axes(walk, &walk->store);
  for (unsigned i = 0; i < walk->source_count; i++)
    crosses = crosses || crosses_axes(walk, &walk->loads[i]);
  const tf_driver before = walk->driver;
  if (!crosses || !tf_driver_split_axes(lowering, &walk->driver)) return;
  renumber(lowering, walk);
  if (choose_chunks(lowering, walk) < joined) return;
  walk->driver = before;
  renumber(lowering, walk);
  (void)choose_chunks(lowering, walk);
}

/* ---- Loops ---- */
static int64_t chunk_count(const tf_driver *driver, unsigned width) {
  return driver->count < 0 ? INT64_MAX : driver->count / width;
}

static void open_loops(tf_lowering *lowering, tf_walk *walk) {
  tf_driver *driver = &walk->driver;
  if (walk->has_registers || chunk_count(driver, walk->width) <= MAX_UNROLLED / walk->width) return;
  if (driver->local_count > 0) tf_driver_cut(lowering, driver, walk->inner, walk->width);
  tf_driver_number(driver);
  for (unsigned i = driver->local_count; i-- > 0 && chunk_count(driver, walk->width) > MAX_UNROLLED / walk->width;) {
    if (i == walk->inner) continue;
    tf_digit *digit = &driver->digits[driver->local[i]];
    tf_lower_loop_begin(lowering, tf_lower_dim32(lowering, digit->extent), &walk->loops[walk->loop_count]);
    digit->value = walk->loops[walk->loop_count++].index;
    tf_driver_number(driver);
  }
  renumber(lowering, walk);
}

void tf_walk_open(tf_lowering *lowering, tf_walk *walk) {
  if (walk->writer) tf_lower_guard_begin(lowering, walk->writer, &walk->guard);
  open_loops(lowering, walk);
}

void tf_walk_close(tf_lowering *lowering, tf_walk *walk) {
  for (unsigned i = walk->loop_count; i-- > 0;)
    tf_lower_loop_end(lowering, &walk->loops[i]);
  if (walk->writer) tf_lower_guard_end(lowering, &walk->guard);
}

/* ---- Emission ---- */
int64_t tf_walk_chunks(const tf_walk *walk) {
  return walk->driver.count / walk->width;
}

int64_t tf_walk_position(const tf_walk *walk, int64_t chunk) {
  const tf_driver *driver = &walk->driver;
  if (driver->local_count == 0) return 0;
  int64_t stride = driver->digits[driver->local[walk->inner]].stride;
  return chunk / stride * stride * walk->width + chunk % stride;
}

/* Elements of a broadcast source are read once: LLVM sees that for itself only where no guard stands around the load and no store
 * between. */
static LLVMValueRef load_source(tf_lowering *lowering, const tf_walk *walk, unsigned source, int64_t position) {
  if (walk->sources[source].is_scalar) return tf_llvm_splat(lowering, walk->sources[source].scalar, walk->width);
  const tf_access *access = &walk->loads[source];
  LLVMValueRef *loaded = &walk->loaded[source][tf_access_place(access, position)];
  if (!*loaded) *loaded = tf_access_load(lowering, access, position, walk->inner, walk->width);
  return *loaded;
}

static bool aliases(const tf_walk *walk) {
  for (unsigned i = 0; i < walk->source_count; i++) {
    const tf_operand *source = &walk->sources[i];
    if (source->is_scalar || source->tensor.view == walk->destination.view) continue;
    if (source->tensor.pointer == walk->destination.pointer) return true;
  }
  return false;
}

static int64_t batch_size(const tf_walk *walk, int64_t chunks) {
  int64_t bytes = (int64_t)walk->width * tf_dtype_bytes(walk->destination.dtype);
  int64_t batch = BATCH_BYTES / (bytes > 0 ? bytes : 1);
  if (aliases(walk)) return chunks;
  return batch < 1 ? 1 : batch < chunks ? batch : chunks;
}

static void emit_batch(tf_lowering *lowering, tf_walk *walk, int64_t first, int64_t count, tf_chunk_fn *compute,
                       const void *user) {
  tf_chunk *chunks = TF_ARENA_ARRAY(lowering->arena, tf_chunk, count);
  for (int64_t i = 0; i < count; i++) {
    chunks[i] = (tf_chunk){.driver = &walk->driver,
                           .position = tf_walk_position(walk, first + i),
                           .inner = walk->inner,
                           .width = walk->width};
    for (unsigned source = 0; source < walk->source_count; source++)
      chunks[i].sources[source] = load_source(lowering, walk, source, chunks[i].position);
  }
  for (int64_t i = 0; i < count; i++) {
    LLVMValueRef value = compute(lowering, &chunks[i], user);
    tf_access_store(lowering, &walk->store, chunks[i].position, walk->inner, walk->width, value);
  }
}

static void emit_chunks(tf_lowering *lowering, tf_walk *walk, tf_chunk_fn *compute, const void *user) {
  int64_t chunks = tf_walk_chunks(walk), batch = batch_size(walk, chunks);
  for (unsigned i = 0; i < walk->source_count; i++)
    walk->loaded[i] = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, walk->driver.count + 1);
  for (int64_t first = 0; first < chunks; first += batch)
    emit_batch(lowering, walk, first, chunks - first < batch ? chunks - first : batch, compute, user);
}

/* ---- Dealing plain copies out ---- */
/* A statement over memory that every thread would repeat: all threads of the block take a share each, if all of them execute
 * it with the same views. */
static bool can_deal(tf_lowering *lowering, const tf_walk *walk, int64_t *threads) {
  const tf_geometry *geometry = lowering->region.geometry;
  *threads = geometry->has_threads ? geometry->block : 1;
  tf_thread_set all = tf_threads_interval(0, *threads);
  if (*threads == 1 || walk->has_registers || !lowering->block_uniform) return false;
  if (!tf_threads_equal(&lowering->region.active, &all) || is_sharded(&walk->destination) || aliases(walk))
    return false;
  if (!tf_lower_view_is_uniform(lowering, walk->destination.view)) return false;
  for (unsigned i = 0; i < walk->source_count; i++) {
    const tf_operand *source = &walk->sources[i];
    if (source->is_scalar || is_sharded(&source->tensor)) return false;
    if (!tf_lower_view_is_uniform(lowering, source->tensor.view)) return false;
  }
  return true;
}

static void deal(tf_lowering *lowering, tf_walk *walk) {
  int64_t threads;
  if (!can_deal(lowering, walk, &threads)) return;
  LLVMValueRef rank = tf_lower_program_id(lowering, TF_LEVEL_THREAD);
  tf_driver_deal(lowering, &walk->driver, walk->width, threads, rank);
  walk->inner = 0;
  renumber(lowering, walk);
  if (walk->driver.local_count > 0 && walk->driver.local[0] != 1) walk->inner = 0;
}

bool tf_walk_plan(tf_lowering *lowering, const tf_tensor *destination, unsigned source_count, const tf_operand *sources,
                  tf_walk *walk) {
  *walk = (tf_walk){.destination = *destination, .source_count = source_count};
  for (unsigned i = 0; i < source_count; i++)
    walk->sources[i] = sources[i];
  bool plain = choose_driver(lowering, walk, tf_access_of);
  if (!plain && !choose_driver(lowering, walk, tf_access_varying) && !choose_overlap(lowering, walk)) {
    tf_report(lowering->context, lowering->loc, LOWER_PAIRING);
    tf_lower_fail(lowering);
    return false;
  }
  double cost = choose_chunks(lowering, walk);
  if (plain && walk->driver.ownership->mesh) cut_at_axes(lowering, walk, cost);
  deal(lowering, walk);
  walk->writer = tf_walk_writer(lowering, walk);
  return true;
}

void tf_lower_elementwise(tf_lowering *lowering, const tf_expr *dst, unsigned source_count, const tf_operand *sources,
                          tf_chunk_fn *compute, const void *user) {
  tf_tensor destination = tf_tensor_of(lowering, dst);
  tf_lower_elements(lowering, &destination, source_count, sources, compute, user);
}

void tf_lower_elements(tf_lowering *lowering, const tf_tensor *destination, unsigned source_count,
                       const tf_operand *sources, tf_chunk_fn *compute, const void *user) {
  tf_walk *walk = TF_ARENA_NEW(lowering->arena, tf_walk);
  if (!tf_walk_plan(lowering, destination, source_count, sources, walk)) return;
  tf_walk_open(lowering, walk);
  emit_chunks(lowering, walk, compute, user);
  tf_walk_close(lowering, walk);
}
