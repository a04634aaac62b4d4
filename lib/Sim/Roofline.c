/* A roofline estimate from counters: for each resource the demand divided by the peak rate; the greatest is the bound.
 *
 *   time(resource) = demand / rate       on-chip rates: of the SMs that have a CTA, at the profile's clock
 *
 *   tensor   rate of f16 per SM, scaled by the width of the elements: tf32 half, 8 bits twice, 4 bits four, 1 bit 16 times;
 *            f64 has a rate of its own. A device without an f64 unit does these products on its f64 lanes.
 *   L2       the A100's published 5120 bytes per clock are 48 for each of its SMs; the same is assumed for all devices
 *   DRAM     clock x 2 x bus. Only compulsory traffic is charged: every sector once. A working set larger than the L2
 *            costs more, at most what L2 says.
 *
 * What this leaves out (latencies, dependencies, occupancy, launch overhead, L1 hits) only adds time, except that L1 hits
 * take load off L2. So it says what bounds a kernel at best, not how long it runs. */
#include "Sim/Insn.h"
#include "Sim/Sim.h"

#include <string.h>

enum { WARP = 32, SCHEDULERS = 4, L2_BYTES_PER_SM = 48, SECTOR_BYTES = 32 };

const char *tf_sim_resource_name(unsigned index) {
  static const char *const names[] = {
#define RESOURCE(id, name, text) name,
#include "Sim/Resources.def"
  };
  return index < TF_SIM_RESOURCE_COUNT ? names[index] : NULL;
}

/* Operations per clock and SM for elements of a type. */
static double tensor_rate(const tf_sim_profile *p, const char *type) {
  static const struct {
    const char *type;
    double factor;
  } rows[] = {{"tf32", 0.5}, {"u8", 2}, {"s8", 2}, {"e4m3", 2}, {"e5m2", 2}, {"u4", 4}, {"s4", 4}, {"b1", 16}};
  if (strcmp(type, "f64") == 0) return p->tensor_f64_flops ? p->tensor_f64_flops : 2.0 * p->f64_lanes;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].type, type) == 0) return rows[i].factor * p->tensor_flops;
  return p->tensor_flops;
}

/* Clocks that the matrix instructions need on one SM, if it had them all. */
static double tensor_clocks(const tf_sim_profile *p, const tf_sim_breakdown *b) {
  double clocks = 0;
  for (size_t i = 0; b && i < b->mma_count; i++)
    clocks += (double)b->mmas[i].flops / tensor_rate(p, b->mmas[i].type);
  return clocks;
}

static double dram_bytes(const tf_sim_breakdown *b) {
  uint64_t sectors = 0;
  for (size_t i = 0; b && i < b->buffer_count; i++)
    sectors += b->buffers[i].sectors_read + b->buffers[i].sectors_written;
  return (double)sectors * SECTOR_BYTES;
}

void tf_sim_estimate_launch(const tf_sim_profile *p, uint64_t ctas, const tf_sim_counters *c, const tf_sim_breakdown *b,
                            tf_sim_estimate *out) {
  uint64_t sms = ctas < p->multiprocessors ? ctas : p->multiprocessors;
  double busy = (double)(sms ? sms : 1), clock = p->clock_khz * 1e3, *t = out->seconds;
  double dram_rate = p->memory_clock_khz * 1e3 * 2 * p->bus_bits / 8;
  *out = (tf_sim_estimate){.multiprocessors = (unsigned)sms, .dram_bytes = dram_bytes(b)};
  out->flops = (double)c->flops + (double)c->mma_flops;
  double f32 = (double)(c->by_class[TF_CLASS_FLOAT] + c->by_class[TF_CLASS_HALF]);
  t[TF_SIM_RESOURCE_ISSUE] = (double)c->warp_instructions / (SCHEDULERS * busy * clock);
  t[TF_SIM_RESOURCE_FP32] = f32 * WARP / (p->f32_lanes * busy * clock);
  t[TF_SIM_RESOURCE_FP64] = (double)c->by_class[TF_CLASS_DOUBLE] * WARP / (p->f64_lanes * busy * clock);
  t[TF_SIM_RESOURCE_TENSOR] = tensor_clocks(p, b) / (busy * clock);
  t[TF_SIM_RESOURCE_SHARED] = (double)c->shared_ways / (busy * clock);
  t[TF_SIM_RESOURCE_L2] = (double)c->global_sectors * SECTOR_BYTES / (L2_BYTES_PER_SM * p->multiprocessors * clock);
  t[TF_SIM_RESOURCE_DRAM] = out->dram_bytes / dram_rate;
  for (unsigned i = 1; i < TF_SIM_RESOURCE_COUNT; i++)
    if (t[i] > t[out->bound]) out->bound = (tf_sim_resource)i;
}
