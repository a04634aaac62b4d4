/* The simulated device: a C API that loads PTX text and runs its kernels on the CPU. It knows of no driver; Driver.c puts
 * the CUDA Driver API's calls on top of it.
 *
 * Device addresses are numbers of the device's own (windows with guard gaps), never host pointers, except where memory
 * is mapped on purpose (tf_sim_map_host). Every function is thread-safe: calls on one device take turns on its lock.
 * Nothing here prints or exits; what kernels print goes to the `print` callback. */
#ifndef TF_SIM_SIM_H
#define TF_SIM_SIM_H

#include "tilefoundry/Status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tf_device tf_sim_device;
typedef struct tf_module tf_sim_module;
typedef struct tf_func tf_sim_function;

/* Checkers. mem is always on. */
enum {
  TF_SIM_CHECK_MEM = 1,
  TF_SIM_CHECK_INIT = 2,
  TF_SIM_CHECK_RACE = 4,
  TF_SIM_CHECK_SYNC = 8,
  TF_SIM_CHECK_ALL = 15
};

typedef struct tf_sim_options {
  unsigned checks;     /* TF_SIM_CHECK_… */
  bool counters;       /* fill the reports' counters; slower */
  unsigned threads;    /* worker threads; 0: one per core. 1 makes every launch run in one fixed interleaving */
  bool force_parallel; /* let launches with global atomics use several threads too: faster, not deterministic */
  uint64_t seed;       /* shuffles lane, warp and CTA order; 0: natural order */
  bool adversarial; /* as unkind as the ISA allows, see View.h, Async.h, Insn/Perturb.h; launches run on one worker */
  uint64_t budget;  /* warp instructions a launch may execute; 0: no limit */
  TF_KEEP const int *cancel; /* set to nonzero (atomically, also by a signal handler) to stop launches; may be null */
  bool baseline;             /* do not use the CPU's vector extensions; read by tf_sim_device_create only */
  uint64_t memory; /* bytes of global memory; 0: the profile's, of which the host gives only what is touched */
  void (*print)(void *user, const char *text, size_t length); /* printf and assert output of kernels; null: dropped */
  void *user;
} tf_sim_options;

/* Limits of a device profile; the profiles are the rows of Profiles.def. */
typedef struct tf_sim_profile {
  const char *name;     /* "sm_80" */
  unsigned sm;          /* 80 */
  unsigned max_version; /* newest PTX its driver reads: 90 is 9.0 */
  unsigned multiprocessors, max_threads_per_sm, max_blocks_per_sm, registers_per_sm;
  unsigned shared_per_sm, shared_per_block, shared_optin, reserved_shared;
  unsigned max_cluster; /* CTAs; 0: no clusters */
  unsigned clock_khz, memory_clock_khz, bus_bits, l2_bytes;
  unsigned long long memory_bytes;
  char features;                                                 /* 'a': accepts targets with that suffix */
  unsigned f32_lanes, f64_lanes, tensor_flops, tensor_f64_flops; /* per clock and SM; for estimates */
} tf_sim_profile;

/* Null when there is no such profile. tf_sim_profile_at(i) walks the table and ends in null. */
const tf_sim_profile *tf_sim_profile_find(const char *name);
const tf_sim_profile *tf_sim_profile_at(unsigned index);

/* One kind of fault at one place. Strings live as long as the report. */
typedef struct tf_sim_finding {
  const char *checker; /* "mem", "init", "race", "sync", "hang", "trap" */
  const char *kind;    /* e.g. "out of bounds" */
  const char *text;    /* the whole report, one line, without coordinates */
  const char *kernel;
  uint32_t cta[3], thread[3]; /* of the first occurrence in CTA and thread order */
  uint32_t ptx_line;
  const char *file; /* from .loc; null if unknown */
  uint32_t line;
  bool near; /* the line is of the code before, this instruction has none: the compiler moved it */
  uint64_t address;
  uint32_t bytes;
  uint64_t count;
  bool note; /* worth knowing, no error */
} tf_sim_finding;

/* Counters: what each means is said in Counters.def. */
typedef struct tf_sim_tally {
#define COUNTER(name, text) uint64_t name;
#include "Sim/Counters.def"
} tf_sim_tally;

/* Counters of a launch; zero unless options.counters, except warp_instructions. Begins with the fields of a tally. */
typedef struct tf_sim_counters {
#define COUNTER(name, text) uint64_t name;
#include "Sim/Counters.def"
  uint64_t by_class[16]; /* warp_instructions in the order of tf_class, Insn.h */
} tf_sim_counters;

/* Adds to a tally, or to the beginning of counters. */
void tf_sim_tally_add(void *to, const tf_sim_tally *from);

/* Where the counts come from. Sorted by file and line, by address, by name; strings live as long as the breakdown. */
typedef struct tf_sim_line {
  const char *file; /* of .loc; null: `line` is a line of the PTX text */
  uint32_t line;
  tf_sim_tally tally;
} tf_sim_line;

typedef struct tf_sim_buffer {
  const char *name; /* the kernel's parameter that points into it, the module's variable, or null */
  uint64_t address, bytes;
  uint64_t bytes_read, bytes_written;     /* by lanes, repeated accesses included */
  uint64_t sectors_read, sectors_written; /* different 32-byte sectors */
} tf_sim_buffer;

typedef struct tf_sim_mma {
  const char *name; /* "m16n8k16 f32.bf16.bf16.f32": shape and types as the instruction writes them */
  const char *type; /* of the elements of A: "bf16" */
  uint64_t count, flops;
} tf_sim_mma;

typedef struct tf_sim_breakdown {
  tf_sim_line *lines;
  tf_sim_buffer *buffers; /* those that were touched */
  tf_sim_mma *mmas;
  size_t line_count, buffer_count, mma_count;
} tf_sim_breakdown;
void tf_sim_breakdown_free(TF_TAKE tf_sim_breakdown *breakdown); /* null is fine */

/* A roofline estimate, not a measurement: the least time that each resource needs for the counted work at its peak rate,
 * nothing else considered. How: Roofline.c. */
typedef enum tf_sim_resource {
#define RESOURCE(id, name, text) TF_SIM_RESOURCE_##id,
#include "Sim/Resources.def"
  TF_SIM_RESOURCE_COUNT
} tf_sim_resource;

typedef struct tf_sim_estimate {
  double seconds[TF_SIM_RESOURCE_COUNT];
  tf_sim_resource bound;    /* the one that needs the most; the first of the table if the launch did nothing */
  unsigned multiprocessors; /* that have work */
  double flops;             /* arithmetic and matrix operations */
  double dram_bytes;        /* different sectors, read and written: what a cache of any size must move */
} tf_sim_estimate;
const char *tf_sim_resource_name(unsigned index); /* null beyond the last */
void tf_sim_estimate_launch(const tf_sim_profile *profile, uint64_t ctas, const tf_sim_counters *counters,
                            const tf_sim_breakdown *breakdown, tf_sim_estimate *out);

/* What a launch left behind. Free with tf_sim_report_free. */
typedef struct tf_sim_report {
  tf_sim_finding *findings; /* sorted by PTX line, CTA, thread */
  size_t count;
  tf_sim_counters counters;
  uint64_t shadow_bytes;       /* the most that the race checker's shadow of memory took */
  tf_sim_breakdown *breakdown; /* null unless options.counters */
  tf_status status;            /* TF_OK, TF_TRAP (trap, assert, hang, budget, cancelled) or TF_CHECKER */
} tf_sim_report;

void tf_sim_report_free(tf_sim_report *report);
const char *tf_sim_class_name(unsigned index); /* null beyond the last */

/* Opens a device of the named profile. INVALID_ARGUMENT for an unknown name. Destroy frees its modules and memory. */
tf_status tf_sim_device_create(const char *profile, const tf_sim_options *options, tf_sim_device **out);
void tf_sim_device_destroy(tf_sim_device *device);
const tf_sim_profile *tf_sim_device_profile(const tf_sim_device *device);

/* Global memory. Addresses are 512-byte aligned. All ranges are checked: INVALID_ARGUMENT if any byte of a range is
 * outside a live allocation. Size 0 is refused by alloc and is fine elsewhere. */
tf_status tf_sim_alloc(tf_sim_device *device, uint64_t bytes, uint64_t *out);
tf_status tf_sim_free(tf_sim_device *device, uint64_t address);
/* Fresh memory behind an address that alloc gave and that was freed: addresses of graphs' memory stay the same. */
tf_status tf_sim_renew(tf_sim_device *device, uint64_t address);
/* Makes host memory reachable by kernels at its own address (managed and pinned memory). The caller keeps it alive
 * until tf_sim_free(address). */
tf_status tf_sim_map_host(tf_sim_device *device, TF_KEEP void *host, uint64_t bytes);
/* Says whose an allocation is: it goes with the owner. Null for addresses in no live allocation of an owner. */
void tf_sim_own(tf_sim_device *device, uint64_t address, TF_KEEP const void *owner);
const void *tf_sim_owner(tf_sim_device *device, uint64_t address);
void tf_sim_free_owned(tf_sim_device *device, const void *owner);
tf_status tf_sim_read(tf_sim_device *device, void *to, uint64_t from, uint64_t bytes);
tf_status tf_sim_write(tf_sim_device *device, uint64_t to, const void *from, uint64_t bytes);
tf_status tf_sim_copy(tf_sim_device *device, uint64_t to, uint64_t from, uint64_t bytes);
/* `count` elements of `width` (1, 2 or 4) bytes. */
tf_status tf_sim_memset(tf_sim_device *device, uint64_t to, uint32_t value, unsigned width, uint64_t count);
/* Fills with noise and marks as never written for the init checker. */
tf_status tf_sim_poison(tf_sim_device *device, uint64_t to, uint64_t bytes);
/* The live allocation around an address. */
tf_status tf_sim_range(tf_sim_device *device, uint64_t address, uint64_t *base, uint64_t *bytes);
void tf_sim_memory_info(tf_sim_device *device, uint64_t *free_bytes, uint64_t *total_bytes);
/* Number and bytes of live allocations that alloc made, of all or of one owner (see own): leaks, when the owner is done. */
uint64_t tf_sim_live_allocations(tf_sim_device *device, const void *owner, uint64_t *bytes);
/* The index-th of them in the order of addresses; false if there are fewer. */
bool tf_sim_live_allocation(tf_sim_device *device, const void *owner, uint64_t index, uint64_t *address,
                            uint64_t *bytes);

/* Loads PTX text (need not be terminated). On failure `message` (may be null) receives
 * "line 12: '.foo': …" and the status is PARSE (text at fault), UNSUPPORTED (the profile or the simulator cannot run
 * it) or OUT_OF_MEMORY. */
tf_status tf_sim_module_load(tf_sim_device *device, const char *text, size_t length, char *message, size_t message_size,
                             TF_GIVE tf_sim_module **out);
void tf_sim_module_unload(TF_TAKE tf_sim_module *module);
/* Null when there is none. Entries only. */
const tf_sim_function *tf_sim_module_function(const tf_sim_module *module, const char *name);
const tf_sim_function *tf_sim_module_entry(const tf_sim_module *module, size_t index);
bool tf_sim_module_global(const tf_sim_module *module, const char *name, uint64_t *address, uint64_t *bytes);

typedef struct tf_sim_function_info {
  const char *name;
  uint64_t static_shared, local_bytes, param_bytes, const_bytes;
  uint32_t param_count;
  uint32_t max_threads, registers;
  uint32_t required_block[3]; /* 0: any */
  uint32_t required_cluster[3];
  uint32_t ptx_version, ptx_target;
} tf_sim_function_info;
void tf_sim_function_info_get(const tf_sim_function *function, tf_sim_function_info *out);
/* Offset and size of a parameter in the packed buffer. False beyond the last. */
bool tf_sim_function_param(const tf_sim_function *function, uint32_t index, uint64_t *offset, uint64_t *bytes);
const char *tf_sim_function_param_name(const tf_sim_function *function, uint32_t index);
/* CTAs of `threads` threads and `dynamic_shared` bytes that one multiprocessor of the profile holds at a time. */
unsigned tf_sim_occupancy(const tf_sim_function *function, uint64_t threads, uint64_t dynamic_shared);

typedef struct tf_sim_launch_config {
  uint32_t grid[3], block[3], cluster[3]; /* cluster 0: as the function requires, or 1 */
  uint64_t dynamic_shared;
  bool cooperative;
  const void *params; /* packed as the function's layout says */
  uint64_t param_bytes;
  TF_KEEP const atomic_bool *cancel; /* set by another thread to stop the launch; may be null */
} tf_sim_launch_config;

/* Runs the kernel to its end. LAUNCH (with a message) when geometry or resources are wrong: nothing ran, the report is
 * empty. Otherwise the report's status. `report` may be null. */
tf_status tf_sim_launch(const tf_sim_function *function, const tf_sim_launch_config *config, char *message,
                        size_t message_size, TF_GIVE tf_sim_report *report);

#endif
