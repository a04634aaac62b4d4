/* Collectives of a warp. The executor has seen to it that all members of each lane's mask are in `mask`; lanes with
 * different masks form independent groups here. Without .sync the group is whoever is active. */
#include "Sim/Insn/Lanes.h"

#include <math.h>

/* The lanes of `mask` that named the same members as lane `leader`, cut to those members. */
static uint32_t group_of(const tf_warp *w, const tf_insn *in, uint32_t mask, unsigned leader) {
  uint32_t same = 0;
  if (in->member == 255) return mask;
  const uint32_t *members = tf_operand(w, in->op[in->member]);
  for (uint32_t m = mask; m; m &= m - 1)
    if (members[__builtin_ctz(m)] == members[leader]) same |= 1u << __builtin_ctz(m);
  return same;
}

/* Runs `body` for each group: `group` is its lanes, `leader` the first. */
#define EACH_GROUP(body)                                                                                               \
  for (uint32_t todo = mask; todo;) {                                                                                  \
    unsigned leader = (unsigned)__builtin_ctz(todo);                                                                   \
    uint32_t group = group_of(w, in, todo, leader);                                                                    \
    body;                                                                                                              \
    todo &= ~group;                                                                                                    \
  }
#define EACH_LANE(set, l) for (uint32_t m_ = (set), l = 0; m_ && ((l = (uint32_t)__builtin_ctz(m_)), 1); m_ &= m_ - 1)

enum { UP, DOWN, BFLY, IDX };
static const char *const shfl_modes[] = {"up", "down", "bfly", "idx", NULL};

HANDLER(shfl) {
  uint32_t *d = SLOT(uint32_t, 0), taken[TF_LANES], valid = 0;
  const uint32_t *a = SLOT(const uint32_t, 2), *b = SLOT(const uint32_t, 3), *c = SLOT(const uint32_t, 4);
  for (unsigned l = 0; l < TF_LANES; l++) {
    uint32_t segment = c[l] >> 8 & 31, clamp = c[l] & 31, by = b[l] & 31;
    int low = (int)(l & segment), high = (int)((l & segment) | (clamp & ~segment));
    int from = in->aux == UP     ? (int)l - (int)by
               : in->aux == DOWN ? (int)l + (int)by
               : in->aux == BFLY ? (int)(l ^ by)
                                 : low | (int)(by & ~segment);
    bool in_range = in->aux == UP ? from >= high : from <= high;
    if (!in_range) from = (int)l;
    valid |= (uint32_t)in_range << l;
    taken[l] = a[from & 31];
  }
  STORE_LANES(uint32_t, d, v = taken[l])
  if (in->op[1]) SET_PRED(1, valid);
}
SELECTOR(select_shfl) {
  f->in->aux = (uint32_t)tf_form_pick(f, tf_form_has(f, "sync") ? 1 : 0, shfl_modes);
  return shfl;
}

enum { ALL, ANY, UNI };
HANDLER(vote) {
  uint32_t p = PRED_SRC(1), r = 0;
  EACH_GROUP({
    uint32_t yes = p & group;
    bool value = in->aux == ANY ? yes != 0 : in->aux == ALL ? yes == group : yes == 0 || yes == group;
    if (value) r |= group;
  })
  SET_PRED(0, r);
}
SELECTOR(select_vote) {
  static const char *const modes[] = {"all", "any", "uni", NULL};
  f->in->aux = (uint32_t)tf_form_pick(f, tf_form_has(f, "sync") ? 1 : 0, modes);
  return vote;
}

HANDLER(ballot) {
  uint32_t *d = SLOT(uint32_t, 0), p = PRED_SRC(1);
  EACH_GROUP(EACH_LANE(group, l) d[l] = p & group)
}
SELECT(select_ballot, [TF_T_b32] = ballot)

static inline uint64_t wide_lane(const void *slot, bool wide, unsigned l) {
  return wide ? ((const uint64_t *)slot)[l] : ((const uint32_t *)slot)[l];
}
static uint32_t equal_lanes(const void *a, bool wide, uint32_t group, unsigned l) {
  uint32_t same = 0;
  EACH_LANE(group, k) if (wide_lane(a, wide, k) == wide_lane(a, wide, l)) same |= 1u << k;
  return same;
}

HANDLER(match_any) {
  uint32_t *d = SLOT(uint32_t, 0), r[TF_LANES];
  const void *a = SLOT(const void, 1);
  EACH_GROUP(EACH_LANE(group, l) r[l] = equal_lanes(a, in->aux, group, l))
  EACH_LANE(mask, l) d[l] = r[l];
}
HANDLER(match_all) {
  uint32_t *d = SLOT(uint32_t, 0), all = 0;
  const void *a = SLOT(const void, 2);
  EACH_GROUP({
    bool same = equal_lanes(a, in->aux, group, leader) == group;
    EACH_LANE(group, l) d[l] = same ? group : 0;
    if (same) all |= group;
  })
  if (in->op[1]) SET_PRED(1, all);
}
SELECTOR(select_match_any) {
  f->in->aux = f->types[0] == TF_T_b64;
  return match_any;
}
SELECTOR(select_match_all) {
  f->in->aux = f->types[0] == TF_T_b64;
  return match_all;
}

enum { R_ADD, R_MIN, R_MAX, R_AND, R_OR, R_XOR, R_SIGNED = 8 };
static uint32_t reduce(uint32_t op, uint32_t a, uint32_t b) {
  switch (op) {
  case R_ADD:
  case R_ADD | R_SIGNED:
    return a + b;
  case R_MIN:
    return a < b ? a : b;
  case R_MAX:
    return a > b ? a : b;
  case R_MIN | R_SIGNED:
    return (int32_t)a < (int32_t)b ? a : b;
  case R_MAX | R_SIGNED:
    return (int32_t)a > (int32_t)b ? a : b;
  case R_AND:
    return a & b;
  case R_OR:
    return a | b;
  default:
    return a ^ b;
  }
}
HANDLER(redux) {
  uint32_t *d = SLOT(uint32_t, 0), r[TF_LANES];
  const uint32_t *a = SLOT(const uint32_t, 1);
  EACH_GROUP({
    uint32_t sum = a[leader];
    EACH_LANE(group & (group - 1), l) sum = reduce(in->aux, sum, a[l]);
    EACH_LANE(group, l) r[l] = sum;
  })
  EACH_LANE(mask, l) d[l] = r[l];
}
SELECTOR(select_redux) {
  static const char *const ops[] = {"add", "min", "max", "and", "or", "xor", NULL};
  f->in->aux = (uint32_t)tf_form_pick(f, 1, ops) | (f->types[0] == TF_T_s32 ? R_SIGNED : 0u);
  return redux;
}

/* A NaN loses against a number, unless .NaN asks for it; -0 is less than +0. */
enum { F_MAX = 1, F_ABS = 2, F_NAN = 4 };
static float lesser(float a, float b, bool nan) {
  if (a != a || b != b) return nan ? NAN : a != a ? b : a;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static float reduce_float(uint32_t op, float a, float b) {
  if (op & F_ABS) a = fabsf(a), b = fabsf(b);
  return op & F_MAX ? -lesser(-a, -b, op & F_NAN) : lesser(a, b, op & F_NAN);
}
HANDLER(redux_float) {
  uint32_t *d = SLOT(uint32_t, 0), r[TF_LANES];
  const float *a = SLOT(const float, 1);
  EACH_GROUP({
    float sum = a[leader];
    EACH_LANE(group, l) sum = reduce_float(in->aux, sum, a[l]);
    EACH_LANE(group, l) r[l] = sum == sum ? tf_float_bits(sum) : 0x7FFFFFFFu;
  })
  EACH_LANE(mask, l) d[l] = r[l];
}
SELECTOR(select_redux_float) {
  f->in->aux = (tf_form_has(f, "max") ? F_MAX : 0u) | (tf_form_has(f, "abs") ? F_ABS : 0u) |
               (tf_form_has(f, "NaN") ? F_NAN : 0u);
  return redux_float;
}

HANDLER(activemask) {
  uint32_t *d = SLOT(uint32_t, 0), active = mask;
  STORE_LANES(uint32_t, d, v = active)
}
SELECT(select_activemask, [TF_T_b32] = activemask)

HANDLER(elect) {
  uint32_t *d = SLOT(uint32_t, 0), chosen = 0;
  EACH_GROUP({
    EACH_LANE(group, l) d[l] = leader;
    chosen |= 1u << leader;
  })
  SET_PRED(1, chosen);
}
SELECTOR(select_elect) {
  (void)f;
  return elect;
}

HANDLER(meet){EACH_GROUP(tf_check_warp_sync(w, group))} SELECTOR(select_meet) {
  (void)f;
  return meet;
}

static const tf_row rows[] = {
#include "Sim/Insn/Warp.def"
};
TF_FAMILY(Warp, rows)
