/* Finding the row of a statement: its modifiers against the rows' slots, left to right. */
#include "Sim/Decode/Decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool tf_decode_fail(tf_decoder *d, const char *token, const char *format, ...) {
  char text[320];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return tf_ptx_fail(d->error, d->stmt ? d->stmt->line : d->ptx->line, token, strlen(token), "%s", text);
}

bool tf_decode_no_memory(tf_decoder *d) {
  d->error->out_of_memory = true;
  return tf_decode_fail(d, "", "out of memory");
}

bool tf_form_has(const tf_form *form, const char *mod) {
  for (unsigned i = 0; i < form->slot_count; i++)
    if (form->mods[i] && strcmp(form->mods[i], mod) == 0) return true;
  return false;
}

int tf_form_pick(const tf_form *form, unsigned slot, const char *const *list) {
  for (int i = 0; form->mods[slot] && list[i]; i++)
    if (strcmp(form->mods[slot], list[i]) == 0) return i;
  return -1;
}

const tf_row *const *tf_row_find(const tf_device *device, const char *opcode, size_t *count) {
  size_t lo = 0, hi = device->row_count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (strcmp(device->rows[mid]->opcode, opcode) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  size_t end = lo;
  while (end < device->row_count && strcmp(device->rows[end]->opcode, opcode) == 0)
    end++;
  *count = end - lo;
  return *count ? &device->rows[lo] : NULL;
}

/* One slot of a pattern: [text, text+length), optional with a trailing '?'. */
typedef struct slot {
  const char *text;
  size_t length;
  bool optional;
} slot;

static slot next_slot(const char **at) {
  while (**at == ' ')
    ++*at;
  slot s = {.text = *at};
  while (**at && **at != ' ')
    ++*at;
  s.length = (size_t)(*at - s.text);
  s.optional = s.length && s.text[s.length - 1] == '?';
  if (s.optional) s.length--;
  return s;
}

static bool slot_has(slot s, const char *mod) {
  size_t n = strlen(mod);
  for (const char *p = s.text, *end = s.text + s.length; p < end;) {
    const char *bar = memchr(p, '|', (size_t)(end - p));
    size_t length = (size_t)((bar ? bar : end) - p);
    if (length == n && memcmp(p, mod, n) == 0) return true;
    p += length + 1;
  }
  return false;
}

/* True when all modifiers fit; else *reached is how many did and *expected the slot that refused the next one. */
static bool match_mods(const tf_row *row, const tf_ptx_stmt *stmt, tf_form *form, uint32_t *reached, slot *expected) {
  const char *at = row->mods;
  *form = (tf_form){.row = row};
  for (*reached = 0;;) {
    slot s = next_slot(&at);
    if (s.length == 0) {
      expected->length = 0;
      return *reached == stmt->mod_count;
    }
    const char *mod = *reached < stmt->mod_count ? stmt->mods[*reached] : NULL;
    bool here = mod && slot_has(s, mod);
    *expected = s;
    if (!here && !s.optional) return false;
    if (form->slot_count == TF_FORM_MODS) return false;
    form->mods[form->slot_count++] = here ? mod : NULL;
    if (!here) continue;
    tf_type type = tf_type_from_name(mod, strlen(mod));
    if (type != TF_T_NONE && form->type_count < TF_FORM_TYPES) form->types[form->type_count++] = type;
    ++*reached;
  }
}

static bool fail_mods(tf_decoder *d, uint32_t reached, slot expected) {
  const tf_ptx_stmt *s = d->stmt;
  char token[80];
  if (reached < s->mod_count)
    (void)snprintf(token, sizeof token, ".%s", s->mods[reached]);
  else
    (void)snprintf(token, sizeof token, "%s", s->opcode);
  int n = expected.length > 160 ? 160 : (int)expected.length;
  if (reached < s->mod_count && n == 0)
    return tf_decode_fail(d, token, "modifier '%s' is not legal on '%s' here", token, s->opcode);
  if (reached < s->mod_count)
    return tf_decode_fail(d, token, "modifier '%s' is not legal on '%s' here; expected one of %.*s", token, s->opcode,
                          n, expected.text);
  return tf_decode_fail(d, token, "'%s' lacks a modifier: one of %.*s", s->opcode, n, expected.text);
}

static bool check_needs(tf_decoder *d, const char *what, unsigned isa, unsigned sm) {
  const tf_ptx_module *m = d->module->ptx;
  if (m->version < isa)
    return tf_decode_fail(d, d->stmt->opcode, "%s needs .version %u.%u, the module has %u.%u", what, isa / 10, isa % 10,
                          m->version / 10, m->version % 10);
  if (m->target < sm)
    return tf_decode_fail(d, d->stmt->opcode, "%s needs .target sm_%u, the module has %s", what, sm, m->target_name);
  return true;
}

/* True when the statement's modifiers begin with those of `first`. */
static bool begins(const tf_ptx_stmt *s, const char *first) {
  for (uint32_t i = 0;; i++) {
    slot want = next_slot(&first);
    if (want.length == 0) return true;
    if (i == s->mod_count || !slot_has(want, s->mods[i])) return false;
  }
}

/* Modifiers that are younger than the rows they stand in. */
static bool check_modifiers(tf_decoder *d, const tf_row *row) {
  static const struct {
    const char *opcodes, *first, *modifier;
    unsigned isa, sm;
  } young[] = {
#define M(opcodes, first, modifier, isa, sm) {opcodes, first, modifier, isa, sm},
#include "Sim/Decode/Modifiers.def"
#undef M
  };
  bool memory = row->cls == TF_CLASS_MEMORY || row->cls == TF_CLASS_ATOMIC;
  char what[96];
  for (size_t i = 0; i < sizeof young / sizeof *young; i++) {
    const char *of = young[i].opcodes;
    bool meant = *of ? slot_has((slot){of, strlen(of), false}, row->opcode) : memory;
    if (!meant || !tf_form_has(&d->form, young[i].modifier) || !begins(d->stmt, young[i].first)) continue;
    (void)snprintf(what, sizeof what, "'.%s' on '%s'", young[i].modifier, row->opcode);
    if (!check_needs(d, what, young[i].isa, young[i].sm)) return false;
  }
  return true;
}

static bool check_version(tf_decoder *d, const tf_row *row) {
  const tf_ptx_module *m = d->module->ptx;
  char what[96];
  (void)snprintf(what, sizeof what, "this form of '%s'", row->opcode);
  if (!check_needs(d, what, row->isa, row->sm)) return false;
  if ((row->flags & TF_INSN_UNSYNC) && m->version > 63 && m->target >= 70)
    return tf_decode_fail(d, row->opcode, "'%s' without .sync ended with PTX 6.3 for sm_70 and younger targets",
                          row->opcode);
  if ((row->flags & TF_INSN_EXACT) && m->target_suffix != 'a')
    return tf_decode_fail(d, row->opcode, "'%s' needs a target of one architecture such as sm_90a, the module has %s",
                          row->opcode, m->target_name);
  return check_modifiers(d, row);
}

static bool try_row(tf_decoder *d, const tf_row *row, bool *mismatch) {
  d->form.in = &d->insn;
  d->form.width = d->widths;
  if (!tf_decode_operands(d, row, mismatch)) return false;
  if (!check_version(d, row)) return false;
  d->insn.row = row;
  d->insn.cls = row->cls;
  d->insn.kind = row->flags & TF_INSN_CONTROL  ? TF_KIND_CONTROL
                 : row->flags & TF_INSN_GATHER ? TF_KIND_GATHER
                                               : TF_KIND_PLAIN;
  d->insn.run = row->select(&d->form);
  if (d->insn.run) return true;
  return tf_decode_fail(d, row->opcode, "%s",
                        d->form.refusal ? d->form.refusal : "this combination of modifiers and operands is not legal");
}

/* Real instructions that this device does not run are told apart from misspelt ones. */
static bool refuse_known(tf_decoder *d) {
  static const struct {
    const char *opcode, *first, *what;
  } known[] = {
#define U(opcode, first, what) {opcode, first, what},
#include "Sim/Decode/Unsupported.def"
#undef U
  };
  const tf_ptx_stmt *s = d->stmt;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].opcode, s->opcode) != 0 || !begins(s, known[i].first)) continue;
    char name[80];
    int n = snprintf(name, sizeof name, "%s", s->opcode);
    for (const char *p = known[i].first; n > 0 && (size_t)n < sizeof name - 2 && *p; p++) {
      if (p == known[i].first) name[n++] = '.';
      name[n++] = *p == ' ' ? '.' : *p;
      name[n] = '\0';
    }
    d->error->unsupported = true;
    return tf_decode_fail(d, name, "'%s' (%s) is not supported by the simulated device", name, known[i].what);
  }
  return true;
}

static bool in_reach(const tf_decoder *d, const tf_row *row) {
  return d->module->ptx->version >= row->isa && d->module->ptx->target >= row->sm;
}

/* Of two rows for one form the module takes the one it is new enough for; rows that it is too old for come last, to say
 * so. */
bool tf_decode_match(tf_decoder *d) {
  size_t count;
  if (!refuse_known(d)) return false;
  const tf_row *const *rows = tf_row_find(d->module->device, d->stmt->opcode, &count);
  if (!rows) return tf_decode_fail(d, d->stmt->opcode, "unknown instruction '%s'", d->stmt->opcode);
  uint32_t best = 0, reached;
  slot expected = {0}, best_slot = {0};
  bool matched = false;
  const char *pattern = "";
  for (size_t turn = 0; turn < 2 * count; turn++) {
    size_t i = turn % count;
    if (in_reach(d, rows[i]) != (turn < count)) continue;
    if (!match_mods(rows[i], d->stmt, &d->form, &reached, &expected)) {
      if (reached >= best) best = reached, best_slot = expected;
      continue;
    }
    matched = true;
    pattern = rows[i]->operands;
    if (rows[i]->flags & TF_INSN_CALL) return tf_decode_call(d);
    if (rows[i]->flags & TF_INSN_BRX) return tf_decode_brx(d);
    bool mismatch = false;
    if (try_row(d, rows[i], &mismatch)) return true;
    if (!mismatch) return false;
  }
  if (!matched) return fail_mods(d, best, best_slot);
  unsigned least, most = tf_operands_expected(pattern, tf_form_has(&d->form, "L2::cache_hint"), &least);
  if (d->stmt->operand_count >= least && d->stmt->operand_count <= most)
    return tf_decode_fail(d, d->stmt->opcode, "'%s' takes operands of other kinds here (%s)", d->stmt->opcode, pattern);
  return tf_decode_fail(d, d->stmt->opcode, "'%s' takes %u%s operands here, %u given", d->stmt->opcode, least,
                        most > least ? " or more" : "", d->stmt->operand_count);
}
