/* After a launch: the workers' tallies become counters and a breakdown by source line, buffer and matrix instruction.
 * The breakdown is one block with its arrays and strings in a pool behind it, so that it outlives the module. */
#include "Sim/CountInternal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = sizeof(tf_sim_tally) / sizeof(uint64_t) };
_Static_assert(sizeof(tf_sim_tally) % sizeof(uint64_t) == 0, "a tally is an array of counts");
_Static_assert(sizeof(tf_sim_counters) == sizeof(tf_sim_tally) + 16 * sizeof(uint64_t), "counters begin with a tally");

typedef struct held_breakdown {
  tf_sim_breakdown b; /* first: what callers hold */
  tf_pool pool;
} held_breakdown;

void tf_sim_tally_add(void *to, const tf_sim_tally *from) {
  uint64_t *sum = to;
  const uint64_t *n = (const uint64_t *)(const void *)from;
  for (size_t i = 0; i < FIELDS; i++)
    sum[i] += n[i];
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static bool has_mod(const tf_ptx_stmt *s, const char *mod) {
  for (uint32_t i = 0; s && i < s->mod_count; i++)
    if (strcmp(s->mods[i], mod) == 0) return true;
  return false;
}

/* Operations per lane of an instruction; 0 for those that do no arithmetic on floating-point numbers. */
static unsigned flops_of(const tf_insn *in, const tf_ptx_stmt *s) {
  static const struct {
    const char *opcode;
    unsigned flops;
  } rows[] = {{"add", 1}, {"sub", 1}, {"mul", 1}, {"fma", 2}, {"mad", 2}};
  static const char *const pairs[] = {"f16x2", "bf16x2", "f32x2"};
  if (in->cls != TF_CLASS_FLOAT && in->cls != TF_CLASS_DOUBLE && in->cls != TF_CLASS_HALF) return 0;
  unsigned flops = 0, elements = 1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(in->row->opcode, rows[i].opcode) == 0) flops = rows[i].flops;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (has_mod(s, pairs[i])) elements = 2;
  return flops * elements;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static int by_line(const void *a, const void *b) {
  const tf_sim_line *x = a, *y = b;
  if (x->file != y->file) {
    if (!x->file || !y->file) return x->file ? 1 : -1;
    int c = strcmp(x->file, y->file);
    if (c) return c;
  }
  return (x->line > y->line) - (x->line < y->line);
}

/* Neighbours of one line become one. */
static void merge_lines(tf_sim_breakdown *b) {
  size_t n = 0;
  qsort(b->lines, b->line_count, sizeof *b->lines, by_line);
  for (size_t i = 0; i < b->line_count; i++) {
    if (n && by_line(&b->lines[n - 1], &b->lines[i]) == 0)
      tf_sim_tally_add(&b->lines[n - 1].tally, &b->lines[i].tally);
    else
      b->lines[n++] = b->lines[i];
  }
  b->line_count = n;
}

static bool is_zero(const tf_sim_tally *t) {
  static const tf_sim_tally zero;
  return memcmp(t, &zero, sizeof zero) == 0;
}

static bool add_line(held_breakdown *h, const tf_module *m, const tf_insn *in, const tf_sim_tally *t) {
  tf_sim_line *line = &h->b.lines[h->b.line_count++];
  *line = (tf_sim_line){.tally = *t};
  (void)tf_module_location(m, in->loc, &line->file, &line->line);
  if (!line->file) line->line = in->line;
  return true;
}

/* ---- Matrix instructions ----------------------------------------------------------------------------------------- */

static bool is_shape(const char *mod) {
  return mod[0] == 'm' && mod[1] >= '0' && mod[1] <= '9';
}

static bool is_element(const char *mod) {
  static const char *const types[] = {
#define T(name, ...) #name,
#include "Sim/Ptx/Types.def"
#undef T
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i], mod) == 0) return true;
  return false;
}

/* "m16n8k16 f32.bf16.bf16.f32". wmma writes no element types for f16 products, only those of D and C. */
static void name_mma(const tf_ptx_stmt *s, char *name, size_t size, const char **type) {
  const char *types[4] = {0}, *shape = "";
  unsigned n = 0;
  for (uint32_t i = 0; i < s->mod_count; i++) {
    if (is_shape(s->mods[i])) shape = s->mods[i];
    if (is_element(s->mods[i]) && n < 4) types[n++] = s->mods[i];
  }
  *type = n == 4 ? types[1] : "f16";
  if (n == 4)
    (void)snprintf(name, size, "%s %s.%s.%s.%s", shape, types[0], types[1], types[2], types[3]);
  else
    (void)snprintf(name, size, "%s %s.f16.f16.%s", shape, n ? types[0] : "f32", n > 1 ? types[1] : "f32");
}

static bool add_mma(held_breakdown *h, const tf_ptx_stmt *s, const tf_sim_tally *t) {
  char name[96];
  const char *type;
  tf_sim_breakdown *b = &h->b;
  name_mma(s, name, sizeof name, &type);
  for (size_t i = 0; i < b->mma_count; i++)
    if (strcmp(b->mmas[i].name, name) == 0) {
      b->mmas[i].count += t->mma;
      b->mmas[i].flops += t->mma_flops;
      return true;
    }
  tf_sim_mma *made = &b->mmas[b->mma_count++];
  *made = (tf_sim_mma){.count = t->mma, .flops = t->mma_flops};
  made->name = tf_pool_text(&h->pool, name, strlen(name));
  made->type = tf_pool_text(&h->pool, type, strlen(type));
  return made->name && made->type;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const tf_sim_mma *)a)->name, ((const tf_sim_mma *)b)->name);
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

static uint64_t count_bits(const unsigned char *bits, size_t bytes) {
  uint64_t n = 0;
  for (size_t i = 0; bits && i < bytes; i++)
    n += (unsigned)__builtin_popcount(bits[i]);
  return n;
}

static bool add_buffers(held_breakdown *h, const tf_launch *l, const tf_worker *workers, unsigned count) {
  for (size_t i = 0; i < l->buffer_count; i++) {
    const tf_count_buffer *from = &l->buffers[i];
    tf_sim_buffer b = {.address = from->alloc->lo, .bytes = from->alloc->bytes};
    for (unsigned k = 0; k < count; k++) {
      b.bytes_read += workers[k].buffer_bytes[2 * i];
      b.bytes_written += workers[k].buffer_bytes[2 * i + 1];
    }
    if (!b.bytes_read && !b.bytes_written) continue;
    b.sectors_read = count_bits(from->touched[0], tf_count_bitmap_bytes(from->alloc));
    b.sectors_written = count_bits(from->touched[1], tf_count_bitmap_bytes(from->alloc));
    b.name = tf_launch_buffer_name(l, from->alloc);
    if (b.name && !(b.name = tf_pool_text(&h->pool, b.name, strlen(b.name)))) return false;
    h->b.buffers[h->b.buffer_count++] = b;
  }
  return true;
}

/* ---- Everything -------------------------------------------------------------------------------------------------- */

static bool take_instruction(held_breakdown *h, const tf_module *m, const tf_func *f, uint32_t site, tf_sim_tally *t,
                             tf_sim_counters *sum) {
  const tf_insn *in = &f->code[site];
  if (is_zero(t)) return true;
  t->flops = t->lane_instructions * flops_of(in, f->stmts[site]);
  sum->by_class[in->cls] += t->warp_instructions;
  tf_sim_tally_add(sum, t);
  return add_line(h, m, in, t) && (!t->mma || add_mma(h, f->stmts[site], t));
}

static held_breakdown *new_breakdown(const tf_launch *l) {
  held_breakdown *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  h->b.lines = tf_pool_alloc(&h->pool, l->tally_count * sizeof *h->b.lines);
  h->b.mmas = tf_pool_alloc(&h->pool, l->tally_count * sizeof *h->b.mmas);
  h->b.buffers = tf_pool_alloc(&h->pool, (l->buffer_count + 1) * sizeof *h->b.buffers);
  if (h->b.lines && h->b.mmas && h->b.buffers) return h;
  tf_sim_breakdown_free(&h->b);
  return NULL;
}

/* The files' names are the module's until here. */
static bool keep_files(held_breakdown *h) {
  const char *last = NULL, *copy = NULL;
  for (size_t i = 0; i < h->b.line_count; i++) {
    tf_sim_line *line = &h->b.lines[i];
    if (!line->file) continue;
    if (line->file != last) {
      last = line->file;
      copy = tf_pool_text(&h->pool, last, strlen(last));
    }
    if (!copy) return false;
    line->file = copy;
  }
  return true;
}

bool tf_count_launch_end(tf_launch *l, tf_worker *workers, unsigned count, tf_sim_report *out) {
  const tf_module *m = l->module;
  held_breakdown *h = new_breakdown(l);
  bool ok = h != NULL;
  for (unsigned i = 1; i < count; i++)
    for (size_t k = 0; k < l->tally_count; k++)
      tf_sim_tally_add(&workers[0].tally[k], &workers[i].tally[k]);
  for (uint32_t i = 0; i < m->func_count && ok; i++)
    for (uint32_t site = 0; site < m->funcs[i]->count && ok; site++)
      ok =
          take_instruction(h, m, m->funcs[i], site, &workers[0].tally[m->funcs[i]->first_tally + site], &out->counters);
  tf_sim_tally_add(&out->counters, &workers[0].tally[l->tally_count - 1]);
  if (ok) merge_lines(&h->b);
  ok = ok && keep_files(h) && add_buffers(h, l, workers, count);
  if (ok) qsort(h->b.mmas, h->b.mma_count, sizeof *h->b.mmas, by_name);
  if (ok)
    out->breakdown = &h->b;
  else if (h)
    tf_sim_breakdown_free(&h->b);
  return ok;
}

void tf_sim_breakdown_free(tf_sim_breakdown *breakdown) {
  if (!breakdown) return;
  held_breakdown *h = (held_breakdown *)(void *)breakdown;
  tf_pool_free(&h->pool);
  free(h);
}
