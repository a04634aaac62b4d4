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

enum { TF_SIM_SLOTS = 16, TF_SIM_CONTEXT_DEPTH = 32, TF_SIM_LIMITS = 10, TF_SIM_RULES = 16, TF_SIM_VERSION = 13000 };

/* The API's functions by number. */
typedef enum tf_sim_call {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) TF_SIM_CALL_##member,
#include "Runtime/DriverAPI.def"
  TF_SIM_CALL_COUNT
} tf_sim_call;

typedef struct tf_sim_state tf_sim_state;

/* A destroyed context stays in the list until the table closes, so that threads where it is still current can be told.
 * Everything made in a context (allocations, modules, streams, events) goes with it. */
struct CUctx_st {
  tf_sim_state *driver;
  CUcontext next;
  unsigned flags, refs;
  bool primary, destroyed;
  unsigned long long id;
  CUresult sticky; /* a fault of a kernel poisons the context until it is destroyed or reset */
  size_t limits[TF_SIM_LIMITS];
  CUfunc_cache cache;
};

struct CUfunc_st {
  CUmodule module;
  const tf_sim_function *function;
  tf_sim_function_info info;
  int max_dynamic, carveout, non_portable_cluster;
};

/* A library is a module and a kernel one of its functions: with one device there is nothing to tell them apart. */
struct CUmod_st {
  tf_sim_state *driver;
  CUcontext context;
  CUmodule next;
  tf_sim_module *module;
  struct CUfunc_st *functions;
  unsigned count;
};

/* Memory that a graph's allocation node gives. Its address stays the same, and is known as long as a node of any graph
 * names it; there is memory behind it from the execution of the allocation to that of the release. */
typedef struct tf_sim_block tf_sim_block;
struct tf_sim_block {
  tf_sim_block *next;
  CUdeviceptr address;
  size_t bytes;
  CUcontext context;
  unsigned refs;
  bool released; /* some graph has a node that frees it */
};

/* An object of the program's, destroyed with its last reference, and a graph's references to one. */
struct CUuserObject_st {
  CUuserObject next;
  CUhostFn destroy;
  void *data;
  unsigned long long refs;
};
typedef struct tf_sim_held {
  CUuserObject object;
  unsigned count;
} tf_sim_held;

/* A unit of work: what a stream executes and a graph records. */
typedef enum tf_sim_work_kind {
  TF_WORK_KERNEL,
  TF_WORK_COPY,
  TF_WORK_COPY3D,
  TF_WORK_SET,
  TF_WORK_HOST,
  TF_WORK_EMPTY, /* orders only */
  TF_WORK_ALLOC,
  TF_WORK_FREE,
  TF_WORK_GRAPH
} tf_sim_work_kind;

typedef struct tf_sim_work {
  tf_sim_work_kind kind;
  CUfunction function;
  CUlaunchConfig config; /* of a kernel; without attributes */
  unsigned cluster[3];
  bool cooperative;
  unsigned char *params;       /* packed; a graph's copy ends with an array of pointers to its parts */
  CUdeviceptr to, from;        /* copies and sets; host addresses are told apart by looking */
  size_t bytes, pitch, height; /* set: bytes of a row, pitch, rows */
  unsigned value, width;       /* set: of an element */
  CUDA_MEMCPY3D copy;          /* 3-D copy, a plane is one of depth 1 */
  CUhostFn host;
  void *data;
  tf_sim_block *block; /* alloc, free */
  CUgraph graph;       /* child graph, the node's own */
} tf_sim_work;

/* Nodes know what they depend on. `id` is the node's in its graph; a copy of the graph keeps it, which is how a node of an
 * executable graph is found by the node that it was made from. */
struct CUgraphNode_st {
  CUgraph graph;
  unsigned long long id;
  tf_sim_work work;
  CUgraphNode *needs;
  size_t need_count, need_cap;
};

struct CUgraph_st {
  tf_sim_state *driver;
  CUgraph next;
  bool executable;           /* then the nodes are in an order that can be executed */
  unsigned long long number; /* of an executable graph: that of the one that it was made from */
  cuuint64_t flags;
  CUgraphNode *nodes;
  size_t count, cap;
  unsigned long long next_id;
  tf_sim_held *held;
  size_t held_count, held_cap;
};
struct CUgraphExec_st {
  struct CUgraph_st graph;
};

/* A capture in progress: one graph, the stream it began on and those that joined through events.
 *
 *   origin ──▸ k1 ──▸ record e ──────────────▸ wait f ──▸ end       each stream keeps the nodes its next one will need;
 *                        └▸ other: wait e ▸ k2 ▸ record f ┘         an event keeps those at its recording */
typedef struct tf_sim_capture {
  CUgraph graph;
  CUstream origin;
  unsigned long long id;
  CUstreamCaptureMode mode;
  pthread_t thread; /* that began it */
  bool invalid;
} tf_sim_capture;

typedef struct tf_sim_nodes {
  CUgraphNode *list;
  size_t count, cap;
} tf_sim_nodes;

struct CUstream_st {
  CUcontext context;
  CUstream next;
  unsigned flags;
  int priority;
  unsigned long long id;
  CUlaunchAttributeValue attributes[2]; /* access policy, synchronisation policy */
  tf_sim_capture *capture;              /* not null while capturing */
  tf_sim_nodes needs;
};

struct CUevent_st {
  tf_sim_state *driver;
  CUcontext context;
  CUevent next;
  unsigned flags;
  bool recorded;
  double time;                /* seconds */
  unsigned long long capture; /* id of the capture it was recorded in last; 0: in none */
  tf_sim_nodes needs;
};

struct CUmemPoolHandle_st {
  CUmemoryPool next;
  uint64_t threshold, used, used_high, reserved, reserved_high;
  int reuse[3];
};

struct CUlinkState_st {
  CUlinkState next;
  char *text;
  size_t length, cap;
  unsigned inputs;
  char *error_log;
  size_t error_size;
  void **error_used; /* the caller's option value, which receives what was written */
};

/* Host memory that the API gave out or registered. */
typedef enum tf_host_kind { TF_HOST_PINNED, TF_HOST_REGISTERED, TF_HOST_MANAGED } tf_host_kind;
typedef struct tf_sim_host {
  struct tf_sim_host *next;
  char *pointer;
  size_t bytes;
  unsigned flags;
  tf_host_kind kind;
  CUcontext context;
} tf_sim_host;

/* Calls that are made to fail, see Inject.c. */
typedef struct tf_sim_rule {
  int call; /* a tf_sim_call; -1: any */
  unsigned long long n;
  bool onward; /* from the n-th on */
  CUresult result;
} tf_sim_rule;

struct tf_sim_state {
  pthread_mutex_t lock;
  tf_sim_device *device;
  const tf_sim_profile *profile;
  unsigned slot;
  unsigned long long generation; /* tells a slot's users apart */
  bool initialized, counting, lists_leaks;
  CUcontext contexts, primary;
  CUmodule modules;
  CUstream streams;
  CUevent events;
  CUgraph graphs;
  tf_sim_block *blocks;
  CUuserObject objects;
  CUlinkState links;
  CUmemoryPool pools, default_pool, pool;
  tf_sim_host *hosts;
  tf_sim_capture **captures;
  size_t capture_count, capture_cap;
  unsigned long long next_id; /* of contexts, streams, captures and graphs */
  char *fault;                /* account of the last fault, not told yet */
  tf_status fault_status;
  void (*told)(const char *account); /* is told each fault when it happens; may be null */
  struct tf_sim_records *records;    /* counters of the launches; null until the first */
  tf_sim_rule rules[TF_SIM_RULES];
  unsigned rule_count;
  unsigned long long calls[TF_SIM_CALL_COUNT + 1]; /* by function, and all; atomic */
};

/* Tells of memory that a context (null: the program) still holds when it ends, if the mem checker is on. */
void tf_sim_tell_leaks(tf_sim_state *state, CUcontext context);

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

/* NOT_INITIALIZED, INVALID_CONTEXT, CONTEXT_IS_DESTROYED, the context's sticky error, or SUCCESS: every call that needs a
 * context begins so. */
CUresult tf_sim_ready(void);
CUresult tf_sim_from_status(tf_status status);
CUresult tf_sim_check_device(CUdevice dev);
/* Leaves the function unless the device exists and the result pointers are not null. */
#define TF_SIM_DEVICE_CALL(dev, ...)                                                                                   \
  do {                                                                                                                 \
    CUresult ready_ = tf_sim_check_device(dev);                                                                        \
    if (ready_ != CUDA_SUCCESS) return ready_;                                                                         \
    const void *results_[] = {__VA_ARGS__};                                                                            \
    for (size_t i_ = 0; i_ < sizeof results_ / sizeof *results_; i_++)                                                 \
      if (!results_[i_]) return CUDA_ERROR_INVALID_VALUE;                                                              \
  } while (0)

/* Stream.c. Submits work to a stream: executes it, or records a copy of it while the stream is capturing. */
CUresult tf_sim_submit(CUstream stream, const tf_sim_work *work);
CUresult tf_sim_execute(const tf_sim_work *work);
bool tf_sim_default_stream(CUstream stream);
CUresult tf_sim_check_stream(CUstream stream);
CUresult tf_sim_check_event(CUevent event);
void tf_sim_free_streams(tf_sim_state *state, CUcontext of); /* of null: all */
/* Capture.c. What a stream that captures does with work, events and the end of its life. */
CUresult tf_sim_capture_work(CUstream stream, const tf_sim_work *work, CUgraphNode *node);
CUresult tf_sim_capture_record(CUstream stream, CUevent event);
CUresult tf_sim_capture_wait(CUstream stream, CUevent event);
void tf_sim_capture_leave(CUstream stream);
/* STREAM_CAPTURE_UNSUPPORTED, and invalidates, if a capture forbids this thread a call that is not safe during it. */
CUresult tf_sim_capture_unsafe(void);
/* The same for work on the legacy stream while a stream that synchronises with it captures: STREAM_CAPTURE_IMPLICIT. */
CUresult tf_sim_capture_legacy(void);
/* The same for waiting for the whole context. */
CUresult tf_sim_capture_waits(CUcontext context);
bool tf_sim_captured_event(CUevent event);
void tf_sim_free_captures(tf_sim_state *state);
/* Graph.c */
CUgraph tf_sim_new_graph(tf_sim_state *state);
void tf_sim_enlist_graph(CUgraph graph);
void tf_sim_free_graph(CUgraph graph);
CUresult tf_sim_check_graph(CUgraph graph, bool executable);
/* A node with a copy of the work; null when memory is out. */
CUgraphNode tf_sim_add_node(CUgraph graph, const tf_sim_work *work);
bool tf_sim_add_need(CUgraphNode node, CUgraphNode need);
bool tf_sim_copy_work(tf_sim_work *to, const tf_sim_work *from);
void tf_sim_clear_work(tf_sim_work *work);
/* A copy whose nodes are in an order that can be executed. INVALID_VALUE for a circle. */
CUresult tf_sim_copy_graph(CUgraph from, bool executable, CUgraph *out);
CUgraphNode tf_sim_node_of(CUgraph graph, unsigned long long id);
CUresult tf_sim_run_graph(CUgraph graph);
void tf_sim_free_graphs(tf_sim_state *state);
/* Nodes.c. Adds a node with the work if it was made; a kernel's parameters are freed in any case. */
CUresult tf_sim_add_work(CUresult made, tf_sim_work *work, CUgraphNode *node, CUgraph graph,
                         const CUgraphNode *dependencies, size_t count);
/* GraphMemory.c. Allocation and release as nodes of a graph that a stream captures. */
CUresult tf_sim_capture_alloc(CUdeviceptr *ptr, size_t bytes, CUstream stream);
CUresult tf_sim_capture_free(CUdeviceptr ptr, CUstream stream);
CUresult tf_sim_run_alloc(const tf_sim_work *work);
CUresult tf_sim_run_free(const tf_sim_work *work);
void tf_sim_drop_block(tf_sim_block *block);
/* True for an address in memory of a graph, there or not at present. */
bool tf_sim_is_graph_memory(CUdeviceptr ptr);
bool tf_sim_has_memory_nodes(CUgraph graph);
/* Before a launch: frees what an earlier launch has left, if the graph was made to; INVALID_VALUE if it was not. */
CUresult tf_sim_prepare_memory(CUgraph graph);
/* UserObject.c. A graph's references: another graph gets the same ones; all of them are given up. */
bool tf_sim_hold_again(CUgraph graph, CUgraph of);
void tf_sim_let_go(CUgraph graph);
void tf_sim_free_objects(tf_sim_state *state);
/* Memory.c */
CUresult tf_sim_run_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult tf_sim_run_copy3d(const CUDA_MEMCPY3D *copy);
CUresult tf_sim_run_set(const tf_sim_work *work);
CUresult tf_sim_check_copy3d(const CUDA_MEMCPY3D *copy);
void tf_sim_free_hosts(tf_sim_state *state, CUcontext of);
/* Launch.c */
CUresult tf_sim_run_kernel(const tf_sim_work *work);
/* Kernel work with packed parameters, from an array of pointers or `extra`; to be cleared by the caller. */
CUresult tf_sim_pack(tf_sim_work *work, void **params, void **extra);
/* Module.c, Context.c, Link.c, Pool.c: release what a context or a closing table still has. */
void tf_sim_free_modules(tf_sim_state *state, CUcontext of);
void tf_sim_free_contexts(tf_sim_state *state);
void tf_sim_free_links(tf_sim_state *state);
void tf_sim_free_pools(tf_sim_state *state);
char *tf_sim_read_file(const char *path, size_t *bytes);
CUresult tf_sim_check_function(CUfunction function);
/* Inject.c: counts the call; the error that a rule wants of it, or SUCCESS. */
CUresult tf_sim_inject(tf_sim_call call);
/* Report.c */
void tf_sim_keep_fault(tf_sim_state *state, const char *kernel, const tf_sim_report *report, tf_status status);
CUresult tf_sim_fault_result(const tf_sim_report *report);
/* Null for a number that is no result. */
const char *tf_sim_result_name(CUresult result);
const char *tf_sim_result_text(CUresult result);
/* Of an enumerator's spelling or a number; false if it is neither. */
bool tf_sim_result_of(const char *text, CUresult *result);
tf_status tf_sim_take_fault(tf_driver *driver, char *message, size_t size);
/* Counters.c: keeps the launch's counters, if the table counts; takes the breakdown out of the report. */
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
#define TF_DRIVER_FN(member, symbol, name, since, params, args) CUresult tf_sim_##member params;
#include "Runtime/DriverAPI.def"

#endif
