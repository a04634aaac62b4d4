/* The printer's state, shared by its files. Text goes to `out`; what it needs else lives in the context's arena.
 *
 * Printed names are unique where they are visible: a variable whose name is taken there, or reserved, gets a number. Names
 * that are unique already never change, so printing what was read from printed text gives the same text. */
#ifndef TF_IR_PRINT_INTERNAL_H
#define TF_IR_PRINT_INTERNAL_H

#include <tilefoundry/Text.h>

#include "IR/Nodes.h"
#include "Support/Context.h"

/* A pointer-keyed table in an arena. */
typedef struct tf_print_entry {
  const void *key;
  union {
    const char *name; /* of a variable */
    unsigned count;   /* of a name: how often it is taken now */
  };
  unsigned next; /* of a name: the number to try first for a variable of that name */
} tf_print_entry;

typedef struct tf_print_table {
  tf_print_entry *entries;
  size_t capacity, count;
} tf_print_table;

typedef struct tf_printer {
  tf_context *context;
  tf_string out;
  tf_print_table vars, names;
  struct {
    TF_VEC(const char *);
  } taken; /* names in the order in which they were taken */
  struct {
    TF_VEC(const tf_expr *);
  } meshes; /* bindings of the scopes in force, outermost first */
  const tf_stmt *function; /* at hand, or null */
  tf_print_table hidden; /* interned names that functions, intrinsics and their parameters have */
  bool failed;
  bool quiet; /* a name that text cannot hold fails without a diagnostic */
  bool writes_out_all; /* DimVars, whatever their names: text to compare, not to show */
} tf_printer;

void tf_printer_init(tf_printer *p, tf_context *context);
/* tf_print without diagnostics, for texts that nobody reads. */
TF_NODISCARD tf_status tf_print_quietly(const tf_module *module, const char **out);
/* Ends the program text when it cannot say what the IR holds. */
void tf_printer_fail(tf_printer *p, const char *name, const char *why);

/* ---- Names (PrintName.c) ---- */
/* Names the variables of a block that ends are free again: release to the count of `taken` at its start. */
void tf_print_release(tf_printer *p, size_t mark);
/* A name that no variable gets. */
void tf_print_reserve(tf_printer *p, const char *name);
/* Chooses the name of a variable at its binding. */
const char *tf_print_bind(tf_printer *p, const tf_expr *var);
const char *tf_print_name(tf_printer *p, const tf_expr *var);
/* Reserves the language's own names that printed text uses. */
void tf_print_reserve_language(tf_printer *p);
/* Parameters keep their names, which are part of the interface; the printer fails for one that text cannot hold. */
const char *tf_print_bind_param(tf_printer *p, const tf_expr *param);
/* Whether printed text uses the name for the language's own; and whether a function, or a parameter, of that name would hide
 * something that cannot be written otherwise. */
bool tf_print_uses(const char *name);
bool tf_print_hides(const char *name, bool is_param);
/* The name of a function or intrinsic that is called; the printer fails where a parameter hides it. */
const char *tf_print_callee(tf_printer *p, const char *name);
/* "T." in front of a function of the language whose name a function of the module has, else "". */
const char *tf_print_space(tf_printer *p, const char *name);
tf_print_entry *tf_print_entry_of(tf_context *context, tf_print_table *table, const void *key);
bool tf_print_holds(const tf_print_table *table, const void *key);

/* ---- Expressions (PrintExpr.c) ---- */
/* An operand: a literal stands plain where the parser would give it this dtype back. `literal` is that of the place, or
 * TF_DTYPE_COUNT for the usual i64 and f32. */
void tf_print_operand(tf_printer *p, const tf_expr *expr, tf_dtype literal);
/* The whole value of a binding, which must not read as a static one. */
void tf_print_value(tf_printer *p, const tf_expr *expr);
/* A call of an op in either form, with the authored loc= text or null. */
void tf_print_invocation(tf_printer *p, const tf_invocation *invocation, const char *loc_text);
/* Layouts, types and meshes with the names of the scopes in force. */
void tf_print_mesh(tf_printer *p, const tf_mesh *mesh);
void tf_print_layout(tf_printer *p, const tf_layout *layout);
void tf_print_indent(tf_printer *p, unsigned indent);

/* ---- Statements (PrintStmt.c) ---- */
void tf_print_body(tf_printer *p, const tf_stmt *sequential, unsigned indent);
void tf_print_statement(tf_printer *p, const tf_stmt *stmt, unsigned indent);
void tf_print_function(tf_printer *p, const tf_stmt *function, unsigned indent);

/* ---- DimVars (PrintDims.c) ---- */
typedef struct tf_dim_var_info {
  const char *name;
  int64_t lo, hi;
} tf_dim_var_info;
typedef struct tf_dim_vars {
  TF_VEC(tf_dim_var_info);
} tf_dim_vars;
/* All DimVars of the module in order of first appearance. */
void tf_print_collect_dims(tf_printer *p, const tf_module *module, tf_dim_vars *out);
/* Notes the names that DimVars cannot stand under in this module. */
void tf_print_hide_dims(tf_printer *p, const tf_module *module);
/* Whether a DimVar of the (interned) name is written out, DimVar("name", lo, hi), instead of standing under its name. */
bool tf_print_writes_out(const tf_context *context, const char *name);

#endif
