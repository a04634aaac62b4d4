/* A loaded module: syntax tree, memory of its variables, decoded functions. */
#ifndef TF_SIM_MODULE_H
#define TF_SIM_MODULE_H

#include "Sim/Exec.h"

typedef struct tf_module {
  struct tf_device *device;
  struct tf_module *next;
  tf_ptx_module *ptx;
  tf_pool pool; /* decoded functions */
  tf_func **funcs;
  uint32_t func_count;
  uint64_t const_bytes, common_shared;
  uint32_t instruction_count; /* of all functions */
} tf_module;

struct tf_device {
  pthread_mutex_t lock;
  const tf_sim_profile *profile;
  tf_sim_options options;
  unsigned cores; /* of this machine; asking takes longer than a small launch */
  tf_memory memory;
  tf_module *modules;
  tf_func **code; /* by (address - TF_CODE_BASE) / 16 */
  size_t code_count, code_cap;
  uint64_t launches;
  tf_alloc *workspace; /* of cooperative launches; null until the first */
  const tf_row **rows; /* of all families, sorted by opcode, table order kept */
  size_t row_count;
  bool reads_sreg[TF_SREG_COUNT]; /* by some loaded code; warps fill no others */
};

typedef struct tf_device tf_device;

/* The source place of a .loc index; *file null when unknown. True if it is a neighbour's place (see tf_ptx_loc). */
bool tf_module_location(const tf_module *module, uint32_t loc, const char **file, uint32_t *line);
/* The function at a code address, or null. */
const tf_func *tf_device_function_at(const tf_device *device, uint64_t address);

/* Decode/…: makes func->code etc. from func->ptx. */
bool tf_decode_function(tf_module *module, tf_func *func, tf_ptx_error *error);
/* Decode/Layout.c: places in shared memory. Common once, then each entry's right before its decoding. */
void tf_layout_common(tf_module *module);
bool tf_layout_entry(tf_module *module, tf_func *func, tf_ptx_error *error);
/* Functions that every module may call without defining them (vprintf, __assertfail); null if `name` is none. */
const struct tf_native *tf_native_find(const char *name);

typedef struct tf_native {
  const char *name;
  void (*run)(tf_warp *w, const tf_insn *in, const tf_call *call, uint32_t mask);
  bool one_worker; /* launches that may call it run on one worker */
} tf_native;

#endif
