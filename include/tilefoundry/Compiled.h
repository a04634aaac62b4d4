/* What compiled entries and the runtime agree on: the binary interface between machine code of host functions (made by
 * the compiler, in this process or ahead of time) and libtilefoundry-runtime. Programs never call these functions
 * themselves; they pass tf_compiled_entry tables to tf_program_load or call what a generated header declares.
 *
 *     your program ──▶ tf_entry_call | NAME(runtime, stream, …)          arguments are checked: Runtime.h
 *                        └─▶ tf_compiled_fn(call, values)                the host function's machine code
 *                              └─▶ call->api->launch, copy, fill, …      checks and driver calls: the runtime again
 *
 * Everything that can be refused is checked by the runtime, for machine code in the same way as for the plan of a
 * manifest. Machine code only computes scalars, decides what runs, and returns the first status that is not TF_OK.
 *
 * Rules that keep objects and runtimes of different versions together: all fields are 8 bytes wide (integers, pointers,
 * doubles), so a struct is an array of words; structs and the function table only grow at the end, and an object says
 * how much of the table it uses; the numbers below never change their meaning. Calls use the platform's C convention.
 *
 * dtypes are numbered by the rows of DTypes.def from 0; rows are only ever added at its end. Bits of a scalar stand in the
 * low end of a word, everything above the dtype's width is zero. */
#ifndef TILEFOUNDRY_COMPILED_H
#define TILEFOUNDRY_COMPILED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the rules above. A runtime refuses objects of another version. */
#define TF_COMPILED_VERSION 1

typedef struct tf_compiled_api tf_compiled_api;

/* A call of a host function in progress: the runtime's, of which machine code sees the first word. It belongs to one
 * thread and ends with the function; temporaries that are still there are freed then, however it ends. */
typedef struct tf_call {
  const tf_compiled_api *api;
} tf_call;

/* A parameter of the host function, checked against its declaration. */
typedef struct tf_compiled_value {
  uint64_t bits;        /* tensor: the address of element (0, …, 0); scalar: its bits */
  const int64_t *shape; /* tensor: its extents; scalar: null */
} tf_compiled_value;

/* A host function: one value for each declared parameter. Returns a tf_status; what is not TF_OK has been recorded with
 * its message by the table's function that gave it. */
typedef int32_t tf_compiled_fn(tf_call *call, const tf_compiled_value *values);

typedef struct tf_compiled_entry {
  const char *name;
  tf_compiled_fn *function;
} tf_compiled_entry;

/* Where in the source a statement stands, for messages; file may be null (unknown). */
typedef struct tf_compiled_place {
  const char *file;
  int64_t line, column;
} tf_compiled_place;

/* A factor of an axis: the axis's coordinate is a mixed-radix number over its modes. */
typedef struct tf_compiled_mode {
  int64_t axis, extent, stride; /* stride in elements */
} tf_compiled_mode;

/* Coordinates c of a clipped axis with start + c outside of [0, extent) have no element. */
typedef struct tf_compiled_clip {
  int64_t axis; /* of the view; -1: an axis that the window dropped, c is 0 */
  int64_t start, extent;
} tf_compiled_clip;

/* A window of a parameter or temporary, by its storage:
 *
 *   address(coordinates) = data + bytes(offset + sum of digit * stride over the modes)
 *
 * Modes go from slow to fast in C order of the view's logical index: axis by axis, and inside of an axis the slowest
 * first. The product of an axis's modes is its extent. */
typedef struct tf_compiled_view {
  const char *name; /* of the parameter or temporary */
  uint64_t data;    /* address of the storage */
  int64_t size;     /* elements of the storage */
  int64_t offset;   /* elements; of the view's first one */
  int64_t dtype;    /* row of DTypes.def */
  int64_t is_host;  /* 1: host memory, 0: device memory */
  int64_t rank;
  const int64_t *shape; /* rank extents, >= 0 */
  int64_t mode_count;
  const tf_compiled_mode *modes;
  int64_t clip_count;
  const tf_compiled_clip *clips;
  uint64_t clip_bits; /* what clipped elements read as */
} tf_compiled_view;

/* An argument of a launch or call. */
typedef enum tf_compiled_argument_kind {
  TF_COMPILED_PARAM, /* bits: the number of the host function's own parameter, passed on as it came */
  TF_COMPILED_VIEW,  /* view */
  TF_COMPILED_BITS,  /* bits, in the callee's dtype */
  TF_COMPILED_INT,   /* bits: an int64_t that must be representable in the callee's dtype */
  TF_COMPILED_FLOAT  /* bits: a double that is rounded to the callee's dtype */
} tf_compiled_argument_kind;

typedef struct tf_compiled_argument {
  int64_t kind;
  uint64_t bits;
  const tf_compiled_view *view;
} tf_compiled_argument;

/* Bits of tf_compiled_launch.flags. */
typedef enum tf_compiled_launch_flag {
  TF_COMPILED_COOPERATIVE = 1,
  TF_COMPILED_SERIALIZATION = 2, /* programmatic stream serialization */
  TF_COMPILED_PASSED = 4,    /* the arguments are the host function's own parameters in order, and the kernel declares
                                  * the same ones: what was solved and checked for them holds; arguments is not read */
  TF_COMPILED_STREAM = 8,    /* on `stream`, not on the call's */
  TF_COMPILED_OWN_GRID = 16, /* the kernel's own number of CTAs; grid is not read */
  TF_COMPILED_OWN_BLOCK = 32 /* the kernel's own number of threads; block is not read */
} tf_compiled_launch_flag;

typedef struct tf_compiled_launch {
  int64_t kernel;            /* index in the manifest's kernels */
  int64_t grid[3], block[3]; /* CTAs, threads */
  int64_t cluster[3];        /* all three 0: none */
  int64_t dynamic_smem;      /* bytes beyond the kernel's own */
  int64_t flags;
  uint64_t stream;
  int64_t argument_count;
  const tf_compiled_argument *arguments;
} tf_compiled_launch;

/* Why a host function stops itself. */
typedef enum tf_compiled_fault {
  TF_COMPILED_ABORT,    /* `text` is the author's message: TF_TRAP */
  TF_COMPILED_OVERFLOW, /* an integer result has more than 64 bits: TF_LAUNCH, like the following */
  TF_COMPILED_DIVISION, /* // or % by 0 */
  TF_COMPILED_SHIFT,    /* by less than 0 or more than 63 */
  TF_COMPILED_WINDOW    /* a window without clip leaves its tensor on an axis */
} tf_compiled_fault;

/* The runtime's functions. All of them may be called from a tf_compiled_fn only, with its call. Those that return
 * int32_t return a tf_status, after recording what went wrong at the place; then the caller returns it. `what` is what
 * a message names besides the function (a kernel, a parameter), or null. */
struct tf_compiled_api {
  int64_t size; /* bytes of this table */

  /* Launches a kernel, with the checks of tf_entry_call: windows inside of their storage, C order or the kernel's own
   * strides, alignment, dims, geometry, limits, co-residency. */
  int32_t (*launch)(tf_call *call, const tf_compiled_place *place, const tf_compiled_launch *launch);
  /* Calls another host function, entries[entry] of the manifest, checked like a launch. */
  int32_t (*call)(tf_call *call, const tf_compiled_place *place, int64_t entry, const tf_compiled_argument *arguments,
                  int64_t count);

  /* A temporary of that many elements in device or host memory. Device memory is taken and given back in the order of the
   * call's stream. The contents are undefined. If that stream is being captured it is the graph's memory. */
  int32_t (*allocate)(tf_call *call, const tf_compiled_place *place, const char *name, int64_t dtype, int64_t is_host,
                      int64_t elements, uint64_t *address);
  /* How many temporaries are there now, and: frees all but the first `mark`. */
  int64_t (*mark)(tf_call *call);
  int32_t (*release)(tf_call *call, int64_t mark);

  /* Element by element in C order of both views, which have equally many elements of one dtype, in stream order; at least
   * one of them is in device memory. Clipped elements of the source read as clip_bits, those of the destination are left
   * out. */
  int32_t (*copy)(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *source,
                  const tf_compiled_view *destination);
  /* The element everywhere, in stream order. */
  int32_t (*fill)(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *destination, uint64_t bits);
  /* One element of a view in host memory; waits for copies that are still writing host memory, and refuses an element that
   * the graph will write into which the call's stream is being captured. */
  int32_t (*load)(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *source, const int64_t *indices,
                  uint64_t *bits);

  /* Records why the function stops; returns the status to return. text: the message of an abort, else null. */
  int32_t (*fail)(tf_call *call, const tf_compiled_place *place, int64_t fault, const char *what, const char *text);

  /* Numbers of the dtypes that C lacks, as doubles, which hold all of their values. decode is exact; encode rounds once,
   * as the language's casts do; round is decode after encode; from_int rounds an integer (of uint64_t if is_unsigned)
   * once. */
  double (*decode)(int64_t dtype, uint64_t bits);
  uint64_t (*encode)(int64_t dtype, double value);
  double (*round)(int64_t dtype, double value);
  double (*from_int)(int64_t dtype, int64_t value, int64_t is_unsigned);
  /* Python's // and % of doubles; x // 0 is x / 0, x % 0 is NaN. */
  double (*floor_div)(double a, double b);
  double (*floor_mod)(double a, double b);
};

/* What an object that was compiled ahead of time carries: kernels, their description, and its host functions. Constant and
 * linked into the program; tf_compiled_call loads it once per runtime. */
typedef struct tf_compiled_unit {
  uint64_t version;  /* TF_COMPILED_VERSION of its compiler */
  uint64_t api_size; /* bytes of the function table that its code may use */
  const char *name;  /* for messages */
  const char *ptx;
  uint64_t ptx_size;
  const void *cubin; /* null: none */
  uint64_t cubin_size;
  const char *manifest; /* JSON of docs/manifest.schema.json */
  uint64_t manifest_size;
  uint64_t entry_count; /* as many as the manifest has, in its order */
  const tf_compiled_entry *entries;
} tf_compiled_unit;

#ifdef __cplusplus
}
#endif
#endif
