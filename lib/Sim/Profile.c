/* The table of device profiles; see Profiles.def. */
#include "Sim/Sim.h"

#include <string.h>

static const tf_sim_profile profiles[] = {
#define PROFILE(s, ver, sms, tsm, bsm, regs, shsm, shb, opt, res, clu, clk, mclk, bus, l2, gib, suffix, f32, f64,      \
                tensor, tensor_f64)                                                                                    \
  {.name = "sm_" #s,                                                                                                   \
   .sm = s,                                                                                                            \
   .max_version = ver,                                                                                                 \
   .multiprocessors = sms,                                                                                             \
   .max_threads_per_sm = tsm,                                                                                          \
   .max_blocks_per_sm = bsm,                                                                                           \
   .registers_per_sm = regs,                                                                                           \
   .shared_per_sm = shsm,                                                                                              \
   .shared_per_block = shb,                                                                                            \
   .shared_optin = opt,                                                                                                \
   .reserved_shared = res,                                                                                             \
   .max_cluster = clu,                                                                                                 \
   .clock_khz = clk,                                                                                                   \
   .memory_clock_khz = mclk,                                                                                           \
   .bus_bits = bus,                                                                                                    \
   .l2_bytes = l2,                                                                                                     \
   .memory_bytes = gib * 1024ull * 1024 * 1024,                                                                        \
   .features = suffix,                                                                                                 \
   .f32_lanes = f32,                                                                                                   \
   .f64_lanes = f64,                                                                                                   \
   .tensor_flops = tensor,                                                                                             \
   .tensor_f64_flops = tensor_f64},
#include "Sim/Profiles.def"
#undef PROFILE
};

const tf_sim_profile *tf_sim_profile_at(unsigned index) {
  return index < sizeof profiles / sizeof *profiles ? &profiles[index] : NULL;
}

const tf_sim_profile *tf_sim_profile_find(const char *name) {
  for (unsigned i = 0; name && tf_sim_profile_at(i); i++)
    if (strcmp(profiles[i].name, name) == 0) return &profiles[i];
  return NULL;
}
