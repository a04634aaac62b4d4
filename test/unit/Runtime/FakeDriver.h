/* A driver table for tests: device memory is host memory, launches are recorded, and any call can be made to fail.
 *
 * It counts what is alive, so a test can ask for leaks, and keeps the last launches with their parameters. State is one
 * global of the test program; fake_reset starts over. Thread-safe as far as the thread tests need it. */
#ifndef TF_TEST_FAKEDRIVER_H
#define TF_TEST_FAKEDRIVER_H

#include "Runtime/Driver.h"

#define FAKE_MAX_PARAMS   80
#define FAKE_MAX_LAUNCHES 64

typedef struct fake_launch {
  const char *kernel; /* name that the function was looked up by */
  const char *call;   /* "cuLaunchKernel", … */
  unsigned grid[3], block[3], cluster[3], smem;
  int cooperative, pss;
  CUstream stream;
  uint64_t params[FAKE_MAX_PARAMS]; /* param_count of them, 8 bytes each as they lay there */
} fake_launch;

typedef struct fake_state {
  /* What the device is like; set before it is used. */
  int devices, sms, compute_major, compute_minor, optin, cooperative, clusters;
  int occupancy;                  /* CTAs per multiprocessor; clusters per device */
  int static_shared, max_threads; /* of every function */
  const char *missing_kernel;     /* cuModuleGetFunction does not find this one */
  const char *log, *info_log;     /* non-null: modules are refused, with these logs */
  CUresult load_result;           /* with which they are */
  int refuse_cubins;              /* modules that begin with ELF's magic number */
  int picky_pitches;              /* 2-D copies on the device take only those of cuMemAllocPitch */
  int no_stream_ids;              /* cuStreamGetId is missing, as in old drivers */
  int version, pools;             /* of the driver; the device has memory pools */
  int capturing;                  /* every stream is being captured, or captured_stream alone */
  CUstream captured_stream;
  unsigned param_count;                           /* parameters that launches record */
  void (*run)(const char *kernel, void **params); /* executes a launch; may be null */
  tf_status fault;                                /* what take_fault tells, once, when not TF_OK */
  const char *account;                            /* its text; null is "the fake\'s account" */

  /* The calls: `fail_at` (from 1) is the number of the call that fails, 0 none. */
  unsigned long calls, fail_at;
  CUresult fail_result;
  const char *failed; /* name of the call that was made to fail */
  CUresult sticky;    /* non-zero: every synchronisation and launch fails with it */

  /* What happened. */
  fake_launch launches[FAKE_MAX_LAUNCHES];
  unsigned launch_count;
  unsigned func_set_count; /* cuFuncSetAttribute calls */
  int func_set_value;
  unsigned memset_count;
  unsigned loaded_cubins, loaded_texts;
  unsigned forbidden; /* calls that would have ended a capture */
  unsigned waits;     /* cuStreamWaitEvent calls; the last one is */
  CUstream waiting, awaited;
  unsigned host_nodes; /* cuLaunchHostFunc calls; the functions run at once */
  long live_memory, live_modules, live_streams, live_events, live_objects, retained, closed;
} fake_state;

extern fake_state fake;

/* A device like an sm_80 with generous limits; no failures, nothing recorded. What an earlier life left behind is
 * freed. */
void fake_reset(void);
/* The table; close counts in fake.closed. */
tf_driver fake_table(void);
/* Pointers that are no device's but serve as contexts and streams. */
CUcontext fake_context(int number);
CUstream fake_stream(int number);
/* The end of the graph that streams are captured into: what it holds is destroyed. */
void fake_end_graph(void);
/* The calling thread's current context. */
CUcontext fake_current(void);
void fake_set_current(CUcontext context);

#endif
