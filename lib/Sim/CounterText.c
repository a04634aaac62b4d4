/* Counters as JSON (docs/counters.schema.json) and as a table for people. */
#include "Sim/Driver/Counters.h"
#include "Sim/Text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* A fraction as JSON; 0 where the denominator is. */
static double ratio(uint64_t a, uint64_t b) {
  return b ? (double)a / (double)b : 0;
}

static void json_tally(tf_text *t, const void *tally) {
  const tf_sim_tally *c = tally;
  tf_text_add(t, "\"counters\": {");
#define COUNTER(name, text) tf_text_add(t, "\"%s\": %" PRIu64 ", ", #name, c->name);
#include "Sim/Counters.def"
  tf_text_add(t, "\"sectors_per_request\": %.6g, ", ratio(c->global_sectors, c->global_requests));
  tf_text_add(t, "\"conflict\": %.6g}", ratio(c->shared_ways, c->shared_passes));
}

static void json_counters(tf_text *t, const tf_sim_counters *c) {
  json_tally(t, c);
  tf_text_add(t, ", \"instructions\": {");
  for (unsigned i = 0; tf_sim_class_name(i); i++)
    tf_text_add(t, "%s\"%s\": %" PRIu64, i ? ", " : "", tf_sim_class_name(i), c->by_class[i]);
  tf_text_add(t, "}");
}

static void json_lines(tf_text *t, const tf_sim_line *lines, size_t count) {
  tf_text_add(t, ", \"lines\": [");
  for (size_t i = 0; i < count; i++) {
    tf_text_add(t, "%s{\"file\": ", i ? ",\n  " : "\n  ");
    tf_text_add_json(t, lines[i].file);
    tf_text_add(t, ", \"line\": %u, ", lines[i].line);
    json_tally(t, &lines[i].tally);
    tf_text_add(t, "}");
  }
  tf_text_add(t, "]");
}

static void json_mmas(tf_text *t, const tf_sim_mma *mmas, size_t count) {
  tf_text_add(t, ", \"matrix\": [");
  for (size_t i = 0; i < count; i++) {
    tf_text_add(t, "%s{\"name\": ", i ? ", " : "");
    tf_text_add_json(t, mmas[i].name);
    tf_text_add(t, ", \"count\": %" PRIu64 ", \"flops\": %" PRIu64 "}", mmas[i].count, mmas[i].flops);
  }
  tf_text_add(t, "]");
}

static void json_buffers(tf_text *t, const tf_sim_breakdown *b) {
  tf_text_add(t, ", \"buffers\": [");
  for (size_t i = 0; i < b->buffer_count; i++) {
    const tf_sim_buffer *u = &b->buffers[i];
    tf_text_add(t, "%s{\"name\": ", i ? ", " : "");
    tf_text_add_json(t, u->name);
    tf_text_add(t, ", \"address\": %" PRIu64 ", \"bytes\": %" PRIu64, u->address, u->bytes);
    tf_text_add(t, ", \"bytes_read\": %" PRIu64 ", \"bytes_written\": %" PRIu64, u->bytes_read, u->bytes_written);
    tf_text_add(t, ", \"sectors_read\": %" PRIu64 ", \"sectors_written\": %" PRIu64 "}", u->sectors_read,
                u->sectors_written);
  }
  tf_text_add(t, "]");
}

static uint64_t ctas(const tf_sim_launch_record *l) {
  return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
}

static void json_estimate(tf_text *t, const tf_sim_launch_record *l, const tf_sim_profile *p) {
  tf_sim_estimate e;
  tf_sim_estimate_launch(p, ctas(l), &l->counters, l->breakdown, &e);
  tf_text_add(t, ", \"estimate\": {\"bound\": \"%s\", \"multiprocessors\": %u, \"flops\": %.0f, \"dram_bytes\": %.0f",
              tf_sim_resource_name(e.bound), e.multiprocessors, e.flops, e.dram_bytes);
  tf_text_add(t, ", \"seconds\": {");
  for (unsigned i = 0; i < TF_SIM_RESOURCE_COUNT; i++)
    tf_text_add(t, "%s\"%s\": %.6g", i ? ", " : "", tf_sim_resource_name(i), e.seconds[i]);
  tf_text_add(t, "}}");
}

static void json_extent(tf_text *t, const char *name, const unsigned e[3]) {
  tf_text_add(t, "\"%s\": [%u, %u, %u], ", name, e[0], e[1], e[2]);
}

static void json_launch(tf_text *t, const tf_sim_launch_record *l, const tf_sim_profile *p) {
  tf_text_add(t, "{\"kernel\": ");
  tf_text_add_json(t, l->kernel);
  tf_text_add(t, ", ");
  json_extent(t, "grid", l->grid);
  json_extent(t, "block", l->block);
  json_extent(t, "cluster", l->cluster);
  tf_text_add(t, "\"dynamic_shared\": %u, ", l->dynamic_shared);
  json_counters(t, &l->counters);
  if (l->breakdown) {
    json_mmas(t, l->breakdown->mmas, l->breakdown->mma_count);
    json_buffers(t, l->breakdown);
    json_lines(t, l->breakdown->lines, l->breakdown->line_count);
  }
  json_estimate(t, l, p);
  tf_text_add(t, "}");
}

static tf_sim_counters total_of(const tf_sim_records *r) {
  tf_sim_counters total = {0};
  for (size_t i = 0; i < r->kernel_count; i++)
    tf_sim_add_counters(&total, &r->kernels[i].counters);
  return total;
}

char *tf_sim_counters_json(const tf_sim_records *r, const tf_sim_profile *p) {
  tf_text t = {0};
  tf_sim_counters total = total_of(r);
  tf_text_add(&t, "{\"device\": \"%s\", \"total\": {", p->name);
  json_counters(&t, &total);
  tf_text_add(&t, "},\n \"kernels\": [");
  for (size_t i = 0; i < r->kernel_count; i++) {
    const tf_sim_kernel_sum *k = &r->kernels[i];
    tf_text_add(&t, "%s{\"name\": ", i ? ",\n " : "\n ");
    tf_text_add_json(&t, k->name);
    tf_text_add(&t, ", \"launches\": %" PRIu64 ", ", k->launches);
    json_counters(&t, &k->counters);
    json_mmas(&t, k->mmas, k->mma_count);
    json_lines(&t, k->lines, k->line_count);
    tf_text_add(&t, "}");
  }
  tf_text_add(&t, "],\n \"launches\": [");
  for (size_t i = 0; i < r->launch_count; i++) {
    tf_text_add(&t, "%s", i ? ",\n " : "\n ");
    json_launch(&t, &r->launches[i], p);
  }
  tf_text_add(&t, "],\n \"launches_left_out\": %" PRIu64 "}\n", r->left_out);
  return t.data;
}

/* ---- Table ------------------------------------------------------------------------------------------------------- */

static void table_counters(tf_text *t, const tf_sim_counters *c) {
#define COUNTER(name, text)                                                                                            \
  if (c->name) tf_text_add(t, "  %-24s %20" PRIu64 "\n", #name, c->name);
#include "Sim/Counters.def"
  if (c->global_requests)
    tf_text_add(t, "  %-24s %20.2f\n", "sectors per request", ratio(c->global_sectors, c->global_requests));
  if (c->shared_passes) tf_text_add(t, "  %-24s %20.2f\n", "bank conflict", ratio(c->shared_ways, c->shared_passes));
  tf_text_add(t, "  warp instructions by class\n");
  for (unsigned i = 0; tf_sim_class_name(i); i++)
    if (c->by_class[i]) tf_text_add(t, "    %-22s %20" PRIu64 "\n", tf_sim_class_name(i), c->by_class[i]);
}

static void table_mmas(tf_text *t, const tf_sim_kernel_sum *k) {
  for (size_t i = 0; i < k->mma_count; i++)
    tf_text_add(t, "%s    %-38s %12" PRIu64 " %16" PRIu64 "\n",
                i ? "" : "  matrix instruction                              count            flops\n", k->mmas[i].name,
                k->mmas[i].count, k->mmas[i].flops);
}

static void table_lines(tf_text *t, const tf_sim_kernel_sum *k) {
  tf_text_add(t, "  %-30s %10s %6s %9s %7s %9s %8s %7s %7s %14s\n", "line", "warp insn", "lanes", "global", "sectors",
              "shared", "conflict", "atomics", "mma", "flops");
  for (size_t i = 0; i < k->line_count; i++) {
    const tf_sim_line *l = &k->lines[i];
    const tf_sim_tally *c = &l->tally;
    const char *slash = l->file ? strrchr(l->file, '/') : NULL;
    char place[64];
    (void)snprintf(place, sizeof place, "%.48s:%u", l->file ? (slash ? slash + 1 : l->file) : "PTX", l->line);
    tf_text_add(t,
                "  %-30s %10" PRIu64 " %6.1f %9" PRIu64 " %7.2f %9" PRIu64 " %8.2f %7" PRIu64 " %7" PRIu64 " %14" PRIu64
                "\n",
                place, c->warp_instructions, ratio(c->lane_instructions, c->warp_instructions), c->global_requests,
                ratio(c->global_sectors, c->global_requests), c->shared_requests,
                ratio(c->shared_ways, c->shared_passes), c->atomic_requests, c->mma, c->flops + c->mma_flops);
  }
}

/* Launches in a row that are the same in everything shown are one entry. */
static bool same_launch(const tf_sim_launch_record *a, const tf_sim_launch_record *b) {
  return a->kernel == b->kernel && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
         memcmp(a->block, b->block, sizeof a->block) == 0 && memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 &&
         a->dynamic_shared == b->dynamic_shared && memcmp(&a->counters, &b->counters, sizeof a->counters) == 0;
}

static void table_buffers(tf_text *t, const tf_sim_breakdown *b) {
  tf_text_add(t, "    %-20s %14s %14s %14s %12s %12s\n", "buffer", "bytes", "read", "written", "sectors in", "out");
  for (size_t i = 0; i < b->buffer_count; i++) {
    const tf_sim_buffer *u = &b->buffers[i];
    tf_text_add(t, "    %-20.20s %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n",
                u->name ? u->name : "-", u->bytes, u->bytes_read, u->bytes_written, u->sectors_read,
                u->sectors_written);
  }
}

static void table_estimate(tf_text *t, const tf_sim_launch_record *l, const tf_sim_profile *p) {
  tf_sim_estimate e;
  tf_sim_estimate_launch(p, ctas(l), &l->counters, l->breakdown, &e);
  tf_text_add(t, "    estimate for %s, %u of %u multiprocessors: bound by %s; microseconds at peak rates:", p->name,
              e.multiprocessors, p->multiprocessors, tf_sim_resource_name(e.bound));
  for (unsigned i = 0; i < TF_SIM_RESOURCE_COUNT; i++)
    if (e.seconds[i] > 0) tf_text_add(t, " %s %.3g", tf_sim_resource_name(i), e.seconds[i] * 1e6);
  tf_text_add(t, "\n");
}

static void table_launches(tf_text *t, const tf_sim_records *r, const tf_sim_profile *p) {
  for (size_t i = 0, next; i < r->launch_count; i = next) {
    const tf_sim_launch_record *l = &r->launches[i];
    for (next = i + 1; next < r->launch_count && same_launch(l, &r->launches[next]);)
      next++;
    if (next - i > 1)
      tf_text_add(t, "launches %zu to %zu, ", i + 1, next);
    else
      tf_text_add(t, "launch %zu, ", i + 1);
    tf_text_add(t, "%s: grid %ux%ux%u, block %ux%ux%u, %u bytes of dynamic shared memory\n", l->kernel, l->grid[0],
                l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->dynamic_shared);
    tf_text_add(t,
                "    %" PRIu64 " warp instructions, %" PRIu64 " global requests of %.2f sectors, %" PRIu64
                " shared requests, conflict %.2f, %" PRIu64 " flops\n",
                l->counters.warp_instructions, l->counters.global_requests,
                ratio(l->counters.global_sectors, l->counters.global_requests), l->counters.shared_requests,
                ratio(l->counters.shared_ways, l->counters.shared_passes), l->counters.flops + l->counters.mma_flops);
    if (l->breakdown) table_buffers(t, l->breakdown);
    table_estimate(t, l, p);
  }
  if (r->left_out) tf_text_add(t, "%" PRIu64 " later launches are in the sums only\n", r->left_out);
}

char *tf_sim_counters_table(const tf_sim_records *r, const tf_sim_profile *p) {
  tf_text t = {0};
  for (size_t i = 0; i < r->kernel_count; i++) {
    const tf_sim_kernel_sum *k = &r->kernels[i];
    tf_text_add(&t, "%s, %" PRIu64 " launch%s\n", k->name, k->launches, k->launches == 1 ? "" : "es");
    table_counters(&t, &k->counters);
    table_mmas(&t, k);
    table_lines(&t, k);
  }
  table_launches(&t, r, p);
  if (r->kernel_count != 1) {
    tf_sim_counters total = total_of(r);
    tf_text_add(&t, "all kernels\n");
    table_counters(&t, &total);
  }
  return t.data;
}
