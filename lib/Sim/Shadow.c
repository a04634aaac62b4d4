/* Pages of the race checker's shadow; see Shadow.h. */
#include "Sim/Shadow.h"

#include <stdlib.h>
#include <string.h>

static uint32_t refs_of(unsigned shift) {
  return (uint32_t)(TF_SHADOW_PAGE >> shift) * (shift ? 4u : 2u);
}

static size_t page_bytes(const tf_shadow_page *p) {
  return sizeof *p + p->count * sizeof *p->refs;
}

static tf_shadow_page *new_page(tf_shadow_use *use, uint64_t number, unsigned shift) {
  uint32_t count = refs_of(shift);
  tf_shadow_page *p = calloc(1, sizeof *p + count * sizeof *p->refs);
  if (!p) return NULL;
  p->number = number;
  p->shift = shift;
  p->count = count;
  use->cell_bytes += count * sizeof *p->refs;
  return p;
}

static size_t slot_of(const tf_shadow *s, uint64_t number) {
  size_t at = (size_t)(number * 0x9E3779B97F4A7C15u >> 20) & (s->size - 1);
  while (s->table[at] && s->table[at]->number != number)
    at = (at + 1) & (s->size - 1);
  return at;
}

static bool grow(tf_shadow *s) {
  if (s->count * 2 < s->size) return true;
  tf_shadow old = *s;
  s->size = old.size ? old.size * 2 : 16;
  s->table = calloc(s->size, sizeof(tf_shadow_page *));
  if (!s->table) {
    *s = old;
    return false;
  }
  for (size_t i = 0; i < old.size; i++)
    if (old.table[i]) s->table[slot_of(s, old.table[i]->number)] = old.table[i];
  free(old.table);
  return true;
}

/* The same page with narrower cells: each is what the wide one was. */
static tf_shadow_page *split(tf_shadow_use *use, const tf_shadow_page *p, unsigned shift) {
  tf_shadow_page *n = new_page(use, p->number, shift);
  if (!n) return NULL;
  unsigned from = tf_cell_refs(p), to = tf_cell_refs(n);
  for (uint32_t i = 0; i < n->count / to; i++) {
    const tf_ref *c = p->refs + (size_t)(i >> (p->shift - shift)) * from;
    memcpy(n->refs + (size_t)i * to, c, to * sizeof *c);
  }
  return n;
}

tf_shadow_page *tf_shadow_find(tf_shadow *s, tf_shadow_use *use, uint64_t number, unsigned shift) {
  if (!grow(s)) return NULL;
  tf_shadow_page **slot = &s->table[slot_of(s, number)], *p = *slot;
  if (!p) {
    *slot = p = new_page(use, number, shift);
    if (!p) return NULL;
    s->count++;
    use->pages++;
  } else if (p->shift > shift) {
    tf_shadow_page *n = split(use, p, shift);
    if (!n) return NULL;
    use->cell_bytes -= p->count * sizeof *p->refs;
    free(p);
    *slot = p = n;
  }
  s->last = p;
  return p;
}

void tf_shadow_free(tf_shadow *s, tf_shadow_use *use) {
  for (size_t i = 0; i < s->size; i++) {
    if (!s->table[i]) continue;
    use->cell_bytes -= page_bytes(s->table[i]) - sizeof *s->table[i];
    use->pages--;
    free(s->table[i]);
  }
  free(s->table);
  *s = (tf_shadow){0};
}
