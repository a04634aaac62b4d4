/* Building ops and leaves. The functions with one argument struct per op are generated from the table: each gathers its
 * struct's members into arrays in table order and goes through tf_builder_op, as a front end that reads the table does. */
#include "IR/BuilderImpl.h"

#include <string.h>

#include "IR/Infer.h"

#define MAX_ATTRS 8

typedef struct op_in {
  tf_op op;
  const char *name;
  unsigned arg_count;
  const tf_expr *const *args;
  const tf_attr *attrs;
} op_in;

/* ---- Operands -------------------------------------------------------------------------------------------------------------- */
/* The operands in table order, absent optional ones at the end filled in with null. */
static const tf_expr *const *complete(tf_builder *b, const tf_op_info *info, const op_in *in, unsigned *count) {
  unsigned optional = 0;
  while (optional < info->operand_count &&
         info->operands[info->operand_count - 1 - optional].arity == TF_ARITY_OPTIONAL)
    optional++;
  *count = in->arg_count;
  if (in->arg_count + optional < info->operand_count || in->arg_count >= info->operand_count) return in->args;
  const tf_expr **args = TF_ARENA_ARRAY(&b->context->arena, const tf_expr *, info->operand_count);
  if (in->arg_count) memcpy(args, in->args, in->arg_count * sizeof *args);
  *count = info->operand_count;
  return args;
}

static bool accepts_operands(tf_builder *b, const tf_op_info *info, unsigned count, const tf_expr *const *args) {
  if (count && !args) return tf_builder_misuse(b, info->name, "the list of operands is null");
  for (unsigned i = 0; i < count; i++) {
    bool optional = i < info->operand_count && info->operands[i].arity == TF_ARITY_OPTIONAL;
    if (optional && !args[i]) continue;
    if (!tf_builder_accepts(b, info->name, args[i])) return false;
  }
  return true;
}

/* ---- The three forms --------------------------------------------------------------------------------------------------------- */
static void add_effect(tf_builder *b, tf_frame *frame, const tf_invocation *invocation) {
  if (!tf_operands_check(b->context, invocation)) {
    tf_builder_break(b, TF_INVALID_ARGUMENT);
    return;
  }
  tf_block_add(&frame->block, tf_stmt_evaluate(b->context, invocation->op, invocation->arg_count, invocation->args,
                                               invocation->attrs, b->place));
}

/* Operands of a wrong kind are a misuse of the API, everything else that inference refuses breaks the language. */
static const tf_expr *make_call(tf_builder *b, const tf_invocation *invocation) {
  bool operands = tf_operands_check(b->context, invocation);
  const tf_expr *call = operands ? tf_expr_call(b->context, invocation->op, invocation->arg_count, invocation->args,
                                                invocation->attrs, invocation->loc)
                                 : NULL;
  if (call) return tf_builder_made(b, call, invocation->arg_count, invocation->args);
  tf_builder_break(b, operands ? TF_VERIFY : TF_INVALID_ARGUMENT);
  return NULL;
}

static void add_op(tf_build *build) {
  tf_builder *b = build->builder;
  const op_in *in = build->in;
  const tf_op_info *info = tf_op_get_info(in->op);
  if (!info) {
    tf_builder_misuse(b, "op", "there is no such op");
    return;
  }
  tf_frame *frame = info->form == TF_FORM_SCALAR ? NULL : tf_builder_block(b, info->name);
  unsigned count;
  const tf_expr *const *args = complete(b, info, in, &count);
  if (b->status != TF_OK || !accepts_operands(b, info, count, args)) return;
  if (!tf_builder_accepts_attrs(b, in->op, in->attrs)) return;
  if (info->form == TF_FORM_VALUE && !tf_builder_is_name(b, info->name, in->name)) return;
  tf_invocation invocation = {in->op, count, args, in->attrs, b->place.loc};
  if (info->form == TF_FORM_EFFECT) {
    add_effect(b, frame, &invocation);
    return;
  }
  build->out = make_call(b, &invocation);
  if (!build->out || info->form == TF_FORM_SCALAR) return;
  const tf_expr *value = build->out;
  build->out = tf_builder_bound(b, tf_expr_let_var(b->context, in->name, value, b->place.loc));
  tf_block_let(&frame->block, build->out, value, b->place);
}

const tf_expr *tf_builder_op(tf_builder *builder, tf_op op, const char *name, unsigned arg_count,
                             const tf_expr *const *args, const tf_attr *attrs) {
  return tf_build_run(builder, add_op, &(op_in){op, name, arg_count, args, attrs});
}

/* ---- One function per op --------------------------------------------------------------------------------------------------------- */
/* Members of an argument struct, gathered. */
typedef struct gathered {
  unsigned fixed_count, variadic_count, attr_count;
  const tf_expr *fixed[16];
  const tf_expr *const *variadic;
  tf_attr attrs[MAX_ATTRS];
} gathered;

#define ATTR_OF_TYPE(value)                                                                                            \
  { .type = (value) }
#define ATTR_OF_LAYOUT(value)                                                                                          \
  { .layout = (value) }
#define ATTR_OF_SHAPE(value)                                                                                           \
  { .tuple = (value) }
#define ATTR_OF_AXES(value)                                                                                            \
  { .tuple = (value) }
#define ATTR_OF_CLUSTER(value)                                                                                         \
  { .tuple = (value) }
#define ATTR_OF_INT(value)                                                                                             \
  { .i = (value) }
#define ATTR_OF_FLOAT(value)                                                                                           \
  { .f = (value) }
#define ATTR_OF_LITERAL(value)                                                                                         \
  { .literal = (value) }
#define ATTR_OF_DTYPE(value)                                                                                           \
  { .i = (int64_t)(value) }
#define ATTR_OF_LEVEL(value)                                                                                           \
  { .i = (int64_t)(value) }
#define ATTR_OF_DIM(value)                                                                                             \
  { .dim = (value) }
#define ATTR_OF_MESH(value)                                                                                            \
  { .mesh = (value) }
#define ATTR_OF_ATOM(value)                                                                                            \
  { .atom = (value) }
#define ATTR_OF_BINARY(value)                                                                                          \
  { .i = (int64_t)(value) }
#define ATTR_OF_UNARY(value)                                                                                           \
  { .i = (int64_t)(value) }
#define ATTR_OF_REDUCE(value)                                                                                          \
  { .i = (int64_t)(value) }
#define ATTR_OF_SCALAR_BINARY(value)                                                                                   \
  { .i = (int64_t)(value) }
#define ATTR_OF_SCALAR_UNARY(value)                                                                                    \
  { .i = (int64_t)(value) }
#define ATTR_OF_LAUNCH_ATTRS(value)                                                                                    \
  { .launch_attrs = (value) }

#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING)                                                                      \
  static void gather_##ID(const tf_args_##ID *args, gathered *out) {                                                   \
    (void)args;                                                                                                        \
    (void)out;
#define TF_OPERAND(ID, NAME, PREDICATE, MEANING)  out->fixed[out->fixed_count++] = args->NAME;
#define TF_OPTIONAL(ID, NAME, PREDICATE, MEANING) out->fixed[out->fixed_count++] = args->NAME;
#define TF_VARIADIC(ID, NAME, PREDICATE, MEANING)                                                                      \
  out->variadic = args->NAME;                                                                                          \
  out->variadic_count = args->NAME##_count;
#define TF_ATTR(ID, NAME, KIND, DEFAULT, MEANING) out->attrs[out->attr_count++] = (tf_attr)ATTR_OF_##KIND(args->NAME);
#define TF_OP_END(ID)                             }
#include <tilefoundry/Ops.def>

typedef struct gathered_in {
  tf_op op;
  const char *name;
  const gathered *members;
} gathered_in;

/* Joins fixed and variadic operands. */
static void add_gathered(tf_build *build) {
  const gathered_in *in = build->in;
  const gathered *members = in->members;
  unsigned count = members->fixed_count + members->variadic_count;
  if (members->variadic_count && !members->variadic) {
    tf_builder_misuse(build->builder, tf_op_get_info(in->op)->name, "the list of operands is null");
    return;
  }
  const tf_expr **args = TF_ARENA_ARRAY(&build->builder->context->arena, const tf_expr *, count);
  memcpy(args, members->fixed, members->fixed_count * sizeof *args);
  if (members->variadic_count)
    memcpy(args + members->fixed_count, members->variadic, members->variadic_count * sizeof *args);
  op_in inner = {in->op, in->name, count, args, members->attrs};
  tf_build call = {build->builder, &inner, NULL};
  add_op(&call);
  build->out = call.out;
}

static void no_arguments(tf_build *build) {
  tf_builder_misuse(build->builder, build->in, "the arguments are null");
}

#define BUILD(ID, NAME)                                                                                                \
  gathered members = {0};                                                                                              \
  if (args) gather_##ID(args, &members);                                                                               \
  const tf_expr *made = args ? tf_build_run(builder, add_gathered, &(gathered_in){TF_OP_##ID, NAME, &members})         \
                             : tf_build_run(builder, no_arguments, tf_op_get_info(TF_OP_##ID)->name);
#define DEFINE_VALUE(ID)                                                                                               \
  const tf_expr *tf_build_##ID(tf_builder *builder, const char *name, const tf_args_##ID *args) {                      \
    BUILD(ID, name)                                                                                                    \
    return made;                                                                                                       \
  }
#define DEFINE_SCALAR(ID)                                                                                              \
  const tf_expr *tf_build_##ID(tf_builder *builder, const tf_args_##ID *args) {                                        \
    BUILD(ID, NULL)                                                                                                    \
    return made;                                                                                                       \
  }
#define DEFINE_EFFECT(ID)                                                                                              \
  void tf_build_##ID(tf_builder *builder, const tf_args_##ID *args) {                                                  \
    BUILD(ID, NULL)                                                                                                    \
    (void)made;                                                                                                        \
  }
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) DEFINE_##FORM(ID)
#include <tilefoundry/Ops.def>

/* ---- Leaves ------------------------------------------------------------------------------------------------------------------------ */
typedef struct leaf_in {
  tf_dtype dtype;
  int64_t i;
  double f;
  const tf_expr *param;
  unsigned axis, count;
  const tf_expr *const *elements;
} leaf_in;

static bool is_dtype_of(tf_builder *b, tf_dtype dtype, bool floats, const char *function) {
  bool known = (unsigned)dtype < TF_DTYPE_COUNT && (tf_dtype_get_class(dtype) == TF_CLASS_FLOAT) == floats;
  return known ||
         tf_builder_misuse(b, function, floats ? "the dtype is no float" : "the dtype is no integer and not bool");
}

static void make_int(tf_build *build) {
  tf_builder *b = build->builder;
  const leaf_in *in = build->in;
  if (!is_dtype_of(b, in->dtype, false, "int")) return;
  build->out = tf_builder_made(b, tf_expr_int(b->context, in->dtype, in->i, b->place.loc), 0, NULL);
}

static void make_float(tf_build *build) {
  tf_builder *b = build->builder;
  const leaf_in *in = build->in;
  if (!is_dtype_of(b, in->dtype, true, "float")) return;
  build->out = tf_builder_made(b, tf_expr_float(b->context, in->dtype, in->f, b->place.loc), 0, NULL);
}

static void make_shape_of(tf_build *build) {
  tf_builder *b = build->builder;
  const leaf_in *in = build->in;
  if (!tf_builder_accepts(b, "shape_of", in->param)) return;
  if (in->param->kind != TF_EXPR_VAR || !in->param->var.is_param) {
    tf_builder_misuse(b, "shape_of", "the tensor is no parameter");
    return;
  }
  const tf_expr *made = tf_expr_shape_of(b->context, in->param, in->axis, b->place.loc);
  build->out = tf_builder_made(b, made, 1, &in->param);
}

static void make_tuple(tf_build *build) {
  tf_builder *b = build->builder;
  const leaf_in *in = build->in;
  if (!tf_builder_accepts_all(b, "tuple", in->count, in->elements)) return;
  const tf_expr *made = tf_expr_tuple(b->context, in->count, in->elements, b->place.loc);
  build->out = tf_builder_made(b, made, in->count, in->elements);
}

const tf_expr *tf_builder_int(tf_builder *builder, tf_dtype dtype, int64_t value) {
  return tf_build_run(builder, make_int, &(leaf_in){.dtype = dtype, .i = value});
}

const tf_expr *tf_builder_float(tf_builder *builder, tf_dtype dtype, double value) {
  return tf_build_run(builder, make_float, &(leaf_in){.dtype = dtype, .f = value});
}

const tf_expr *tf_builder_shape_of(tf_builder *builder, const tf_expr *param, unsigned axis) {
  return tf_build_run(builder, make_shape_of, &(leaf_in){.param = param, .axis = axis});
}

const tf_expr *tf_builder_tuple(tf_builder *builder, unsigned count, const tf_expr *const *elements) {
  return tf_build_run(builder, make_tuple, &(leaf_in){.count = count, .elements = elements});
}

/* Interned by bytes, so padding inside is cleared first. */
const tf_launch_attrs *tf_launch_attrs_get(tf_context *context, size_t count, const tf_launch_attr *entries) {
  if (!context || (count && !entries)) return NULL;
  tf_launch_attr *own = TF_ARENA_ARRAY(&context->arena, tf_launch_attr, count);
  for (size_t i = 0; i < count; i++) {
    own[i].kind = entries[i].kind;
    memcpy(own[i].values, entries[i].values, sizeof entries[i].values);
  }
  tf_launch_attrs key = {count, tf_context_intern_bytes(context, TF_INTERN_ATTR, own, count * sizeof *own)};
  return tf_context_intern_bytes(context, TF_INTERN_ATTR, &key, sizeof key);
}
