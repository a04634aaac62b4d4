/* Finding the row of a statement: each slot of a row takes one of its modifiers. */
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

/* One slot of a pattern: [text, text+length), optional with a trailing '?', part of the opcode with a trailing '!'. */
typedef struct slot {
  const char *text;
  size_t length;
  bool optional, name;
} slot;

static slot next_slot(const char **at) {
  while (**at == ' ')
    ++*at;
  slot s = {.text = *at};
  while (**at && **at != ' ')
    ++*at;
  const char *end = *at;
  s.name = end > s.text && end[-1] == '!';
  end -= s.name;
  s.optional = end > s.text && end[-1] == '?';
  s.length = (size_t)(end - s.optional - s.text);
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

/* Modifiers of one of these kinds keep their order among themselves; otherwise any order says the same. */
typedef enum kind { KIND_OTHER, KIND_TYPE, KIND_SPACE, KIND_LAYOUT } kind;

/* The statement's modifiers, looked up once for all rows. */
typedef struct spelling {
  const tf_ptx_stmt *stmt;
  kind kinds[TF_PTX_MODS];
  tf_type types[TF_PTX_MODS]; /* TF_T_NONE where it is no type */
} spelling;

static kind kind_of(const char *mod, tf_type type) {
  static const char spaces[] = "global|shared|shared::cta|shared::cluster|local|const|param|param::entry|param::func";
  if (type != TF_T_NONE) return KIND_TYPE;
  if (slot_has((slot){.text = spaces, .length = sizeof spaces - 1}, mod)) return KIND_SPACE;
  return strcmp(mod, "row") == 0 || strcmp(mod, "col") == 0 ? KIND_LAYOUT : KIND_OTHER;
}

static void spell(const tf_ptx_stmt *stmt, spelling *out) {
  out->stmt = stmt;
  for (uint32_t i = 0; i < stmt->mod_count; i++) {
    out->types[i] = tf_type_from_name(stmt->mods[i], strlen(stmt->mods[i]));
    out->kinds[i] = kind_of(stmt->mods[i], out->types[i]);
  }
}

/* Index of the modifier that the slot takes; one whose kind has an order is not passed over. */
static uint32_t take_mod(const spelling *m, slot s, uint32_t used) {
  uint32_t passed = 0;
  for (uint32_t i = 0; i < m->stmt->mod_count; i++) {
    if (used >> i & 1) continue;
    if (s.name && used != (1u << i) - 1) break;
    if (slot_has(s, m->stmt->mods[i]) && !(passed >> m->kinds[i] & 1)) return i;
    if (m->kinds[i] != KIND_OTHER) passed |= 1u << m->kinds[i];
  }
  return UINT32_MAX;
}

/* Index of the first modifier that did not fit. */
static uint32_t first_left(uint32_t used) {
  return (uint32_t)__builtin_ctz(~used);
}

/* True when all modifiers fit; else *used are those that did and *expected the first slot that needs one more. */
static bool match_mods(const tf_row *row, const spelling *m, tf_form *form, uint32_t *used, slot *expected) {
  const char *at = row->mods;
  *form = (tf_form){.row = row};
  *used = 0;
  *expected = (slot){0};
  bool fits = true;
  for (slot s = next_slot(&at); s.length; s = next_slot(&at)) {
    uint32_t i = take_mod(m, s, *used);
    bool here = i != UINT32_MAX;
    if (!here && !s.optional && fits) *expected = s;
    fits &= here || s.optional;
    if (form->slot_count == TF_FORM_MODS) return false;
    form->mods[form->slot_count++] = here ? m->stmt->mods[i] : NULL;
    if (!here) continue;
    if (m->types[i] != TF_T_NONE && form->type_count < TF_FORM_TYPES) form->types[form->type_count++] = m->types[i];
    *used |= 1u << i;
  }
  return fits && *used == (1u << m->stmt->mod_count) - 1;
}

static bool fail_mods(tf_decoder *d, uint32_t used, slot expected) {
  const tf_ptx_stmt *s = d->stmt;
  uint32_t reached = first_left(used);
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

/* True when the statement has the modifiers. */
static bool has_all(const tf_ptx_stmt *s, const char *mods) {
  for (;;) {
    slot want = next_slot(&mods);
    if (want.length == 0) return true;
    uint32_t i = 0;
    while (i < s->mod_count && !slot_has(want, s->mods[i]))
      i++;
    if (i == s->mod_count) return false;
  }
}

/* Modifiers that are younger than the rows they stand in. */
static bool check_modifiers(tf_decoder *d, const tf_row *row) {
  static const struct {
    const char *opcodes, *with, *modifier;
    unsigned isa, sm;
  } young[] = {
#define M(opcodes, with, modifier, isa, sm) {opcodes, with, modifier, isa, sm},
#define X(opcodes, these, those)
#define N(opcodes, these, those)
#include "Sim/Decode/Modifiers.def"
#undef M
#undef X
#undef N
  };
  bool memory = row->cls == TF_CLASS_MEMORY || row->cls == TF_CLASS_ATOMIC;
  char what[96];
  for (size_t i = 0; i < sizeof young / sizeof *young; i++) {
    const char *of = young[i].opcodes;
    bool meant = *of ? slot_has((slot){.text = of, .length = strlen(of)}, row->opcode) : memory;
    if (!meant || !tf_form_has(&d->form, young[i].modifier) || !has_all(d->stmt, young[i].with)) continue;
    (void)snprintf(what, sizeof what, "'.%s' on '%s'", young[i].modifier, row->opcode);
    if (!check_needs(d, what, young[i].isa, young[i].sm)) return false;
  }
  return true;
}

/* The first of the statement's modifiers that is one of these, or null. */
static const char *one_of(const tf_ptx_stmt *s, const char *these) {
  slot set = {.text = these, .length = strlen(these)};
  for (uint32_t i = 0; i < s->mod_count; i++)
    if (slot_has(set, s->mods[i])) return s->mods[i];
  return NULL;
}

/* Modifiers that exclude or need each other. */
static bool check_company(tf_decoder *d, const tf_row *row) {
  static const struct {
    const char *opcodes, *these, *those;
    bool needs;
  } rules[] = {
#define M(opcodes, with, modifier, isa, sm)
#define X(opcodes, these, those) {opcodes, these, those, false},
#define N(opcodes, these, those) {opcodes, these, those, true},
#include "Sim/Decode/Modifiers.def"
#undef M
#undef X
#undef N
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (!slot_has((slot){.text = rules[i].opcodes, .length = strlen(rules[i].opcodes)}, row->opcode)) continue;
    const char *one = one_of(d->stmt, rules[i].these), *other = one ? one_of(d->stmt, rules[i].those) : NULL;
    if (!one || !other == !rules[i].needs) continue;
    char token[80];
    (void)snprintf(token, sizeof token, ".%s", one);
    if (other) return tf_decode_fail(d, token, "'.%s' and '.%s' exclude each other on '%s'", one, other, row->opcode);
    return tf_decode_fail(d, token, "'.%s' on '%s' needs one of %s", one, row->opcode, rules[i].those);
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
  if ((row->flags & TF_INSN_KIN) && m->target / 10 != row->sm / 10)
    return tf_decode_fail(d, row->opcode, "this form of '%s' is of sm_%ua and its family, the module has %s",
                          row->opcode, row->sm, m->target_name);
  return check_modifiers(d, row) && check_company(d, row);
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
    const char *opcode, *with, *what;
  } known[] = {
#define U(opcode, with, what) {opcode, with, what},
#include "Sim/Decode/Unsupported.def"
#undef U
  };
  const tf_ptx_stmt *s = d->stmt;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].opcode, s->opcode) != 0 || !has_all(s, known[i].with)) continue;
    char name[80];
    int n = snprintf(name, sizeof name, "%s", s->opcode);
    for (const char *p = known[i].with; n > 0 && (size_t)n < sizeof name - 2 && *p; p++) {
      if (p == known[i].with) name[n++] = '.';
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
  spelling mods;
  spell(d->stmt, &mods);
  uint32_t best = 0, used;
  slot expected = {0}, best_slot = {0};
  bool matched = false, tried = false;
  const char *pattern = "";
  for (size_t turn = 0; turn < 2 * count; turn++) {
    size_t i = turn % count;
    if (in_reach(d, rows[i]) != (turn < count)) continue;
    if (!match_mods(rows[i], &mods, &d->form, &used, &expected)) {
      if (!tried || first_left(used) >= first_left(best)) best = used, best_slot = expected;
      tried = true;
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
