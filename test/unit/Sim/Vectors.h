/* Vectors of arithmetic instructions, generated from the instruction table.
 *
 * A row of the table stands for all combinations of its modifiers; each combination that the ISA has is a form here, and
 * gets a statement with registers for its operands:
 *
 *     row    cvt  "rn|rz relu? satfinite f16 f32"  "d0 s1"
 *     forms  cvt.rn.satfinite.f16.f32 %d, %a;   cvt.rn.relu.satfinite.f16.f32 %d, %a;   …
 *
 * Many forms share one kernel: every lane loads its operands once and stores one result per form. A form whose only
 * operand has 16 bits meets all 65,536 of them (packed ones in both halves), others meet edge values and noise. The same
 * forms run once more with every third lane masked off, whose registers must keep what they held. What the results must
 * be says the test that owns the family; combinations that the ISA lacks must be refused. */
#ifndef TF_TEST_SIM_VECTORS_H
#define TF_TEST_SIM_VECTORS_H

#include "Sim/Insn.h"

enum { VEC_MODS = 12, VEC_TYPES = 4, VEC_SOURCES = 4 };

typedef struct vec_form {
  const tf_row *row;
  const char *opcode;
  char name[96]; /* "cvt.rn.f16.f32" */
  char mods[VEC_MODS][16];
  unsigned mod_count;
  char types[VEC_TYPES][8]; /* those among the modifiers */
  unsigned type_count;
  unsigned width;               /* bits of the destination's register; 0: a predicate */
  unsigned source[VEC_SOURCES]; /* bits of the sources' registers; 0: a predicate */
  char of_type[VEC_SOURCES][8]; /* their types */
  unsigned source_count;
  bool paired;    /* writes two predicates (p|q), or a register and a predicate */
  bool negated;   /* its predicate source is !p */
  char rounding;  /* n z m p a: of rn, rzi and the like; n where nothing says otherwise */
  bool widened;   /* registers may be wider than their types */
  int immediate;  /* -1: none */
  char text[256]; /* the statement: %d or %t0 and %t1, sources %a %b %c %e or %pa … */
} vec_form;

/* What a form must give: the destination (or the first predicate), and the second predicate or whatever suite->frame put
 * into %y. Lanes that do not write leave 7 in registers and 1 in predicates. */
typedef struct vec_result {
  uint64_t d;
  uint32_t extra;
} vec_result;

typedef struct vec_suite {
  const char *family;
  bool (*wanted)(const tf_row *row);   /* null: all rows of the family */
  bool (*legal)(const vec_form *form); /* null: all combinations are */
  /* The result for the sources, each in the low bits of its register's width; predicates as read, after a '!'. Behind
   * the last stands what %x holds: 0 half of the time. */
  vec_result (*evaluate)(const vec_form *form, const uint64_t s[VEC_SOURCES]);
  bool (*same)(const vec_form *form, vec_result got, vec_result want); /* null: equal bits */
  /* Statements before and after the form's, e.g. to set the carry from %x and read it into %y; null: none. */
  const char *(*frame)(const vec_form *form, bool after);
} vec_suite;

bool vec_has(const vec_form *form, const char *mod);
/* Index of the modifier that stands on the form, or -1. */
int vec_pick(const vec_form *form, const char *const *list);
/* "u8" has 8, "f16x2" 32, "e4m3x2" 16. */
unsigned vec_bits(const char *type);

/* Number of the family's wanted rows; checks the index-th of them. */
int vec_rows(const vec_suite *suite);
void vec_check(const vec_suite *suite, int index);

#endif
