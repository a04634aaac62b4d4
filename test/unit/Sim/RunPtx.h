/* For the simulator's unit tests: run a kernel `k` of a PTX text on one buffer. */
#ifndef TF_TEST_SIM_RUN_PTX_H
#define TF_TEST_SIM_RUN_PTX_H

#include <stddef.h>
#include <stdint.h>

/* Loads the text on a fresh device of the profile, passes the address of a copy of bytes[0..size) as the only parameter,
 * runs grid x block threads, and reads the buffer back. Fails the current test on any refusal or finding. */
void run_ptx(const char *profile, const char *ptx, unsigned grid, unsigned block, void *bytes, size_t size);

/* The same with more parameters, or for a launch that must go wrong. */
typedef struct run_ptx_config {
  const char *profile;
  unsigned grid, block;
  const void *more; /* parameters behind the pointer: they begin at offset 32 of the parameter buffer */
  size_t more_bytes;
  unsigned checks;     /* TF_SIM_CHECK_… besides mem */
  const char *finding; /* kind of the first finding that the launch must end with; null: none */
} run_ptx_config;
void run_ptx_with(const run_ptx_config *config, const char *ptx, void *bytes, size_t size);

/* Applies one instruction to `count` lanes: x[i] (64 bits each) holds the sources, 3 a lane, and receives the result in
 * x[3 i]. `text` names them %d, %a, %b, %c; `types` are the four register types, e.g. "b16 f32 f32 b32". */
void run_lanes(const char *text, const char *types, uint64_t *x, unsigned count);
/* The same as PTX 6.3 for sm_75; run_lanes writes PTX 8.7 for sm_100a. */
void run_old_lanes(const char *text, const char *types, uint64_t *x, unsigned count);

#endif
