/* Memory and atomic instructions in every type, space, order, scope and hint, on one element or vector a lane, against
 * plain loads, stores and arithmetic. Contention and ordering are other tests' business. */
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t noise = 88172645463325252u;
static uint64_t next(void) {
  return random_next(&noise);
}
static uint64_t low(uint64_t x, unsigned bits) {
  return bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}
static int64_t extend(uint64_t x, unsigned bits) {
  return (int64_t)(x << (64 - bits)) >> (64 - bits);
}
static unsigned bits_of(const char *type) {
  return (unsigned)atoi(type + strcspn(type, "0123456789")) * (strstr(type, "x2") ? 2 : 1);
}

/* ---- Atomics ---- */
static const struct {
  const char *op, *type;
} atomics[] = {
    {"and", "b32"},  {"and", "b64"},       {"or", "b32"},          {"or", "b64"},         {"xor", "b32"},
    {"xor", "b64"},  {"add", "u32"},       {"add", "s32"},         {"add", "u64"},        {"add", "f32"},
    {"add", "f64"},  {"add.noftz", "f16"}, {"add.noftz", "f16x2"}, {"add.noftz", "bf16"}, {"add.noftz", "bf16x2"},
    {"min", "u32"},  {"min", "s32"},       {"min", "u64"},         {"min", "s64"},        {"max", "u32"},
    {"max", "s32"},  {"max", "u64"},       {"max", "s64"},         {"inc", "u32"},        {"dec", "u32"},
    {"exch", "b32"}, {"exch", "b64"},      {"cas", "b16"},         {"cas", "b32"},        {"cas", "b64"},
};
enum { ATOMICS = sizeof atomics / sizeof *atomics, COUNT = 128 };

/* Small integers as floats of the type, so that sums are exact: 0 … 7 in two lanes where packed. */
static uint64_t float_code(const char *type, unsigned n) {
  float single = (float)n;
  double wide = n;
  uint32_t word;
  uint64_t code;
  memcpy(&word, &single, 4);
  memcpy(&code, &wide, 8);
  if (strcmp(type, "f64") == 0) return code;
  if (strcmp(type, "f32") == 0) return word;
  if (type[0] == 'b')
    code = word >> 16;
  else
    code = n ? ((word >> 23) - 112) << 10 | (word >> 13 & 1023) : 0;
  return strstr(type, "x2") ? code | code << 16 : code;
}

static uint64_t update(const char *op, const char *type, uint64_t m, uint64_t a, uint64_t c) {
  unsigned bits = bits_of(type);
  bool is_signed = type[0] == 's', less = is_signed ? extend(a, bits) < extend(m, bits) : low(a, bits) < low(m, bits);
  m = low(m, bits), a = low(a, bits), c = low(c, bits);
  switch (op[0] << 8 | op[1]) {
  case 'a' << 8 | 'n':
    return m & a;
  case 'o' << 8 | 'r':
    return m | a;
  case 'x' << 8 | 'o':
    return m ^ a;
  case 'a' << 8 | 'd':
    return low(m + a, bits);
  case 'm' << 8 | 'i':
    return less ? a : m;
  case 'm' << 8 | 'a':
    return less ? m : a;
  case 'i' << 8 | 'n':
    return m >= a ? 0 : m + 1;
  case 'd' << 8 | 'e':
    return m == 0 || m > a ? a : m - 1;
  case 'c' << 8 | 'a':
    return m == a ? c : m;
  default:
    return a;
  }
}

/* The statement on the address in %q0: variant v chooses order, scope, space and hint. */
static void atomic_text(char *out, const char *op, const char *type, unsigned v, bool red) {
  static const char *const orders[] = {"", ".relaxed", ".acquire", ".release", ".acq_rel"};
  static const char *const scopes[] = {".cta", ".cluster", ".gpu", ".sys", ".gpu"};
  static const char *const spaces[] = {"", ".global", ".shared", ".shared::cta", ".shared::cluster"};
  unsigned bits = bits_of(type), space = v % 5;
  const char *order = orders[red && v / 5 % 5 ? 1 + v / 5 % 2 * 2 : v / 5 % 5];
  bool hint = space < 2 && v % 2 && strcmp(op, "cas") != 0, old = v / 5 == 5;
  size_t n = 0;
  if (space >= 2)
    n += (size_t)sprintf(out,
                         ".shared .align 8 .b64 s[128]; mov.u32 %%u, %%tid.x; mul.wide.u32 %%q1, %%u, 8; mov.u64 %%q0, "
                         "s; add.u64 %%q0, %%q0, %%q1; st.shared.b%u [%%q0], %%b; ",
                         bits);
  else
    n += (size_t)sprintf(out, "add.u64 %%q0, %%rd1, 8; ");
  n += (size_t)sprintf(out + n, "mov.u64 %%q2, 0; mov.b%u %%d, %%a;\n%s", bits, red ? "red" : "atom");
  if (old)
    n += (size_t)sprintf(out + n, "%s.%s%s%s.%s", spaces[space], op, orders[1 + v % 4], scopes[v % 4], type);
  else
    n += (size_t)sprintf(out + n, "%s%s%s.%s%s.%s", order, *order ? scopes[(v + v / 5) % 5] : "", spaces[space], op,
                         hint ? ".L2::cache_hint" : "", type);
  n += (size_t)sprintf(out + n, " %s[%%q0], %%a%s%s;\n", red ? "" : "%d, ", strcmp(op, "cas") == 0 ? ", %c" : "",
                       hint && !old ? ", %q2" : "");
  if (space >= 2) (void)sprintf(out + n, "ld.shared.b%u %%b, [%%q0]; st.global.b%u [%%rd1+8], %%b;", bits, bits);
}

static void check_atomic(const char *op, const char *type, unsigned v, bool red) {
  static uint64_t x[3 * COUNT], y[3 * COUNT];
  char text[1024] = ".reg .b64 %q<3>; .reg .b32 %u;\n", registers[64];
  unsigned bits = bits_of(type);
  bool is_float = strchr(type, 'f') != NULL && strncmp(op, "add", 3) == 0;
  unsigned n[3 * COUNT];
  for (int i = 0; i < 3 * COUNT; i++) {
    n[i] = (unsigned)(next() % 8);
    y[i] = x[i] = is_float ? float_code(type, n[i]) : next() % 3 ? next() >> (next() & 63) : next() % 4;
  }
  for (int i = 0; i < 3 * COUNT && !is_float; i += 9)
    y[i] = x[i] = x[i + 1];
  atomic_text(text + strlen(text), op, type, v, red);
  sprintf(registers, "b%u b%u b%u b%u", bits, bits, bits, bits);
  run_lanes(text, registers, x, COUNT);
  for (int i = 0; i < 3 * COUNT; i += 3) {
    uint64_t now = is_float ? float_code(type, n[i] + n[i + 1]) : update(op, type, y[i + 1], y[i], y[i + 2]);
    uint64_t d = low(red ? y[i] : y[i + 1], bits);
    ck_assert_msg(low(x[i], bits) == d && low(x[i + 1], bits) == now,
                  "%s\n%llx %llx %llx: got %llx and %llx in memory, expected %llx and %llx", text,
                  (unsigned long long)y[i], (unsigned long long)y[i + 1], (unsigned long long)y[i + 2],
                  (unsigned long long)low(x[i], bits), (unsigned long long)low(x[i + 1], bits), (unsigned long long)d,
                  (unsigned long long)now);
  }
}

START_TEST(atomic_forms) {
  const char *op = atomics[_i].op, *type = atomics[_i].type;
  bool reduces = op[0] != 'c' && op[0] != 'e', old = strcmp(op, "add") == 0 && strchr("us", type[0]);
  for (unsigned v = 0; v < (old ? 30u : 25u); v++) {
    check_atomic(op, type, v, false);
    if (reduces && v < 25) check_atomic(op, type, v, true);
  }
}
END_TEST

/* 128 bits: a lane has what is in memory, what it is compared with, what replaces it, and room for what was there. */
START_TEST(wide_atomics) {
  static const char *const orders[] = {"", ".relaxed.cta", ".acquire.cluster", ".release.gpu", ".acq_rel.sys"},
                           *const spaces[] = {"", ".global", ".shared", ".shared::cta", ".shared::cluster"};
  bool cas = _i % 2, shared = _i / 2 % 5 >= 2, hint = !cas && !shared && _i / 10 % 2;
  uint64_t x[32][8], y[32][8];
  char ptx[2048];
  sprintf(ptx,
          ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b128 %%o<4>; .reg "
          ".b64 %%rd<5>; .reg .b32 %%r; .shared .align 16 .b8 s[512]; ld.param.u64 %%rd0, [p]; mov.u32 %%r, %%tid.x; "
          "mul.wide.u32 %%rd1, %%r, 64; add.u64 %%rd0, %%rd0, %%rd1; mul.wide.u32 %%rd1, %%r, 16; mov.u64 %%rd2, s; "
          "add.u64 %%rd2, %%rd2, %%rd1; mov.u64 %%rd3, 0;\nld.global.b128 %%o0, [%%rd0]; ld.global.b128 %%o1, "
          "[%%rd0+16]; ld.global.b128 %%o2, [%%rd0+32]; st.shared.b128 [%%rd2], %%o0;\natom%s%s.%s%s.b128 %%o3, [%s], "
          "%s%%o2%s;\n%sst.global.b128 [%%rd0+48], %%o3; ret; }\n",
          orders[_i / 10], spaces[_i / 2 % 5], cas ? "cas" : "exch", hint ? ".L2::cache_hint" : "",
          shared ? "%rd2" : "%rd0", cas ? "%o1, " : "", hint ? ", %rd3" : "",
          shared ? "ld.shared.b128 %o0, [%rd2]; st.global.b128 [%rd0], %o0;\n" : "");
  for (unsigned l = 0; l < 32; l++) {
    for (unsigned i = 0; i < 8; i++)
      x[l][i] = next();
    if (l % 4) memcpy(x[l] + 2, x[l], 16);
    if (l % 4 == 2) x[l][3] ^= UINT64_C(1) << l; /* almost the same */
  }
  memcpy(y, x, sizeof y);
  run_ptx("sm_90", ptx, 1, 32, x, sizeof x);
  for (unsigned l = 0; l < 32; l++) {
    memcpy(y[l] + 6, y[l], 16);
    if (!cas || memcmp(y[l], y[l] + 2, 16) == 0) memcpy(y[l], y[l] + 4, 16);
  }
  ck_assert_msg(memcmp(x, y, sizeof x) == 0, "%s", ptx);
}
END_TEST

/* ---- Vectors of atomics ---- */
static const struct {
  const char *op, *type;
  unsigned elements; /* 2, 4 or 8 */
} vectors[] = {
    {"add", "f32", 2},         {"add", "f32", 4},          {"add.noftz", "f16x2", 2},  {"min.noftz", "f16x2", 4},
    {"max.noftz", "f16x2", 2}, {"add.noftz", "bf16x2", 4}, {"min.noftz", "bf16x2", 2}, {"max.noftz", "bf16x2", 4},
    {"add.noftz", "f16", 2},   {"add.noftz", "f16", 8},    {"min.noftz", "f16", 4},    {"max.noftz", "f16", 8},
    {"add.noftz", "bf16", 4},  {"min.noftz", "bf16", 8},   {"max.noftz", "bf16", 2},
};
enum { VECTORS = sizeof vectors / sizeof *vectors, NOT_A_NUMBER = 99 };

/* A small integer of either sign, or NaN. */
static uint32_t signed_code(const char *type, int n) {
  char one[8] = "";
  memcpy(one, type, strcspn(type, "x"));
  if (n == NOT_A_NUMBER) return strcmp(type, "f32") == 0 ? 0x7FFFFFFF : 0x7FFF;
  return (uint32_t)float_code(one, (unsigned)abs(n)) | (n < 0 ? 1u << (bits_of(one) - 1) : 0);
}
/* What is there after the operation on what was there. */
static int combined(const char *op, int was, int with) {
  bool number = was != NOT_A_NUMBER && with != NOT_A_NUMBER;
  if (op[0] == 'a') return number ? was + with : NOT_A_NUMBER;
  if (!number) return was == NOT_A_NUMBER ? with : was;
  return (op[1] == 'i') == (was < with) ? was : with;
}

static void vector_text(char *out, unsigned v, unsigned form, bool red) {
  static const char *const all_orders[] = {"", ".relaxed.cta", ".acquire.cluster", ".release.gpu", ".acq_rel.sys"};
  static const char *const red_orders[] = {"", ".relaxed.cta", ".release.cluster", ".release.gpu", ".relaxed.sys"};
  const char *order = (red ? red_orders : all_orders)[form % 5];
  unsigned n = vectors[v].elements;
  const char *type = vectors[v].type;
  unsigned bits = bits_of(type);
  bool hint = form / 5 & 1;
  size_t k = (size_t)sprintf(out,
                             ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg "
                             ".b%u %%d<8>, %%a<8>; .reg .b64 %%q<3>; .reg .b32 %%r; ld.param.u64 %%q0, [p]; mov.u32 "
                             "%%r, %%tid.x;\nmul.wide.u32 %%q1, %%r, 48; add.u64 %%q0, %%q0, %%q1; mov.u64 %%q2, 0;\n",
                             bits);
  for (unsigned i = 0; i < n; i++)
    k += (size_t)sprintf(out + k, "ld.global.b%u %%a%u, [%%q0+%u];\n", bits, i, i * bits / 8);
  k += (size_t)sprintf(out + k, "%s%s%s.%s%s.v%u.%s %s", red ? "red" : "atom", order, form & 1 ? ".global" : "",
                       vectors[v].op, hint ? ".L2::cache_hint" : "", n, type, red ? "" : "{");
  for (unsigned i = 0; i < n && !red; i++)
    k += (size_t)sprintf(out + k, "%s%%d%u", i ? ", " : "", i);
  k += (size_t)sprintf(out + k, "%s[%%q0+16], {", red ? "" : "}, ");
  for (unsigned i = 0; i < n; i++)
    k += (size_t)sprintf(out + k, "%s%%a%u", i ? ", " : "", i);
  k += (size_t)sprintf(out + k, "}%s;\n", hint ? ", %q2" : "");
  for (unsigned i = 0; i < n && !red; i++)
    k += (size_t)sprintf(out + k, "st.global.b%u [%%q0+%u], %%d%u;\n", bits, 32 + i * bits / 8, i);
  (void)sprintf(out + k, "ret; }\n");
}

/* A lane has the operands in its bytes 0 …, memory in 16 …, and room for what was there in 32 …. */
static void check_vector(unsigned v, unsigned form, bool red) {
  unsigned char x[32][48], y[32][48];
  char ptx[4096];
  const char *type = vectors[v].type;
  unsigned scalar = strstr(type, "x2") ? 16 : bits_of(type), bytes = scalar / 8;
  for (unsigned l = 0; l < 32; l++)
    for (unsigned i = 0; i < 48; i++)
      x[l][i] = y[l][i] = (unsigned char)(next() >> 8);
  for (unsigned l = 0; l < 32; l++)
    for (unsigned at = 0; at < vectors[v].elements * bits_of(type) / 8; at += bytes) {
      int with = (int)(next() % 15) - 7, was = (int)(next() % 15) - 7;
      if (next() % 16 == 0) with = NOT_A_NUMBER;
      if (next() % 16 == 0) was = NOT_A_NUMBER;
      uint32_t now = signed_code(type, combined(vectors[v].op, was, with));
      uint32_t operand = signed_code(type, with), memory = signed_code(type, was);
      memcpy(x[l] + at, &operand, bytes), memcpy(y[l] + at, &operand, bytes);
      memcpy(x[l] + 16 + at, &memory, bytes), memcpy(y[l] + 16 + at, &now, bytes);
      if (!red) memcpy(y[l] + 32 + at, &memory, bytes);
    }
  vector_text(ptx, v, form, red);
  run_ptx("sm_90", ptx, 1, 32, x, sizeof x);
  for (unsigned l = 0; l < 32; l++)
    ck_assert_msg(memcmp(x[l], y[l], sizeof *x) == 0, "%s\nlane %u", ptx, l);
}

START_TEST(vector_atomics) {
  for (unsigned form = 0; form < 10; form++) {
    check_vector((unsigned)_i, form, false);
    check_vector((unsigned)_i, form, true);
  }
}
END_TEST

/* ---- Loads and stores ---- */
static const struct {
  const char *type;
  unsigned most; /* elements of a vector */
  bool young;    /* sm_100 */
} accesses[] = {
    {"b8", 4, 0},  {"b16", 4, 0}, {"b32", 4, 0},  {"u8", 4, 0},  {"u16", 4, 0}, {"u32", 4, 0},
    {"s8", 4, 0},  {"s16", 4, 0}, {"s32", 4, 0},  {"f32", 4, 0}, {"b64", 2, 0}, {"u64", 2, 0},
    {"s64", 2, 0}, {"f64", 2, 0}, {"b128", 1, 0}, {"b32", 8, 1}, {"u32", 8, 1}, {"s32", 8, 1},
    {"f32", 8, 1}, {"b64", 4, 1}, {"u64", 4, 1},  {"s64", 4, 1}, {"f64", 4, 1},
};
enum { ACCESSES = sizeof accesses / sizeof *accesses, LANE = 64 };

/* Pairs of a load and a store of one space. */
static const struct {
  const char *load, *store;
  char
      space; /* 'g' global, 's' shared, 'l' local, 'u' ldu, 'c' const, 'p' a call's parameter, 'e' the kernel's; 'w' global, 256 bits only */
} modes[] = {
    {"ld", "st", 'g'},
    {"ld.weak.global.ca", "st.weak.global.wb", 'g'},
    {"ld.volatile.global", "st.volatile.global", 'g'},
    {"ld.relaxed.cta.global", "st.relaxed.cta.global", 'g'},
    {"ld.acquire.cluster.global", "st.release.cluster.global", 'g'},
    {"ld.acquire.gpu", "st.release.gpu", 'g'},
    {"ld.relaxed.sys.global", "st.release.sys.global", 'g'},
    {"ld.mmio.relaxed.sys.global", "st.mmio.relaxed.sys.global", 'g'},
    {"ld.global.cg", "st.global.cg", 'g'},
    {"ld.global.cs", "st.global.cs", 'g'},
    {"ld.global.lu", "st.global.wt", 'g'},
    {"ld.global.cv", "st.global.wt", 'g'},
    {"ld.global.nc.L1::evict_normal.L2::64B", "st.global.L1::evict_normal", 'g'},
    {"ld.global.L1::evict_unchanged.L2::128B", "st.global.L1::evict_unchanged", 'g'},
    {"ld.global.L1::evict_first.L2::256B", "st.global.L1::evict_first", 'g'},
    {"ld.global.L1::evict_last", "st.global.L1::evict_last", 'g'},
    {"ld.global.L1::no_allocate.L2::cache_hint", "st.global.L1::no_allocate.L2::cache_hint", 'g'},
    {"ld.global.L2::evict_normal", "st.global.L2::evict_normal", 'w'},
    {"ld.global.L2::evict_first", "st.global.L2::evict_first", 'w'},
    {"ld.global.L2::evict_last", "st.global.L2::evict_last", 'w'},
    {"ld.shared", "st.shared", 's'},
    {"ld.shared::cta", "st.shared::cta", 's'},
    {"ld.shared::cluster", "st.shared::cluster", 's'},
    {"ld.local", "st.local", 'l'},
    {"ldu.global", "st.global", 'u'},
    {"ldu", "st", 'u'},
    {"ld.const", "st", 'c'},
    {"ld.param", "st.param", 'p'},
    {"ld.param::func", "st.param::func", 'p'},
    {"ld.param::entry", "st", 'e'},
};
enum { MODES = sizeof modes / sizeof *modes };

static void braces(char *out, unsigned n) {
  if (n == 1) {
    strcpy(out, "%t0");
    return;
  }
  strcpy(out, "{");
  for (unsigned i = 0; i < n; i++)
    sprintf(out + strlen(out), "%s%%t%u", i ? ", " : "", i);
  strcat(out, "}");
}

/* Moves a lane's n elements from its bytes 0 … to its bytes 32 …; through a second space where the mode has one. */
static void write_access(char *out, unsigned mode, const char *type, unsigned n, bool young) {
  char list[128], vector[16] = "", load[160], store[160];
  bool is_float = type[0] == 'f', wide = strcmp(type, "b128") == 0;
  char space = modes[mode].space;
  if (n > 1) sprintf(vector, ".v%u", n);
  braces(list, n);
  const char *hint = strstr(modes[mode].load, "cache_hint") ? ", %rd3" : "";
  sprintf(load, "%s%s.%s %s, [%s]%s;\n", modes[mode].load, vector, type, list,
          space == 'c'          ? "constant"
          : space == 'p'        ? "back"
          : space == 'e'        ? "q"
          : strchr("sl", space) ? "%rd2"
                                : "%rd1",
          hint);
  sprintf(store, "%s%s.%s [%s], %s%s;\n", modes[mode].store, vector, type,
          space == 'p'          ? "to"
          : strchr("sl", space) ? "%rd2"
                                : "%rd1+32",
          list, hint);
  size_t k = (size_t)sprintf(out, ".version 8.8\n.target sm_%s\n.address_size 64\n", young ? "100" : "90");
  if (space == 'c')
    k += (size_t)sprintf(out + k,
                         ".const .align 32 .b8 constant[32] = {1, 130, 3, 132, 5, 134, 7, 136, 9, 138, 11, 140, 13, "
                         "142, 15, 144, 17, 146, 19, 148, 21, 150, 23, 152, 25, 154, 27, 156, 29, 158, 31, 160};\n");
  if (space == 'p')
    k += (size_t)sprintf(out + k, ".func (.param .align 32 .b8 o[32]) same(.param .align 32 .b8 i[32]) {\n.reg .b64 "
                                  "%%c<4>; ld.param.v2.b64 {%%c0, %%c1}, [i]; ld.param.v2.b64 {%%c2, %%c3}, [i+16];\n"
                                  "st.param.v2.b64 [o], {%%c0, %%c1}; st.param.v2.b64 [o+16], {%%c2, %%c3}; ret; }\n");
  k += (size_t)sprintf(out + k,
                       ".visible .entry k(.param .u64 p, .param .align 32 .b8 q[32]) {\n.reg .%s %%t<9>; .reg .b64 "
                       "%%rd<5>; .reg .b32 %%r;\n"
                       "ld.param.u64 %%rd0, [p]; mov.u32 %%r, %%tid.x; mul.wide.u32 %%rd1, %%r, 64; mov.u64 %%rd3, "
                       "0;\nadd.u64 %%rd1, %%rd0, %%rd1;\n",
                       is_float || wide ? type : "b64");
  if (space == 's')
    k += (size_t)sprintf(out + k,
                         ".shared .align 32 .b8 s[1024]; mov.u64 %%rd2, s; mul.wide.u32 %%rd4, %%r, 32; add.u64 "
                         "%%rd2, %%rd2, %%rd4;\n");
  if (space == 'l') k += (size_t)sprintf(out + k, ".local .align 32 .b8 s[32]; mov.u64 %%rd2, s;\n");
  if (space == 'p') k += (size_t)sprintf(out + k, "{ .param .align 32 .b8 to[32]; .param .align 32 .b8 back[32];\n");
  bool through = strchr("slp", space) != NULL;
  if (through) k += (size_t)sprintf(out + k, "ld.global%s.%s %s, [%%rd1];\n%s", vector, type, list, store);
  if (space == 'p') k += (size_t)sprintf(out + k, "call.uni (back), same, (to);\n");
  k += (size_t)sprintf(out + k, "%s", load);
  if (!is_float && !wide && n * bits_of(type) <= 128)
    k += (size_t)sprintf(out + k, "st.global.b64 [%%rd1+56], %%t0;\n");
  if (through)
    k += (size_t)sprintf(out + k, "st.global%s.%s [%%rd1+32], %s;\n%s", vector, type, list, space == 'p' ? "}\n" : "");
  else
    k += (size_t)sprintf(out + k, "%s", store);
  (void)sprintf(out + k, "ret; }\n");
}

static void check_access(unsigned mode, const char *type, unsigned n, bool young) {
  char ptx[4096];
  unsigned char x[32 * LANE], y[32 * LANE], entry[32];
  unsigned bits = bits_of(type), bytes = n * bits / 8;
  write_access(ptx, mode, type, n, young);
  for (size_t i = 0; i < sizeof x; i++)
    x[i] = y[i] = (unsigned char)(next() >> 16);
  for (size_t i = 0; i < sizeof entry; i++)
    entry[i] = (unsigned char)(next() >> 16);
  run_ptx_with(
      &(run_ptx_config){
          .profile = young ? "sm_100" : "sm_90", .grid = 1, .block = 32, .more = entry, .more_bytes = sizeof entry},
      ptx, x, sizeof x);
  for (unsigned l = 0; l < 32; l++) {
    unsigned char *want = y + (size_t)l * LANE, from[32];
    memcpy(from, modes[mode].space == 'e' ? entry : want, 32);
    for (unsigned i = 0; i < 32 && modes[mode].space == 'c'; i++)
      from[i] = (unsigned char)(i % 2 ? 129 + i : 1 + i);
    memcpy(want + 32, from, bytes);
    uint64_t first = 0;
    memcpy(&first, from, bits < 64 ? bits / 8 : 8);
    if (type[0] == 's') first = (uint64_t)extend(first, bits);
    if (type[0] != 'f' && bits <= 64 && bytes <= 16) memcpy(want + 56, &first, 8);
  }
  ck_assert_msg(memcmp(x, y, sizeof x) == 0, "%s", ptx);
}

START_TEST(access_forms) {
  for (unsigned mode = 0; mode < MODES; mode++) {
    bool old = modes[mode].space == 'u';
    bool mmio = strstr(modes[mode].load, "mmio") != NULL, global = strchr("gw", modes[mode].space) && !mmio;
    if (accesses[_i].young ? !global : modes[mode].space == 'w') continue;
    if (old && (accesses[_i].young || bits_of(accesses[_i].type) == 128)) continue;
    for (unsigned n = accesses[_i].young ? accesses[_i].most : 1; n <= (mmio ? 1 : accesses[_i].most); n *= 2)
      check_access(mode, accesses[_i].type, n, accesses[_i].young);
  }
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("memory");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, atomic_forms, 0, ATOMICS);
  tcase_add_loop_test(tcase, vector_atomics, 0, VECTORS);
  tcase_add_loop_test(tcase, wide_atomics, 0, 50);
  tcase_add_loop_test(tcase, access_forms, 0, ACCESSES);
  return run_case("Sim forms", tcase);
}
