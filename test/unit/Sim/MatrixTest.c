/* ldmatrix and stmatrix of one, two and four matrices, plain and transposed, rows anywhere in shared memory.
 *
 * Rows lie in a random order of 16-byte places. Lane 8 i + r gives the address of row r of matrix i; lanes beyond give
 * wild addresses, which must not be looked at. Fragment: lane l has elements (l / 4, 2 (l % 4)) and its right neighbour of
 * each matrix, of the transposed matrix with .trans. */
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 7;
static unsigned roll(unsigned n) {
  return (unsigned)random_below(&state, n);
}

enum { PLACES = 64 }; /* of 16 bytes */
typedef struct buffer {
  uint32_t offset[32];      /* by lane: where its row lies in shared memory */
  uint32_t fragment[4][32]; /* by matrix and lane */
  uint16_t shared[PLACES * 8];
} buffer;

/* %r0 tid, %r1 the lane's row in shared memory (as `space` wants it), shared memory loaded from the buffer and stored back. */
static const char kernel[] =
    ".version 7.8\n.target sm_%s\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b32 %%r<9>, %%f<4>; .reg "
    ".b64 %%rd<9>; .shared .align 16 .b8 s[1024];\nld.param.u64 %%rd0, [p]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%rd1, "
    "%%r0, 4; add.u64 %%rd1, %%rd0, %%rd1; mov.u64 %%rd7, s;\nld.global.b32 %%r1, [%%rd1]; cvt.u64.u32 %%rd2, %%r1; "
    "add.u64 %%rd2, %%rd2, %%rd7; cvta.shared.u64 %%rd3, %%rd2;\nmul.wide.u32 %%rd4, %%r0, 32; add.u64 %%rd5, %%rd0, "
    "%%rd4; add.u64 %%rd7, %%rd7, %%rd4;\nld.global.v4.b32 {%%r2, %%r3, %%r4, %%r5}, [%%rd5+640]; st.shared.v4.b32 "
    "[%%rd7], {%%r2, %%r3, %%r4, %%r5}; ld.global.v4.b32 {%%r2, %%r3, %%r4, %%r5}, [%%rd5+656]; st.shared.v4.b32 "
    "[%%rd7+16], {%%r2, %%r3, %%r4, %%r5}; bar.warp.sync -1;\nld.global.b32 %%f0, [%%rd1+128]; ld.global.b32 %%f1, "
    "[%%rd1+256]; ld.global.b32 %%f2, [%%rd1+384]; ld.global.b32 %%f3, [%%rd1+512];\n%s\nbar.warp.sync "
    "-1;\nst.global.b32 [%%rd1+128], %%f0; st.global.b32 [%%rd1+256], %%f1; st.global.b32 [%%rd1+384], %%f2; "
    "st.global.b32 [%%rd1+512], %%f3;\nld.shared.v4.b32 {%%r2, %%r3, %%r4, %%r5}, [%%rd7]; st.global.v4.b32 "
    "[%%rd5+640], {%%r2, %%r3, %%r4, %%r5}; ld.shared.v4.b32 {%%r2, %%r3, %%r4, %%r5}, [%%rd7+16]; st.global.v4.b32 "
    "[%%rd5+656], {%%r2, %%r3, %%r4, %%r5};\nret; }\n";

static void fill(buffer *x, unsigned matrices) {
  unsigned order[PLACES];
  for (unsigned i = 0; i < PLACES; i++) {
    unsigned k = roll(i + 1);
    order[i] = order[k], order[k] = i;
  }
  for (unsigned l = 0; l < 32; l++)
    x->offset[l] = l < 8 * matrices ? order[l] * 16 : 0xFFFF0 + l;
  for (unsigned i = 0; i < 4; i++)
    for (unsigned l = 0; l < 32; l++)
      x->fragment[i][l] = roll(1 << 24) << 8 ^ roll(1 << 24);
  for (unsigned i = 0; i < PLACES * 8; i++)
    x->shared[i] = (uint16_t)roll(65536);
}

/* Does to x what the instruction must do. */
static void apply(buffer *x, unsigned matrices, bool trans, bool store) {
  for (unsigned i = 0; i < matrices; i++)
    for (unsigned l = 0; l < 32; l++)
      for (unsigned half = 0; half < 2; half++) {
        unsigned row = l / 4, col = l % 4 * 2 + half, shift = 16 * half;
        uint16_t *element = &x->shared[x->offset[8 * i + (trans ? col : row)] / 2 + (trans ? row : col)];
        uint32_t *word = &x->fragment[i][l];
        if (store)
          *element = (uint16_t)(*word >> shift);
        else
          *word = (*word & ~(0xFFFFu << shift)) | (uint32_t)*element << shift;
      }
}

START_TEST(every_form) {
  static const char *const spaces[] = {"", ".shared", ".shared::cta"}, *const lists[] = {"{%f0}", "{%f0, %f1}",
                                                                                         "{%f0, %f1, %f2, %f3}"};
  unsigned log = (unsigned)_i % 3, space = (unsigned)_i / 3 % 3;
  bool trans = _i / 9 % 2, store = _i / 18 > 0;
  char ptx[4096], text[128];
  const char *address = space ? "%rd2" : "%rd3";
  if (store)
    sprintf(text, "stmatrix.sync.aligned.m8n8.x%u%s%s.b16 [%s], %s;", 1u << log, trans ? ".trans" : "", spaces[space],
            address, lists[log]);
  else
    sprintf(text, "ldmatrix.sync.aligned.m8n8.x%u%s%s.b16 %s, [%s];", 1u << log, trans ? ".trans" : "", spaces[space],
            lists[log], address);
  sprintf(ptx, kernel, store ? "90" : "75", text);
  for (unsigned round = 0; round < 6; round++) {
    buffer x, y;
    fill(&x, 1u << log);
    y = x;
    run_ptx("sm_90", ptx, 1, 32, &x, sizeof x);
    apply(&y, 1u << log, trans, store);
    ck_assert_msg(memcmp(&x, &y, sizeof x) == 0, "%s", text);
  }
}
END_TEST

/* Rows must be aligned to 16 bytes. */
START_TEST(misaligned) {
  char ptx[4096];
  buffer x;
  sprintf(ptx, kernel, "90",
          _i ? "add.u64 %rd2, %rd2, 8; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%rd2], {%f0};"
             : "add.u64 %rd2, %rd2, 8; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%f0}, [%rd2];");
  fill(&x, 1);
  run_ptx_with(&(run_ptx_config){.profile = "sm_90", .grid = 1, .block = 32, .finding = "misaligned"}, ptx, &x,
               sizeof x);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("ldmatrix and stmatrix");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, every_form, 0, 36);
  tcase_add_loop_test(tcase, misaligned, 0, 2);
  return run_case("Sim matrices", tcase);
}
