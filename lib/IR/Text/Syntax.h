/* The syntax tree: the subset of Python's grammar that the language uses, before any name has a meaning.
 *
 * Nodes live in an arena and keep their exact place. Expressions are no deeper than TF_MAX_HEIGHT, so walks may recurse. */
#ifndef TF_IR_SYNTAX_H
#define TF_IR_SYNTAX_H

#include <tilefoundry/Diagnostics.h>
#include <tilefoundry/Type.h>

#include "IR/Text/Lexer.h"

#define TF_MAX_HEIGHT 400

typedef struct tf_node tf_node;

typedef enum tf_node_kind {
  /* Expressions. ERROR stands where one was reported as faulty. */
  TF_NODE_ERROR,
  TF_NODE_NAME,
  TF_NODE_INT,
  TF_NODE_FLOAT,
  TF_NODE_STRING,
  TF_NODE_TRUE,
  TF_NODE_FALSE,
  TF_NODE_NONE,
  TF_NODE_ELLIPSIS,
  TF_NODE_TUPLE, /* and list displays */
  TF_NODE_UNARY,
  TF_NODE_BINARY,
  TF_NODE_AND,
  TF_NODE_OR,
  TF_NODE_COMPARE,
  TF_NODE_IF_EXP,
  TF_NODE_CALL,
  TF_NODE_ATTRIBUTE,
  TF_NODE_SUBSCRIPT,
  TF_NODE_SLICE,
  /* Statements. BROKEN was reported; its nested block, if any, was only read for further faults. */
  TF_NODE_BROKEN,
  TF_NODE_ASSIGN,
  TF_NODE_EXPR,
  TF_NODE_RETURN,
  TF_NODE_PASS,
  TF_NODE_ASSERT,
  TF_NODE_IMPORT,
  TF_NODE_FOR,
  TF_NODE_WHILE,
  TF_NODE_IF,
  TF_NODE_WITH,
  TF_NODE_MATCH,
  TF_NODE_DEF,
  TF_NODE_CLASS
} tf_node_kind;

typedef enum tf_unary_op { TF_UNARY_OP_NEG, TF_UNARY_OP_POS, TF_UNARY_OP_INVERT, TF_UNARY_OP_NOT } tf_unary_op;

/* Operators of BINARY and COMPARE: those of scalar expressions as their kinds of Kinds.def, then those that only compile-time
 * values know. */
typedef enum tf_binary_op {
  TF_BINARY_OP_POWER = TF_SCALAR_BINARY_COUNT,
  TF_BINARY_OP_AT,
  TF_BINARY_OP_IN,
  TF_BINARY_OP_NOT_IN,
  TF_BINARY_OP_IS,
  TF_BINARY_OP_IS_NOT,
  TF_BINARY_OP_COUNT
} tf_binary_op;

typedef struct tf_block_syntax {
  unsigned count;
  tf_node **items;
} tf_block_syntax;

typedef struct tf_keyword_arg {
  const char *name; /* interned */
  tf_loc loc;       /* of the name */
  tf_node *value;
} tf_keyword_arg;

/* One condition with its block; also a case of a match, with its pattern. */
typedef struct tf_clause {
  tf_node *test;
  tf_block_syntax body;
  tf_loc loc;
} tf_clause;

typedef struct tf_param_syntax {
  const char *name;
  tf_loc loc;
  tf_node *annotation; /* null: none */
} tf_param_syntax;

/* `import path as alias`; from-imports have the imported name in `name`. */
typedef struct tf_import_name {
  const char *module, *name, *alias; /* name null: a plain import; alias null: none */
} tf_import_name;

struct tf_node {
  uint8_t kind;
  uint8_t
      op; /* UNARY: tf_unary_op; BINARY: scalar kind or tf_binary_op; BROKEN: DEF or CLASS where `def` has the name */
  bool parenthesised;
  uint16_t height;
  uint32_t start, end; /* byte range in the text */
  tf_loc loc;
  union {
    const char *name; /* NAME; interned */
    uint64_t integer;
    double number;
    const char *string; /* interned */
    struct {
      unsigned count;
      tf_node **items;
    } list; /* TUPLE, AND, OR */
    struct {
      tf_node *left, *right; /* UNARY: left null */
    } binary;
    struct {
      unsigned count; /* operands: one more than operators */
      tf_node **operands;
      const uint8_t *ops;
    } compare;
    struct {
      tf_node *test, *then, *otherwise;
    } if_exp;
    struct {
      tf_node *callee;
      unsigned arg_count, keyword_count;
      tf_node **args;
      tf_keyword_arg *keywords;
    } call;
    struct {
      tf_node *object;
      const char *name;
      tf_loc name_loc;
    } attribute;
    struct {
      tf_node *object, *index;
    } subscript;
    struct {
      tf_node *lower, *upper, *step; /* null: absent */
    } slice;
    struct {
      const char *name;
      tf_loc name_loc;
      tf_node *value;
    } assign;
    tf_node *expr; /* EXPR; RETURN: null or the refused value */
    struct {
      tf_node *test, *message; /* message null: absent */
    } assert_;
    struct {
      unsigned count;
      tf_import_name *names;
    } import;
    struct {
      const char *name;
      tf_loc name_loc;
      tf_node *head; /* FOR: the iterated expression; WITH: the mesh; WHILE: the condition, name null */
      tf_block_syntax body;
    } block;
    struct {
      unsigned count;
      tf_clause *clauses; /* if, elif, … */
      tf_block_syntax otherwise;
      bool has_else;
    } if_;
    struct {
      tf_node *subject;
      unsigned count;
      tf_clause *cases;
    } match;
    struct {
      const char *name;
      tf_loc name_loc;
      unsigned decorator_count, param_count;
      tf_node **decorators;
      tf_param_syntax *params;
      tf_node *returns; /* null: none */
      tf_block_syntax body;
    } def; /* DEF, CLASS */
  };
};

/* Parses source buffer `file` into a block of statements. Faults are reported to the context; this never fails:
 * what could not be read is BROKEN. The tree lives in `arena`. */
tf_block_syntax tf_parse_syntax(tf_context *context, uint32_t file, tf_arena *arena);
/* One expression alone, as in tf-llc -D; null after a report. */
tf_node *tf_parse_expression(tf_context *context, uint32_t file, tf_arena *arena);

/* The operator as it is written, e.g. "//" or "not in". */
const char *tf_binary_op_spelling(unsigned op);

#endif
