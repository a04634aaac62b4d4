/* Three steps: a row becomes forms (Expand), forms become kernels and results (Run), results meet expectations (Check). */
#include "Vectors.h"

#include "Exact.h"
#include "Operands.h"
#include "PtxTexts.h"
#include "RunPtx.h"
#include "Sim/Sim.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool vec_has(const vec_form *f, const char *mod) {
  for (unsigned i = 0; i < f->mod_count; i++)
    if (strcmp(f->mods[i], mod) == 0) return true;
  return false;
}

int vec_pick(const vec_form *f, const char *const *list) {
  for (int i = 0; list[i]; i++)
    if (vec_has(f, list[i])) return i;
  return -1;
}

unsigned vec_bits(const char *type) {
  if (strcmp(type, "pred") == 0) return 0;
  if (strcmp(type, "tf32") == 0) return 32;
  if (strcmp(type, "e2m1x2") == 0) return 8;
  if (type[0] == 'e' || strcmp(type, "ue8m0x2") == 0) return 16; /* pairs of bytes */
  return (unsigned)atoi(type + strcspn(type, "0123456789")) * (strstr(type, "x2") ? 2 : 1);
}

/* ---- Expand ---- */
typedef struct forms {
  vec_form *at;
  size_t count, room;
} forms;

static vec_form *add(forms *list, const vec_form *f) {
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 64;
    list->at = realloc(list->at, list->room * sizeof *list->at);
    ck_assert_ptr_nonnull(list->at);
  }
  list->at[list->count] = *f;
  return &list->at[list->count++];
}

static bool is_type(const char *mod) {
  static const char *const names[] = {"u8",    "s8",     "b8",     "u16",    "s16",    "b16",    "u32",    "s32",
                                      "b32",   "u64",    "s64",    "b64",    "f16",    "bf16",   "f32",    "f64",
                                      "f16x2", "bf16x2", "u4",     "s4",     "u16x2",  "s16x2",  "f32x2",  "tf32",
                                      "pred",  "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2", "ue8m0x2"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], mod) == 0) return true;
  return false;
}

/* "d0", "sw0", "su32": the type that the pattern means, doubled after w. */
static void operand_type(const vec_form *f, const char *pattern, char out[8]) {
  const char *p = pattern + 1;
  bool twice = *p == 'w';
  p += *p == 'w' || *p == 'r';
  const char *type = *p == 'p' ? "pred" : *p >= '0' && *p <= '9' ? f->types[*p - '0'] : p;
  size_t length = strcspn(type, "|? ");
  if (twice)
    (void)snprintf(out, 8, "%c%u", type[0], 2 * vec_bits(type));
  else
    (void)snprintf(out, 8, "%.*s", (int)length, type);
}

static const char *const registers[VEC_SOURCES] = {"%a", "%b", "%c", "%e"}, *const predicates[VEC_SOURCES] = {
                                                                                "%pa", "%pb", "%pc", "%pe"};

/* Registers have at least 16 bits; `wide` asks for wider ones where the pattern allows it. */
static unsigned register_bits(const char *type, bool may_widen, unsigned wide) {
  unsigned bits = vec_bits(type);
  if (bits && bits < 16) bits = 16;
  return may_widen && wide > bits ? wide : bits;
}

static void set_destination(vec_form *f, const char *pattern, unsigned wide) {
  char type[8];
  operand_type(f, pattern, type);
  f->width = register_bits(type, pattern[1] == 'r', wide);
  const char *first = f->width ? "%d" : "%t0", *second = f->width ? "|%t0" : "|%t1";
  (void)snprintf(f->text, sizeof f->text, "%s%s", first, f->paired ? second : "");
}

static void add_operand(vec_form *f, const char *pattern, unsigned wide) {
  size_t n = strlen(f->text);
  if (pattern[0] == 'i') {
    (void)snprintf(f->text + n, sizeof f->text - n, ", %d", f->immediate);
    return;
  }
  unsigned i = f->source_count++;
  ck_assert_uint_lt(i, VEC_SOURCES);
  operand_type(f, pattern, f->of_type[i]);
  f->source[i] = register_bits(f->of_type[i], pattern[1] == 'r', wide);
  (void)snprintf(f->text + n, sizeof f->text - n, ", %s%s", !f->source[i] && f->negated ? "!" : "",
                 f->source[i] ? registers[i] : predicates[i]);
}

static char rounding_of(const vec_form *f) {
  static const char *const modes[] = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", NULL};
  int i = vec_pick(f, modes);
  return vec_has(f, "rna") ? 'a' : i < 0 ? 'n' : modes[i][1];
}

/* Registers of 8 bits are for moving only: what has one gets it from a wider one, or hands it on to one. */
static void through_byte(vec_form *f) {
  char text[sizeof f->text];
  bool result = strncmp(f->row->operands, "db8", 3) == 0, source = strstr(f->row->operands, "sb8") != NULL;
  if (!result && !source) return;
  char *name = strstr(f->text, result ? "%d" : "%a");
  int n = snprintf(text, sizeof text, "%s%.*s%%byte%s%s", source ? "cvt.u8.u16 %byte, %a; " : "", (int)(name - f->text),
                   f->text, name + 2, result ? " cvt.u16.u8 %d, %byte;" : "");
  ck_assert_int_lt(n, (int)sizeof text);
  strcpy(f->text, text);
}

/* One statement of the combination. */
static void add_form(forms *list, const vec_form *mods, bool paired, bool negated, int immediate, unsigned wide) {
  vec_form *f = add(list, mods);
  char pattern[128], operands[256];
  f->paired = paired, f->negated = negated, f->immediate = immediate, f->widened = wide != 0;
  f->rounding = rounding_of(f);
  (void)snprintf(pattern, sizeof pattern, "%s", f->row->operands);
  char *rest = pattern, *word = strtok_r(rest, " ", &rest);
  set_destination(f, word, wide);
  while ((word = strtok_r(rest, " ", &rest)))
    add_operand(f, word, wide);
  (void)snprintf(operands, sizeof operands, "%s", f->text);
  int n = snprintf(f->text, sizeof f->text, "%s %s;", f->name, operands);
  ck_assert_int_lt(n, (int)sizeof f->text);
  through_byte(f);
}

/* All statements of the combination: with and without a second predicate, a plain and a negated source predicate, every
 * constant that lop3 takes, registers of the natural width and wider ones. */
static void add_variants(forms *list, const vec_form *f) {
  const char *o = f->row->operands;
  bool optional = strstr(o, "dp|dp?") != NULL, pair = strstr(o, "d0|dp") != NULL;
  bool constant = strchr(o, 'i') != NULL, widens = strchr(o, 'r') != NULL;
  for (int immediate = constant ? 0 : -1; immediate < (constant ? 256 : 0); immediate++) {
    bool flip = (list->count / 2 + (size_t)(immediate & 1)) & 1;
    add_form(list, f, pair, flip, immediate, 0);
    if (optional) add_form(list, f, true, !flip, immediate, 0);
    if (widens) add_form(list, f, false, false, immediate, list->count & 2 ? 32 : 64);
  }
}

/* Appends the alternatives of the slot at `at` one after the other and goes on with the next slot. */
static void expand(forms *list, const vec_form *f, const char *at) {
  at += strspn(at, " ");
  if (!*at) {
    add_variants(list, f);
    return;
  }
  size_t length = strcspn(at, " ");
  size_t names = strcspn(at, "?! ");
  if (at[names] == '?') expand(list, f, at + length);
  for (const char *p = at, *end = at + names; p < end;) {
    int n = (int)strcspn(p, "|?! ");
    vec_form next = *f;
    ck_assert_uint_lt(f->mod_count, VEC_MODS);
    (void)snprintf(next.mods[next.mod_count], sizeof *next.mods, "%.*s", n, p);
    size_t used = strlen(f->name);
    (void)snprintf(next.name + used, sizeof next.name - used, ".%.*s", n, p);
    if (is_type(next.mods[next.mod_count]))
      (void)snprintf(next.types[next.type_count++], sizeof *next.types, "%.*s", n, p);
    next.mod_count++;
    expand(list, &next, at + length);
    p += n + 1;
  }
}

/* ---- Run ---- */
enum {
  SMALL = 1024,
  ALL = 65536,
  GUARDED = 256,
  MOST_RESULTS = 1 << 19,
  MOST_FORMS = 64,
  HEAD = 2048,
  PER_FORM = 1024
};

/* A module's first lines for the row's least version and target, from sm_75 on. */
static int module_head(char *out, size_t room, const tf_row *row) {
  static const struct { unsigned sm, isa; } targets[] = {{75, 63}, {80, 70}, {86, 71}, {89, 78}, {90, 78}, {100, 86}};
  size_t i = 0;
  unsigned isa = row->isa;
  while (targets[i].sm < row->sm)
    i++;
  if (targets[i].isa > isa) isa = targets[i].isa;
  return snprintf(out, room, ".version %u.%u\n.target sm_%u%s\n.address_size 64\n", isa / 10, isa % 10, targets[i].sm,
                  row->flags & TF_INSN_EXACT ? "a" : "");
}

static int kernel_head(char *out, size_t room, const vec_form *f) {
  int n = snprintf(out, room,
                   ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%q<4>;\n.reg .b32 %%r<4>, %%x, %%y;\n"
                   ".reg .pred %%g, %%t<2>;\n.reg .b%u %%d;\n.reg .b8 %%byte;\n",
                   f->width ? f->width : 32);
  for (unsigned i = 0; i < f->source_count; i++)
    n += snprintf(out + n, room - (size_t)n, ".reg .b%u %s;\n.reg .pred %s;\n", f->source[i] ? f->source[i] : 32,
                  registers[i], predicates[i]);
  return n;
}

/* Where the lane's operands and results are; %x is the last word of the operands. */
static int load_operands(char *out, size_t room, const vec_form *f, unsigned lanes) {
  int n = snprintf(out, room,
                   "ld.param.u64 %%q0, [p];\nmov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, %%ctaid.x;\n"
                   "mad.lo.u32 %%r0, %%r1, 128, %%r0;\nmul.wide.u32 %%q1, %%r0, 40;\nadd.u64 %%q1, %%q0, %%q1;\n"
                   "mul.wide.u32 %%q2, %%r0, 16;\nadd.u64 %%q2, %%q0, %%q2;\nadd.u64 %%q2, %%q2, %u;\n"
                   "ld.global.b32 %%x, [%%q1+32];\nrem.u32 %%r2, %%r0, 3;\nsetp.ne.u32 %%g, %%r2, 1;\n",
                   lanes * 40);
  for (unsigned i = 0; i < f->source_count; i++) {
    n += snprintf(out + n, room - (size_t)n, "ld.global.b%u %s, [%%q1+%u];\n", f->source[i] ? f->source[i] : 32,
                  registers[i], 8 * i);
    if (!f->source[i])
      n += snprintf(out + n, room - (size_t)n, "setp.ne.u32 %s, %s, 0;\n", predicates[i], registers[i]);
  }
  return n;
}

static int one_form(char *out, size_t room, const vec_suite *suite, const vec_form *f, unsigned k, unsigned lanes,
                    bool guarded) {
  const char *before = suite->frame ? suite->frame(f, false) : "", *after = suite->frame ? suite->frame(f, true) : "";
  char skip[32] = "", label[32] = "";
  unsigned width = f->width ? f->width : 32;
  if (guarded) {
    (void)snprintf(skip, sizeof skip, "@!%%g bra L%u;\n", k);
    (void)snprintf(label, sizeof label, "L%u:\n", k);
  }
  int n = snprintf(out, room,
                   "mov.b%u %%d, 7;\nmov.b32 %%y, 7;\nsetp.eq.u32 %%t0, %%r0, %%r0;\nsetp.eq.u32 %%t1, %%r0, %%r0;\n"
                   "%s{ %s %s %s }\n%s",
                   width, skip, before, f->text, after, label);
  if (!f->width) n += snprintf(out + n, room - (size_t)n, "selp.b32 %%d, 1, 0, %%t0;\n");
  if (f->paired) n += snprintf(out + n, room - (size_t)n, "selp.b32 %%y, 1, 0, %%t%d;\n", f->width ? 0 : 1);
  n += snprintf(out + n, room - (size_t)n, "st.global.b%u [%%q2+%llu], %%d;\nst.global.b32 [%%q2+%llu], %%y;\n", width,
                16ull * k * lanes, 16ull * k * lanes + 8);
  ck_assert_int_lt(n, (int)room);
  return n;
}

/* One kernel for all of these, which have the same registers. */
static char *kernel(const vec_suite *suite, vec_form *const *f, unsigned count, unsigned lanes, bool guarded) {
  size_t room = HEAD + (size_t)count * PER_FORM, n = 0;
  char *text = malloc(room);
  ck_assert_ptr_nonnull(text);
  n += (size_t)module_head(text, room, f[0]->row);
  n += (size_t)kernel_head(text + n, room - n, f[0]);
  n += (size_t)load_operands(text + n, room - n, f[0], lanes);
  for (unsigned k = 0; k < count; k++)
    n += (size_t)one_form(text + n, room - n, suite, f[k], k, lanes, guarded);
  (void)snprintf(text + n, room - n, "ret;\n}\n");
  return text;
}

/* ---- Check ---- */
/* All 65,536 operands: of 16 bits, or both halves of 32. */
static bool exhaustive(const vec_form *f) {
  if (f->source_count != 1 || f->widened) return false;
  return vec_bits(f->of_type[0]) == 16 || strstr(f->of_type[0], "16x2");
}

/* A conversion from f32 or f64 to a smaller format has to decide at the middle between two of its numbers. */
static bool narrows(const vec_form *f) {
  bool from_wide = f->source_count && (strcmp(f->of_type[0], "f32") == 0 || strcmp(f->of_type[0], "f64") == 0);
  return strcmp(f->opcode, "cvt") == 0 && from_wide && exact_format_of(f->types[0]) < EXACT_FORMATS;
}

/* The middle behind the code-th number of the destination's format, or its neighbour on either side. */
static uint64_t middle(const vec_form *f, uint32_t code) {
  exact_format to = exact_format_of(f->types[0]);
  uint32_t step = to == EXACT_TF32 ? 1u << 13 : 1, first = code;
  if (to == EXACT_TF32) first = (code * 8 + (uint32_t)(operand_noise() & 7)) * step;
  quad x = (exact_value(to, first) + exact_value(to, first + step)) / 2;
  int side = (int)(operand_noise() >> 30 & 3) - 1;
  double wide = (double)x, beyond = side > 0 ? INFINITY : -INFINITY;
  float narrow = (float)x;
  if (strcmp(f->of_type[0], "f64") == 0) return exact_double_bits(side & 1 ? nextafter(wide, beyond) : wide);
  return exact_single_bits(side & 1 ? nextafterf(narrow, (float)beyond) : narrow);
}

static unsigned lanes_of(const vec_form *f) {
  return exhaustive(f) || (narrows(f) && !strstr(f->types[0], "x2")) ? ALL : narrows(f) ? ALL / 8 : SMALL;
}

/* Operands of lane l: all values; all pairs of edges; noise. */
static void fill(const vec_form *f, uint64_t (*s)[5], unsigned lanes) {
  unsigned edges = f->source_count ? operand_edges(f->of_type[0]) : 1;
  for (unsigned l = 0; l < lanes; l++) {
    for (unsigned i = 0; i < 4; i++)
      s[l][i] = i < f->source_count ? operand_value(f->of_type[i]) : 0;
    s[l][4] = operand_noise() >> 40 & 1 ? (uint32_t)operand_noise() : 0;
    if (exhaustive(f))
      s[l][0] = l | (uint64_t)(l * 40503u & 0xFFFF) << 16;
    else if (f->source_count == 1 && vec_bits(f->of_type[0]) == 8)
      s[l][0] = (s[l][0] & ~UINT64_C(0xFF)) | (l & 0xFF);
    else if (f->source_count && l < edges * edges)
      s[l][0] = operand_edge(f->of_type[0], l % edges);
    else if (narrows(f))
      s[l][0] = middle(f, l), s[l][1] = middle(f, (uint32_t)operand_noise() & 0xFFFF);
    if (f->source_count > 1 && l < edges * edges) s[l][1] = operand_edge(f->of_type[1], l / edges);
  }
}

static uint64_t low(uint64_t x, unsigned bits) {
  return bits >= 64 ? x : bits ? x & ((UINT64_C(1) << bits) - 1) : x & 1;
}

static void compare(const vec_suite *suite, const vec_form *f, const uint64_t s[5], const uint64_t got[2], bool off) {
  uint64_t sources[VEC_SOURCES];
  for (unsigned i = 0; i < VEC_SOURCES; i++)
    sources[i] = i >= f->source_count ? s[4] : low(s[i], f->source[i]) ^ (!f->source[i] && f->negated);
  vec_result want = suite->evaluate(f, sources), is = {low(got[0], f->width), (uint32_t)got[1]};
  if (off) want = (vec_result){f->width ? 7 : 1, f->paired ? 1 : 7};
  want.d = low(want.d, f->width);
  if (is.d == want.d && is.extra == want.extra) return;
  if (!off && suite->same && suite->same(f, is, want)) return;
  ck_abort_msg("%s a=%llx b=%llx c=%llx e=%llx flag=%llx%s: %llx %x, expected %llx %x", f->text,
               (unsigned long long)sources[0], (unsigned long long)sources[1], (unsigned long long)sources[2],
               (unsigned long long)sources[3], (unsigned long long)s[4], off ? " (lane is off)" : "",
               (unsigned long long)is.d, is.extra, (unsigned long long)want.d, want.extra);
}

static void run_batch(const vec_suite *suite, vec_form *const *f, unsigned count, unsigned lanes, bool guarded) {
  size_t inputs = (size_t)lanes * 40, size = inputs + (size_t)count * lanes * 16;
  uint64_t(*s)[5] = malloc(inputs);
  unsigned char *bytes = malloc(size);
  ck_assert(s && bytes);
  fill(f[0], s, lanes);
  memcpy(bytes, s, inputs);
  memset(bytes + inputs, 0, size - inputs);
  char *text = kernel(suite, f, count, lanes, guarded);
  run_ptx("sm_100", text, lanes / 128, 128, bytes, size);
  for (unsigned k = 0; k < count; k++)
    for (unsigned l = 0; l < lanes; l++) {
      uint64_t got[2];
      memcpy(got, bytes + inputs + ((size_t)k * lanes + l) * 16, sizeof got);
      compare(suite, f[k], s[l], got, guarded && l % 3 == 1);
    }
  free(text);
  free(bytes);
  free(s);
}

static bool alike(const vec_form *a, const vec_form *b) {
  if (a->width != b->width || a->source_count != b->source_count || a->widened != b->widened) return false;
  if (narrows(a) && strcmp(a->types[0], b->types[0]) != 0) return false;
  for (unsigned i = 0; i < a->source_count; i++)
    if (a->source[i] != b->source[i] || strcmp(a->of_type[i], b->of_type[i]) != 0) return false;
  return true;
}

/* A combination that the ISA lacks: a load error that names the instruction. The text goes to ptxas too. */
static void refuse(tf_sim_device *device, const vec_form *f) {
  char text[HEAD + PER_FORM], message[512] = "";
  int n = module_head(text, sizeof text, f->row);
  n += kernel_head(text + n, sizeof text - (size_t)n, f);
  (void)snprintf(text + n, sizeof text - (size_t)n, "%s\nret;\n}\n", f->text);
  tf_sim_module *module;
  tf_status status = tf_sim_module_load(device, text, strlen(text), message, sizeof message, &module);
  ck_assert_msg(status == TF_PARSE, "%s was accepted", f->text);
  ptx_refused(text);
}

static const tf_row *nth_row(const vec_suite *suite, int index) {
  for (const tf_family *const *f = tf_families(false); *f; f++)
    for (size_t i = 0; strcmp((*f)->name, suite->family) == 0 && i < (*f)->count; i++) {
      if (suite->wanted && !suite->wanted(&(*f)->rows[i])) continue;
      if (index-- == 0) return &(*f)->rows[i];
    }
  return NULL;
}

int vec_rows(const vec_suite *suite) {
  int n = 0;
  while (nth_row(suite, n))
    n++;
  if (n == 0) abort(); /* no such family */
  return n;
}

/* Takes forms like the first that is left out of the list, as many as fit a kernel. */
static unsigned take(forms *list, vec_form **batch, unsigned most) {
  unsigned n = 0;
  for (size_t i = 0; i < list->count && n < most; i++) {
    vec_form *f = &list->at[i];
    if (f->row && (n == 0 || alike(f, batch[0]))) batch[n++] = f;
  }
  return n;
}

void vec_check(const vec_suite *suite, int index) {
  forms list = {0};
  vec_form f = {.row = nth_row(suite, index)}, *batch[MOST_FORMS];
  f.opcode = f.row->opcode;
  (void)snprintf(f.name, sizeof f.name, "%s", f.opcode);
  expand(&list, &f, f.row->mods);
  tf_sim_device *device;
  ck_assert_int_eq(tf_sim_device_create("sm_100", NULL, &device), TF_OK);
  for (size_t i = 0; i < list.count; i++)
    if (suite->legal && !suite->legal(&list.at[i])) {
      refuse(device, &list.at[i]);
      list.at[i].row = NULL;
    }
  tf_sim_device_destroy(device);
  for (unsigned n; (n = take(&list, batch, 1)) > 0;) {
    unsigned lanes = lanes_of(batch[0]);
    n = take(&list, batch, MOST_RESULTS / lanes < MOST_FORMS ? MOST_RESULTS / lanes : MOST_FORMS);
    run_batch(suite, batch, n, lanes, false);
    run_batch(suite, batch, n, GUARDED, true);
    for (unsigned k = 0; k < n; k++)
      batch[k]->row = NULL;
  }
  free(list.at);
}
