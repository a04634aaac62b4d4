/* Forms are numbered through the families, rows, slots and alternatives in table order, so that every program built from
 * one table agrees on the numbers. */
#include "Coverage.h"

#include "Sim/Module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 14 };
static unsigned char seen[MOST];

/* ---- Patterns ---- */
/* The next word of *at, up to any of `stops`; false at the end. */
static bool word(const char **at, const char *stops, const char **text, size_t *length) {
  *at += strspn(*at, stops);
  *text = *at;
  *length = strcspn(*at, stops);
  *at += *length;
  return *length > 0;
}

static size_t forms_of(const tf_row *row) {
  size_t n = 1;
  const char *text;
  size_t length;
  for (const char *at = row->mods; word(&at, " |?!", &text, &length);)
    n++;
  return n;
}

/* Index of the statement's first modifier that no slot has taken and that is among the slot's alternatives. */
static uint32_t taken_by(const tf_ptx_stmt *s, const char *slot, size_t slot_length, uint32_t used) {
  const char *text;
  size_t length;
  for (uint32_t i = 0; i < s->mod_count; i++)
    for (const char *p = slot; !(used >> i & 1) && p < slot + slot_length && *p != '?' && *p != '!';) {
      (void)word(&p, " |?!", &text, &length);
      if (strlen(s->mods[i]) == length && memcmp(s->mods[i], text, length) == 0) return i;
    }
  return UINT32_MAX;
}

/* Marks the row at `form` and, behind it, the alternatives that the modifiers choose. False if they do not fit it. */
static bool mark(const tf_row *row, const tf_ptx_stmt *s, unsigned char *form) {
  const char *at = row->mods, *slot, *text;
  size_t slot_length, length;
  uint32_t used = 0;
  unsigned char hit[256] = {1};
  size_t n = 1;
  while (word(&at, " ", &slot, &slot_length)) {
    uint32_t mod = taken_by(s, slot, slot_length, used);
    for (const char *p = slot; p < slot + slot_length && *p != '?' && *p != '!'; n++) {
      (void)word(&p, " |?!", &text, &length);
      hit[n] = mod != UINT32_MAX && strlen(s->mods[mod]) == length && memcmp(s->mods[mod], text, length) == 0;
    }
    if (mod != UINT32_MAX) used |= 1u << mod;
    if (mod == UINT32_MAX && !memchr(slot, '?', slot_length)) return false;
  }
  if (used != (1u << s->mod_count) - 1) return false;
  for (size_t i = 0; i < n; i++)
    form[i] |= hit[i];
  return true;
}

/* ---- Rows ---- */
/* Number of the row's first form. Rows of either CPU variant have the same number. */
static size_t first_form(const tf_row *row) {
  size_t at = 0;
  for (int f = 0; tf_families(true)[f]; f++) {
    const tf_family *a = tf_families(true)[f], *b = tf_families(false)[f];
    for (size_t i = 0; i < a->count; i++) {
      if (row == &a->rows[i] || row == &b->rows[i]) return at;
      at += forms_of(&a->rows[i]);
    }
  }
  abort(); /* a row of no family */
}

static void save(void) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%ld.forms", getenv("TF_SIM_COVERAGE"), (long)getpid());
  FILE *f = fopen(path, "wb");
  if (!f) return;
  (void)fwrite(seen, 1, sizeof seen, f);
  (void)fclose(f);
}

void coverage_note(const tf_sim_module *module) {
  static bool registered;
  if (!getenv("TF_SIM_COVERAGE")) return;
  if (!registered) registered = atexit(save) == 0;
  for (uint32_t i = 0; i < module->func_count; i++) {
    const tf_func *f = module->funcs[i];
    size_t s = 0;
    for (uint32_t k = 0; k < f->count && s < f->ptx->stmt_count; k++) {
      const tf_row *row = f->code[k].row;
      if (!row) continue;
      size_t at = first_form(row);
      if (row->opcode[0] == '%')
        seen[at] = 1; /* the read of a clock, which a statement brings along */
      else if (!mark(row, &f->ptx->stmts[s++], seen + at))
        abort(); /* statements and instructions have come apart */
    }
  }
}

bool coverage_read(const char *path) {
  static unsigned char bytes[MOST];
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  bool whole = fread(bytes, 1, sizeof bytes, f) == sizeof bytes;
  (void)fclose(f);
  for (size_t i = 0; whole && i < sizeof bytes; i++)
    seen[i] |= bytes[i];
  return whole;
}

size_t coverage_missing(void (*each)(const char *form), size_t *all) {
  size_t at = 0, missing = 0;
  char line[768];
  for (int f = 0; tf_families(true)[f]; f++)
    for (size_t i = 0; i < tf_families(true)[f]->count; i++) {
      const tf_row *row = &tf_families(true)[f]->rows[i];
      const char *p = row->mods, *text;
      size_t length, n = forms_of(row);
      for (size_t k = 0; k < n; k++, at++) {
        bool named = k && word(&p, " |?!", &text, &length);
        if (at < MOST && seen[at]) continue;
        (void)snprintf(line, sizeof line, "%s: %s %s (%s)%s%.*s", tf_families(true)[f]->name, row->opcode, row->mods,
                       row->operands, named ? ": ." : "", named ? (int)length : 0, named ? text : "");
        each(line);
        missing++;
      }
    }
  *all = at;
  return missing;
}
