/* From a function's statements to its decoded instructions: shared by the decoder's files only.
 *
 *   statement ─▶ row of the instruction table (Match.c) ─▶ operands to slots, constants, addresses (Operand.c)
 *             ─▶ handler chosen by the row's select ─▶ labels and straight runs resolved (Function.c) */
#ifndef TF_SIM_DECODE_DECODE_H
#define TF_SIM_DECODE_DECODE_H

#include "Sim/Module.h"

enum { TF_MAX_OPERANDS = 300 };

typedef struct tf_fixup {
  uint32_t insn, imm; /* which immediate holds a statement index that becomes a pc */
} tf_fixup;

typedef struct tf_const_slot {
  uint64_t value;
  uint32_t at, width;
} tf_const_slot;

typedef struct tf_decoder {
  tf_module *module;
  tf_func *func;
  tf_ptx_func *ptx;
  const tf_ptx_stmt *stmt;
  tf_ptx_error *error;
  tf_insn *code;
  const tf_ptx_stmt **stmts; /* of each */
  size_t count, cap, stmt_cap;
  char *consts;
  size_t const_bytes, const_cap;
  tf_const_slot *const_list;
  size_t const_list_cap;
  uint32_t const_count;
  uint32_t *const_index; /* hash table: index into const_list + 1 */
  size_t const_index_size;
  tf_frame_init *inits;
  size_t init_count, init_cap;
  tf_fixup *fixups;
  size_t fixup_count, fixup_cap;
  const tf_ptx_label **labels; /* hash table, see tf_decode_label */
  size_t label_size;           /* a power of two */
  uint32_t *pc_of;             /* by statement, one more than there are */
  uint32_t regs_bytes, pred_at, pred_end;
  /* The statement being decoded. */
  tf_insn insn;
  tf_form form;
  uint32_t ops[TF_MAX_OPERANDS];
  uint8_t widths[TF_MAX_OPERANDS];
  unsigned op_count, imm_count, address_count;
  uint64_t written; /* bit i: operand i is written; lists are never so long that a written one lies beyond */
} tf_decoder;

/* Fails at the statement's line with a token. Always false. */
bool tf_decode_fail(tf_decoder *d, const char *token, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool tf_decode_no_memory(tf_decoder *d);

/* Match.c: fills d->form for the current statement and decodes its operands. */
bool tf_decode_match(tf_decoder *d);
/* The rows of an opcode in table order: *count of them from the returned one on; null if the opcode is unknown. */
const tf_row *const *tf_row_find(const tf_device *device, const char *opcode, size_t *count);

/* Operand.c: decodes the statement's operands after the row's pattern. False with *mismatch set: another row may fit. */
bool tf_decode_operands(tf_decoder *d, const tf_row *row, bool *mismatch);
/* Most operands of a pattern, and the least; `hint`: the statement has .L2::cache_hint. */
unsigned tf_operands_expected(const char *pattern, bool hint, unsigned *least);
uint32_t tf_decode_slot(tf_decoder *d, const tf_ptx_reg *reg, uint32_t index);
/* A constant broadcast to all lanes, 4, 8 or 16 bytes wide. TF_NO_OPERAND when memory is out. */
uint32_t tf_decode_const(tf_decoder *d, unsigned width, uint64_t value);
/* A value operand of any kind as source of `type`; width 0: by type. */
bool tf_decode_value(tf_decoder *d, const tf_ptx_operand *o, tf_type type, unsigned width, bool relaxed, uint32_t *op,
                     uint8_t *got);
/* Uses.c: notes which registers the instruction in d->insn reads and writes. */
bool tf_decode_uses(tf_decoder *d, const uint32_t *ops, const uint8_t *widths, unsigned count, uint64_t written);
/* Appends the instruction in d->insn. */
bool tf_decode_append(tf_decoder *d);

/* Call.c */
bool tf_decode_call(tf_decoder *d);
bool tf_decode_brx(tf_decoder *d);
/* Statement index of a label seen from the current statement; UINT32_MAX when unknown. */
const tf_ptx_label *tf_decode_label(const tf_decoder *d, const char *name);
/* The pool's copy of a layout for formal parameters. */
bool tf_decode_formals(tf_decoder *d);

#endif
