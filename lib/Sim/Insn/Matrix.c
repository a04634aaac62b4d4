/* ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16-bit elements.
 *
 * Lane 8 i + r gives the address of row r (16 bytes) of matrix i. In registers lane l holds two neighbouring elements of
 * row l / 4, columns 2 (l % 4) and the next; with .trans the same elements of the transposed matrix.
 *
 *              columns 0 1   2 3   4 5   6 7
 *      row 0          l0    l1    l2    l3
 *      row 1          l4    l5    l6    l7      … */
#include "Sim/Insn/Lanes.h"

enum { TRANS = 1 << 8 }; /* aux: number of matrices | TRANS */

typedef uint16_t matrix[8][8];

static void begin(tf_warp *w, const tf_insn *in, uint32_t op, uint32_t mask, unsigned kind, tf_access *a) {
  unsigned rows = 8 * (in->aux & 0xFF);
  a->mask = rows == 32 ? mask : mask & ((1u << rows) - 1); /* the other lanes' addresses are not looked at */
  a->bytes = 16;
  a->align = 16;
  a->kind = (uint8_t)kind;
  a->part = NULL;
  a->space = in->space;
  a->ok = 0;
  a->order = 0;
  a->in_flight = false;
  if (!a->mask) return;
  tf_access_addresses(w, in, op, 0, in->imm[0], a->addr);
  tf_access_resolve(w, in, a);
  if (w->watch) tf_check_access(w, in, a);
}

static unsigned char *row_pointer(const tf_access *a, unsigned lane) {
  return a->dense ? a->ptr[0] + 16 * lane : a->ptr[lane];
}

/* The two elements that lane l holds of a matrix. */
static uint32_t lane_pair(matrix m, bool trans, unsigned l) {
  unsigned row = l / 4, col = l % 4 * 2;
  return trans ? m[col][row] | (uint32_t)m[col + 1][row] << 16 : m[row][col] | (uint32_t)m[row][col + 1] << 16;
}

static void set_lane_pair(matrix m, bool trans, unsigned l, uint32_t pair) {
  unsigned row = l / 4, col = l % 4 * 2;
  *(trans ? &m[col][row] : &m[row][col]) = (uint16_t)pair;
  *(trans ? &m[col + 1][row] : &m[row][col + 1]) = (uint16_t)(pair >> 16);
}

HANDLER(ldmatrix) {
  tf_access a;
  unsigned n = in->aux & 0xFF;
  bool trans = in->aux & TRANS;
  matrix m[4] = {0};
  begin(w, in, in->ext[n], mask, TF_READ, &a);
  for (unsigned l = 0; l < 8 * n; l++)
    if (LANE(a.ok, l)) memcpy(m[l / 8][l % 8], row_pointer(&a, l), 16);
  for (unsigned i = 0; i < n; i++) {
    uint32_t *d = EXT(uint32_t, i);
    STORE_LANES(uint32_t, d, v = lane_pair(m[i], trans, l))
  }
}

HANDLER(stmatrix) {
  tf_access a;
  unsigned n = in->aux & 0xFF;
  matrix m[4];
  begin(w, in, in->ext[0], mask, TF_WRITE, &a);
  w->worker->progress++;
  for (unsigned i = 0; i < n; i++)
    for (unsigned l = 0; l < TF_LANES; l++)
      set_lane_pair(m[i], in->aux & TRANS, l, EXT(const uint32_t, 1 + i)[l]);
  for (unsigned l = 0; l < 8 * n; l++)
    if (LANE(a.ok, l)) memcpy(row_pointer(&a, l), m[l / 8][l % 8], 16);
}

HANDLER(movmatrix) {
  matrix m;
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1);
  for (unsigned l = 0; l < TF_LANES; l++)
    set_lane_pair(m, false, l, s[l]);
  STORE_LANES(uint32_t, d, v = lane_pair(m, true, l))
}

static bool encode(tf_form *f, unsigned list) {
  unsigned n = (unsigned)(f->mods[3][1] - '0');
  if (f->count[list] != n) {
    f->refusal = "the list of registers does not match .x1, .x2 or .x4";
    return false;
  }
  if (f->in->space != TF_SPACE_SHARED && f->in->space != TF_SPACE_GENERIC) {
    f->refusal = "the matrix must be in shared memory";
    return false;
  }
  f->in->aux = n | (tf_form_has(f, "trans") ? TRANS : 0);
  return true;
}

SELECTOR(select_ldmatrix) {
  return encode(f, 0) ? ldmatrix : NULL;
}
SELECTOR(select_stmatrix) {
  return encode(f, 1) ? stmatrix : NULL;
}
SELECTOR(select_movmatrix) {
  (void)f;
  return movmatrix;
}

static const tf_row rows[] = {
#include "Sim/Insn/Matrix.def"
};
TF_FAMILY(Matrix, rows)
