/* Reaching elements: which ones does the executing thread handle, and where do they lie?
 *
 * An element-wise statement pairs operands by logical index. One operand, the *driver*, says which elements this thread
 * handles; the others are addressed from the driver's elements:
 *
 *        driver   a list of factors over the common shape     (16, 8):   {2: 1} {4 lanes: 2} {8 lanes: 8} {2: 64}
 *                 mesh factors: digit known per thread             \        \________ _______/              /
 *                 local factors: digit counts the                   \                V                    /
 *                 thread's own elements                              `---> position p = 0 … n-1  <-------'
 *
 *        access   one operand seen from the driver: what one step of each factor means in its storage
 *                   memory, strides (ld, 1):   steps  1, 2, ld, 8*ld
 *                     pointer(p) = base + window start + mesh digits * steps      once per statement (hoisted)
 *                                       + local digits(p) * steps                 a constant: the offset field of ld/st
 *                   registers:  q(p), a table of constants
 *
 * Which operand drives: the first that every other can be reached from, among: a register destination, a sharded memory
 * destination, register sources in order, sharded memory sources, the destination. So a fragment that is stored to a
 * plain window writes its own elements, a plain-to-plain copy walks the whole destination (dealt out over the threads
 * when all of them execute the statement with the same views).
 *
 * Vectors. Positions are visited in chunks of `width` that differ only in the innermost digits of the local factor
 * whose step is 1 in memory; a chunk becomes one access of 16, 8, 4, 2 or 1 bytes where base alignment, starts, mesh
 * steps and pitch prove it aligned and contiguous, else as many as needed. All values of a chunk travel as one LLVM
 * vector of the dtype's memory type (a plain value for width 1).
 *
 * Offsets are counted in elements, in 32 bits modulo 2^32 where every valid offset of the storage fits, else in 64. */
#ifndef TF_LOWER_ACCESS_H
#define TF_LOWER_ACCESS_H

#include "LowerToLLVM/Lowering.h"

/* A tensor operand, resolved: the view down to its storage. Rank-0 operands are no tensors; see tf_operand. */
typedef struct tf_tensor {
  const tf_expr *expr;
  const tf_view *view;
  const tf_type *type; /* of the viewed value */
  tf_dtype dtype;
  tf_storage storage;
  bool is_const;        /* a ConstTensor parameter: loads are invariant */
  LLVMTypeRef element;  /* memory type */
  LLVMValueRef pointer; /* element 0 of the base storage */
  unsigned alignment;   /* of the pointer, bytes */
  bool wide;            /* offsets need 64 bits */
} tf_tensor;
tf_tensor tf_tensor_of(tf_lowering *lowering, const tf_expr *expr);
bool tf_tensor_is_register(const tf_tensor *tensor);

/* Remarks, once per statement, if the tensor lives in registers and this keeps it in local memory: an index that is known at
 * run time only (and is no loop variable, of which the loop's own remark speaks), or its address (LocalMemory.c). */
void tf_lower_note_index(tf_lowering *lowering, const tf_tensor *tensor, const tf_expr *index);
void tf_lower_note_address(tf_lowering *lowering, const tf_tensor *tensor);

/* ---- Drivers ---- */
typedef struct tf_digit {
  const tf_dim *extent;
  const tf_dim *step; /* in the logical index of the driver's shape */
  bool is_local;
  bool is_cta;        /* walked by CTAs: never moves an address in shared memory or registers */
  LLVMValueRef value; /* i32: this thread's digit, or the loop's that walks a local one; null: from the position */
  int64_t stride;     /* local digits: positions per step; 0 if a loop walks it */
  /* Mesh digits: (coordinate on mesh_axis / divisor) % extent. */
  const tf_placement *placement;
  unsigned mesh_axis;
  int64_t divisor;
} tf_digit;

typedef struct tf_driver {
  unsigned rank;
  const tf_dim *shape[TF_MAX_RANK]; /* common shape of the statement */
  const tf_type *type;              /* of the tensor whose ownership drives */
  const tf_ownership *ownership;    /* null: dealt out by the compiler */
  unsigned digit_count;
  tf_digit digits[TF_MAX_FACTORS];
  unsigned local_count;
  unsigned local[TF_MAX_FACTORS]; /* digits that count through the thread's own elements, leftmost fastest:
                                     position = sum of digit * stride */
  int64_t count;                  /* positions; -1 if only known at run time */
  const tf_dim *limit;            /* not null: elements at logical indices >= limit do not exist (the tail of a deal) */
  LLVMValueRef seen;              /* not null: a table of which elements exist for which thread (Varying.c) */
  unsigned seen_width
      [TF_MAX_FACTORS]; /* with it, per local digit: aligned chunks of that many exist as a whole or not at all */
} tf_driver;

/* The elements of a tensor that the executing thread holds or sees. */
bool tf_driver_of(tf_lowering *lowering, const tf_tensor *tensor, tf_driver *out);
/* The digit of local digit `which` (an index into driver->local) at a position. */
int64_t tf_driver_local_digit(const tf_driver *driver, int64_t position, unsigned which);

/* ---- Accesses ---- */
typedef struct tf_access {
  const tf_tensor *tensor;
  const tf_driver *driver;
  const int32_t *registers; /* register tensors: the number that holds each position */
  LLVMValueRef table;       /* registers that differ between threads: numbers by thread and position, or, with a
                                       projection, by logical index */
  LLVMValueRef start;       /* what is the same for all threads and positions, as an offset; null: 0 */
  int64_t divisor;          /* divides start; 0: it is 0 */
  struct tf_projection
      *projection;      /* memory tensors: what the element adds to it; with a table: the logical index; Project.h */
  LLVMValueRef pointer; /* pointer of start and the thread's digits; null with a swizzle */
  struct tf_projection *clips; /* coordinates of the view's clipped axes, without the window's starts */
} tf_access;

/* How a tensor is reached from the driver's positions, with NumPy's broadcasting from the tensor's shape to the
 * driver's (equal element counts with other shapes pair in C order). False if its registers are not at positions that
 * are the same for all threads: try another driver. */
bool tf_access_of(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out);

/* Elements per memory access for chunks of positions that start at multiples of `width` along the local digit `inner`
 * (an index into driver->local): the largest power of two <= width that is provably contiguous and aligned; 1 at least.
 */
unsigned tf_access_width(tf_lowering *lowering, const tf_access *access, unsigned inner, unsigned width);
/* The position that stands for all at which memory gives the same element, this one among them: of the digits along which the
 * tensor is broadcast, the first. */
int64_t tf_access_place(const tf_access *access, int64_t position);
/* Different elements that memory gives, for each of the thread's positions: 1, or less where the tensor is broadcast. */
double tf_access_share(const tf_access *access);
/* Values of positions p, p + s, …, p + (width-1)*s, s the local stride of the local digit `inner`. Clipped elements
 * read as the clip value; stores leave them alone. */
LLVMValueRef tf_access_load(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner,
                            unsigned width);
void tf_access_store(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner, unsigned width,
                     LLVMValueRef value);
/* Whether the element at p exists: it lies inside a clipped view's source, and below the driver's limit. i1; null:
 * provably. */
LLVMValueRef tf_access_inside(tf_lowering *lowering, const tf_access *access, int64_t position);
/* What reads outside give. */
LLVMValueRef tf_tensor_clip_value(tf_lowering *lowering, const tf_tensor *tensor);
/* A load or store of `width` elements at a pointer; loads of ConstTensors are marked invariant. */
LLVMValueRef tf_tensor_load(tf_lowering *lowering, const tf_tensor *tensor, LLVMValueRef pointer, unsigned width,
                            unsigned alignment);
void tf_tensor_store(tf_lowering *lowering, LLVMValueRef pointer, LLVMValueRef value, unsigned alignment);

/* ---- Registers directly: a fragment's local values by number, for mma and reductions ---- */
/* Number in the base allocation of each local value of the (possibly windowed) register tensor; null if the window's
 * start is only known at run time. Count is the view's local number of elements. */
const int32_t *tf_tensor_registers(tf_lowering *lowering, const tf_tensor *tensor, int64_t *count);
LLVMValueRef tf_register_load(tf_lowering *lowering, const tf_tensor *tensor, int64_t number);
void tf_register_store(tf_lowering *lowering, const tf_tensor *tensor, int64_t number, LLVMValueRef value);

/* ---- Memory directly: an element at run-time coordinates, for ldmatrix and T.load ---- */
/* Pointer to element (c0, c1, …); coordinates are i32 or i64 values. On axes that a Split cuts, and for registers, they
 * count the thread's own elements from its first. */
LLVMValueRef tf_tensor_element(tf_lowering *lowering, const tf_tensor *tensor, unsigned rank,
                               const LLVMValueRef *coordinates);
/* The element at scalar expressions, in memory type; the clip value outside of a clipped view's source. */
LLVMValueRef tf_tensor_load_element(tf_lowering *lowering, const tf_tensor *tensor, unsigned rank,
                                    const tf_expr *const *indices);
/* Constant and starts of the view as an offset from tensor->pointer, of the tensor's offset width; null: 0. */
LLVMValueRef tf_tensor_start(tf_lowering *lowering, const tf_tensor *tensor, int64_t *divisor);
/* tensor->pointer + offset (null: 0) + constant elements; through the swizzle if the view has one. */
LLVMValueRef tf_tensor_pointer(tf_lowering *lowering, const tf_tensor *tensor, LLVMValueRef offset, int64_t constant);

/* ---- Element-wise statements ---- */
/* A source of an element-wise statement: a tensor, or a scalar of a dtype, splat. */
typedef struct tf_operand {
  bool is_scalar;
  tf_dtype dtype;
  LLVMValueRef scalar; /* in memory type */
  tf_tensor tensor;
} tf_operand;
tf_operand tf_operand_of(tf_lowering *lowering, const tf_expr *expr);

/* Computes `width` results (memory type of dst) from `width` values of each source. */
typedef struct tf_chunk {
  const tf_driver *driver;
  int64_t position;
  unsigned inner, width;
  LLVMValueRef sources[4];
} tf_chunk;
typedef LLVMValueRef tf_chunk_fn(tf_lowering *lowering, const tf_chunk *chunk, const void *user);

/* dst[…] = compute(sources[…]) over the elements that this thread handles: picks the driver, the chunks and the
 * accesses, reads every chunk of a batch before it writes, guards clipped elements. */
void tf_lower_elementwise(tf_lowering *lowering, const tf_expr *dst, unsigned source_count, const tf_operand *sources,
                          tf_chunk_fn *compute, const void *user);
void tf_lower_elements(tf_lowering *lowering, const tf_tensor *destination, unsigned source_count,
                       const tf_operand *sources, tf_chunk_fn *compute, const void *user);

#endif
