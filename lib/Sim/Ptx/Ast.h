/* The syntax tree of one PTX module: what the parser hands to the decoder.
 *
 *   module ─┬─ variables (global, const, shared, extern)          names are resolved to declarations while parsing;
 *           └─ functions ─┬─ parameters, directives               labels, which may be used before they stand,
 *                         ├─ registers, local/shared/param vars   are resolved when the function ends.
 *                         └─ statements in order, labels as indices into them
 *
 * Everything lives in one pool and dies with it. */
#ifndef TF_SIM_PTX_AST_H
#define TF_SIM_PTX_AST_H

#include "Sim/Pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tf_type {
  TF_T_NONE,
#define T(name, bytes, kind) TF_T_##name,
#include "Sim/Ptx/Types.def"
#undef T
  TF_T_COUNT
} tf_type;

/* TF_T_NONE when `text` (without a dot) names no type. */
tf_type tf_type_from_name(const char *text, size_t length);
const char *tf_type_name(tf_type type);
unsigned tf_type_bytes(tf_type type);
char tf_type_kind(tf_type type); /* 'B' 'U' 'S' 'F' 'P' 'X' */

typedef enum tf_space {
  TF_SPACE_GENERIC,
  TF_SPACE_REG,
  TF_SPACE_GLOBAL,
  TF_SPACE_CONST,
  TF_SPACE_SHARED,
  TF_SPACE_LOCAL,
  TF_SPACE_PARAM,
} tf_space;

/* The first fault found in a module. */
typedef struct tf_ptx_error {
  uint32_t line;      /* 1-based; 0 while there is no error */
  char token[64];     /* the text at fault, shortened */
  char message[320];  /* what is wrong and what would be right */
  bool out_of_memory; /* the text is not at fault */
  bool unsupported;   /* legal PTX that this device profile or this simulator does not run */
} tf_ptx_error;

struct tf_ptx_var;
struct tf_ptx_func;

/* One element of an initialiser: bits, or the address of a symbol. */
typedef struct tf_ptx_init {
  uint64_t index; /* element of the flattened array */
  uint64_t bits;
  const struct tf_ptx_var *var;   /* address of a variable … */
  const struct tf_ptx_func *func; /* … or of a function */
  bool generic;                   /* generic(…) */
  uint8_t shift;                  /* mask(…) / 0xFF00(…): which byte of the address, times 8 */
  bool masked;                    /* one byte only */
} tf_ptx_init;

typedef struct tf_ptx_var {
  struct tf_ptx_var *next;
  const char *name;
  tf_space space;
  tf_type type;
  uint32_t align;
  uint32_t line;
  uint64_t elements; /* scalars, vectors counted by component */
  uint64_t bytes;
  bool is_extern, is_weak, is_visible, is_common, unsized;
  bool in_function; /* declared in a function's body or parameter list */
  bool is_entry_param;
  tf_ptx_init *init;
  size_t init_count;
  uint64_t address;               /* assigned by the loader: see Module.c and Layout.c */
  const struct tf_ptx_func *user; /* shared variables: the one function that uses it, see Layout.c */
  bool used_by_device_function, placed;
} tf_ptx_var;

/* .reg declarations: `%r<12>` is one declaration with count 12. */
typedef struct tf_ptx_reg {
  struct tf_ptx_reg *next;
  const char *name;
  tf_type type;
  uint32_t count;  /* 0: plain name */
  uint8_t vector;  /* 2 or 4 for vector registers, else 1 */
  uint32_t *slots; /* assigned by the decoder, count*vector entries, 0 = not used yet */
} tf_ptx_reg;

typedef struct tf_ptx_label {
  struct tf_ptx_label *next;
  const char *name;
  uint32_t scope;
  uint32_t line;
  uint32_t statement;                /* index of the statement it stands before */
  struct tf_ptx_label_list *targets; /* .branchtargets */
  struct tf_ptx_func *prototype;     /* .callprototype */
} tf_ptx_label;

typedef enum tf_operand_kind {
  TF_OP_NAME,  /* register, variable, function or label, plus `value` */
  TF_OP_INT,   /* value */
  TF_OP_F32,   /* value: 32 bits */
  TF_OP_F64,   /* value: 64 bits */
  TF_OP_ADDR,  /* [name + value], [value], or [name, {coordinates}] with items */
  TF_OP_VEC,   /* {items} */
  TF_OP_GROUP, /* (items) of a call */
  TF_OP_PAIR,  /* items[0] | items[1] */
  TF_OP_SINK,  /* _ */
} tf_operand_kind;

typedef struct tf_ptx_operand {
  tf_operand_kind kind;
  bool negated; /* !p */
  uint32_t line;
  const char *name; /* as written, also for numbers: for messages */
  int64_t value;
  const tf_ptx_reg *reg; /* what the name means; all null: a label, a special register or unknown */
  uint32_t reg_index;    /* element of a parametrised or vector register */
  tf_ptx_var *var;
  struct tf_ptx_func *func;
  struct tf_ptx_operand *items;
  uint32_t item_count;
} tf_ptx_operand;

typedef struct tf_ptx_label_list {
  const char **names;
  uint32_t count;
} tf_ptx_label_list;

enum { TF_PTX_MODS = 24 }; /* modifiers that a statement may have */

typedef struct tf_ptx_stmt {
  uint32_t line;
  uint32_t loc; /* index into the module's locations, 0 = none */
  uint32_t scope;
  const char *opcode;
  const char **mods; /* without their dots */
  uint32_t mod_count;
  tf_ptx_operand *operands;
  uint32_t operand_count;
  tf_ptx_operand *guard; /* null: always */
} tf_ptx_stmt;

typedef struct tf_ptx_func {
  struct tf_ptx_func *next;
  const char *name;
  uint32_t line;
  bool is_entry, is_extern, is_weak, is_visible, has_body, noreturn;
  tf_ptx_var **params, **rets; /* .reg parameters are variables of space TF_SPACE_REG */
  uint32_t param_count, ret_count;
  uint32_t maxntid[3], reqntid[3]; /* 0 = not given */
  uint32_t minnctapersm, maxnreg, maxclusterrank;
  uint32_t reqcluster[3];
  bool explicit_cluster;
  bool blocks_are_clusters; /* a launch's grid counts clusters */
  tf_ptx_reg *regs;
  tf_ptx_var *vars; /* local, shared and param variables of the body and the parameter list */
  tf_ptx_label *labels;
  tf_ptx_stmt *stmts;
  size_t stmt_count;
  uint32_t *scope_parent; /* by scope number; scope 0 is the body */
  uint32_t scope_count;
  bool address_taken;
  void *decoded; /* tf_func of this function, set by the loader */
} tf_ptx_func;

typedef struct tf_ptx_loc {
  uint32_t file, line;
  bool
      near; /* behind a .loc of line 0: the compiler made or moved the code, and the line is of what stands before it */
} tf_ptx_loc;

typedef struct tf_ptx_module {
  tf_pool pool;
  unsigned version;   /* 78 for 7.8 */
  unsigned target;    /* 90 for sm_90, sm_90a and sm_90f */
  char target_suffix; /* 'a', 'f' or 0 */
  char target_name[24];
  unsigned address_size;
  tf_ptx_var *vars; /* in order of declaration */
  tf_ptx_func *funcs;
  tf_ptx_loc *locs; /* entry 0 is unused */
  size_t loc_count;
  const char **files; /* by number; null where none */
  size_t file_count;
} tf_ptx_module;

/* Parses `length` bytes of PTX. On failure fills *error and returns null. Free with tf_ptx_module_free. */
tf_ptx_module *tf_ptx_parse(const char *text, size_t length, tf_ptx_error *error);
void tf_ptx_module_free(tf_ptx_module *module);

/* Records the first error: a printf-style message about `token` at `line`. Always returns false. */
bool tf_ptx_fail(tf_ptx_error *error, uint32_t line, const char *token, size_t token_length, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
