/* The CUDA Driver API over the simulated device: what its files share.
 *
 * Work is done when it is submitted: streams are in-order queues that are always empty again when a call returns, which
 * the API's asynchrony permits. Only a capturing stream keeps what is submitted, as the nodes of a graph.
 *
 * The API's functions name no device, so each open table has functions of its own (Driver.c) that put its state into a
 * thread-local pointer and call the tf_sim_cu… functions here. A context's current-ness is per thread and per table, as
 * CUDA has it; these two are the only state outside a handle. */
#ifndef TF_SIM_DRIVERSTATE_H
#define TF_SIM_DRIVERSTATE_H

#include "Runtime/SimDriver.h"

#include <pthread.h>

enum { TF_SIM_SLOTS = 16, TF_SIM_CONTEXT_DEPTH = 32, TF_SIM_LIMITS = 8 };

typedef struct tf_sim_state tf_sim_state;

struct CUctx_st {
  tf_sim_state *driver;
  CUcontext next;
  unsigned flags, refs;
  bool primary;
  CUresult sticky; /* a fault of a kernel poisons the context until it is destroyed or reset */
  size_t limits[TF_SIM_LIMITS];
};

struct CUfunc_st {
  CUmodule module;
  const tf_sim_function *function;
  tf_sim_function_info info;
  int max_dynamic, carveout, non_portable_cluster;
};

struct CUmod_st {
  tf_sim_state *driver;
  CUmodule next;
  tf_sim_module *module;
  struct CUfunc_st *functions;
  unsigned count;
};

/* A unit of work: what a stream executes and a graph records. */
typedef struct tf_sim_work {
  enum { TF_WORK_KERNEL, TF_WORK_COPY, TF_WORK_COPY2D, TF_WORK_SET, TF_WORK_HOST } kind;
  CUfunction function;
  CUlaunchConfig config; /* of a kernel; without attributes */
  unsigned cluster[3];
  bool cooperative;
  unsigned char *params;
  CUdeviceptr to, from;        /* copies and sets; host addresses are told apart by looking */
  size_t bytes, pitch, height; /* set: elements in bytes, pitch, height */
  unsigned value, width;       /* set */
  CUDA_MEMCPY2D copy;
  CUhostFn host;
  void *data;
} tf_sim_work;

struct CUgraph_st {
  tf_sim_state *driver;
  CUgraph next;
  tf_sim_work *work;
  size_t count, cap;
};
struct CUgraphNode_st {
  tf_sim_work work;
};
struct CUgraphExec_st {
  struct CUgraph_st graph; /* its own copy */
};

struct CUstream_st {
  CUcontext context;
  CUstream next;
  unsigned flags;
  int priority;
  unsigned long long id;
  CUgraph capture; /* not null while capturing */
};

struct CUevent_st {
  tf_sim_state *driver;
  CUevent next;
  unsigned flags;
  bool recorded;
  double time; /* seconds */
};

/* Host memory that the API gave out or registered. */
typedef enum tf_host_kind { TF_HOST_PINNED, TF_HOST_REGISTERED, TF_HOST_MANAGED } tf_host_kind;
typedef struct tf_sim_host {
  struct tf_sim_host *next;
  char *pointer;
  size_t bytes;
  unsigned flags;
  tf_host_kind kind;
} tf_sim_host;

struct tf_sim_state {
  pthread_mutex_t lock;
  tf_sim_device *device;
  const tf_sim_profile *profile;
  unsigned slot;
  unsigned long long generation; /* tells a slot's users apart */
  bool initialized, counting;
  CUcontext contexts, primary;
  CUmodule modules;
  CUstream streams;
  CUevent events;
  CUgraph graphs;
  tf_sim_host *hosts;
  unsigned long long next_stream;
  char *fault; /* account of the last fault, not told yet */
  tf_status fault_status;
  struct tf_sim_records *records; /* counters of the launches; null until the first */
};

/* The table the running call belongs to; never null inside an API function. */
tf_sim_state *tf_sim_now(void);
/* This thread's current context for the table, or null. */
CUcontext tf_sim_context(void);
/* The thread's context stack for the running table. */
typedef struct tf_sim_stack {
  unsigned long long generation;
  unsigned depth;
  CUcontext list[TF_SIM_CONTEXT_DEPTH];
} tf_sim_stack;
tf_sim_stack *tf_sim_context_stack(void);

/* NOT_INITIALIZED, INVALID_CONTEXT, the context's sticky error, or SUCCESS: every call that needs a context begins so. */
CUresult tf_sim_ready(void);
CUresult tf_sim_from_status(tf_status status);

/* Submits work to a stream: executes it, or records a copy of it while the stream is capturing. */
CUresult tf_sim_submit(CUstream stream, const tf_sim_work *work);
CUresult tf_sim_execute(const tf_sim_work *work);
/* DriverMemory.c */
CUresult tf_sim_run_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult tf_sim_run_copy2d(const CUDA_MEMCPY2D *copy);
CUresult tf_sim_run_set(const tf_sim_work *work);
void tf_sim_free_hosts(tf_sim_state *state);
/* DriverLaunch.c */
CUresult tf_sim_run_kernel(const tf_sim_work *work);
/* DriverModule.c, DriverStream.c: release what a closing table still has. */
void tf_sim_free_modules(tf_sim_state *state);
void tf_sim_free_streams(tf_sim_state *state);
void tf_sim_free_contexts(tf_sim_state *state);
/* DriverReport.c */
void tf_sim_keep_fault(tf_sim_state *state, const char *kernel, const tf_sim_report *report, tf_status status);
CUresult tf_sim_fault_result(const tf_sim_report *report);
/* Null for a number that is no result. */
const char *tf_sim_result_name(CUresult result);
const char *tf_sim_result_text(CUresult result);
tf_status tf_sim_take_fault(tf_driver *driver, char *message, size_t size);
/* DriverCounters.c: keeps the launch's counters, if the table counts; takes the breakdown out of the report. */
void tf_sim_keep_counters(tf_sim_state *state, const tf_sim_work *launch, tf_sim_report *report);
void tf_sim_free_counters(tf_sim_state *state);

/* Finds a handle in one of the state's lists. */
#define TF_SIM_KNOWN(type, list, handle)                                                                               \
  static bool list##_has(const tf_sim_state *s, type handle) {                                                         \
    for (type at = s->list; at; at = at->next)                                                                         \
      if (at == handle) return true;                                                                                   \
    return false;                                                                                                      \
  }

/* The API: one function per row, without the table's name. */
#define TF_DRIVER_FN(member, symbol, params, args) CUresult tf_sim_##member params;
#include "Runtime/DriverAPI.def"

#endif
