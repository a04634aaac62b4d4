/* The PTX of an @intrinsic against the arguments of a use: an operand has to have the type that its instruction names.
 *
 *   red.global.add.f32 [{x}], {v};     {x} is an address: a tensor, or an integer of 64 bits
 *   └────── opcode ──┘ └ operands ┘    {v} is an .f32: a scalar of f32
 *
 * Registers of PTX that LLVM writes have a size and no type, so an i32 where the instruction says .f32 would be taken as
 * one without a word. Instructions with several types, or none, leave their operands to ptxas. */
#include "Verify/State.h"

#include <string.h>

/* ---- Types of instructions ---- */
typedef struct ptx_type {
  const char *name;
  unsigned bits;
  char kind;      /* 'b' bits, 'i' integer, 'f' float */
  tf_dtype dtype; /* of a float */
} ptx_type;

static const ptx_type types[] = {
    {"b8", 8, 'b', TF_DTYPE_U8},      {"b16", 16, 'b', TF_DTYPE_U16},   {"b32", 32, 'b', TF_DTYPE_U32},
    {"b64", 64, 'b', TF_DTYPE_U64},   {"u8", 8, 'i', TF_DTYPE_U8},      {"u16", 16, 'i', TF_DTYPE_U16},
    {"u32", 32, 'i', TF_DTYPE_U32},   {"u64", 64, 'i', TF_DTYPE_U64},   {"s8", 8, 'i', TF_DTYPE_I8},
    {"s16", 16, 'i', TF_DTYPE_I16},   {"s32", 32, 'i', TF_DTYPE_I32},   {"s64", 64, 'i', TF_DTYPE_I64},
    {"f16", 16, 'f', TF_DTYPE_F16},   {"bf16", 16, 'f', TF_DTYPE_BF16}, {"tf32", 32, 'f', TF_DTYPE_TF32},
    {"f32", 32, 'f', TF_DTYPE_F32},   {"f64", 64, 'f', TF_DTYPE_F64},   {"f16x2", 32, 'b', TF_DTYPE_U32},
    {"bf16x2", 32, 'b', TF_DTYPE_U32}};

static const ptx_type *type_named(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0) return &types[i];
  return NULL;
}

/* An instruction of the template. */
typedef struct instruction {
  const char *opcode;
  size_t length;
  const ptx_type *type; /* null: none, several, or not for its operands */
} instruction;

static bool begins_with(const instruction *in, const char *text) {
  return strncmp(in->opcode, text, strlen(text)) == 0;
}

/* Counts and positions of these have a size of their own. */
static bool has_odd_operands(const instruction *in) {
  static const char *const names[] = {"cvt", "shl.", "shr.", "bfe.", "bfi.", "mbarrier.", "mul.wide", "mad.wide"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (begins_with(in, names[i])) return true;
  return false;
}

static instruction read_opcode(const char *at) {
  instruction in = {at, strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_.:"), NULL};
  unsigned count = 0;
  for (size_t i = 0; i < in.length; i++) {
    size_t length = strcspn(at + i, ".: \t\n[{,;");
    if (i + length > in.length) length = in.length - i;
    const ptx_type *type = i ? type_named(at + i, length) : NULL;
    if (type && type != in.type) count++;
    if (type) in.type = type;
    i += length;
  }
  if (count > 1 || has_odd_operands(&in)) in.type = NULL;
  return in;
}

/* ---- Operands ---- */
typedef struct use {
  tf_context *context;
  const tf_stmt *stmt;
  const char *param;
  const tf_expr *arg;
} use;

static bool report(const use *u, const char *place, const char *takes) {
  const char *has = tf_type_get_kind(u->arg->type) == TF_TYPE_MESH ? "a mesh"
                    : tf_is_scalar(u->arg) ? tf_arena_printf(&u->context->arena, "a scalar of %s",
                                                             tf_dtype_name(tf_type_dtype(u->arg->type)))
                                           : "a tensor";
  const tf_intrinsic *decl = u->stmt->intrinsic.decl;
  tf_report(u->context, u->stmt->loc, INTRINSIC_TEMPLATE, decl->class_name, u->param, place, takes, has);
  if (decl->loc.line) tf_report(u->context, decl->loc, INTRINSIC_HERE, decl->name);
  return false;
}

/* Small integers, bool and the 8-bit floats lie in registers of 32 bits. */
static unsigned register_bits(tf_dtype dtype) {
  unsigned bits = tf_dtype_bits(dtype);
  return bits < 16 ? 32 : bits;
}

static bool is_literal(const tf_expr *arg) {
  return arg->kind == TF_EXPR_CONSTANT && tf_dtype_get_class(tf_type_dtype(arg->type)) != TF_CLASS_FLOAT;
}

static bool literal_fits(const tf_expr *arg, unsigned bits) {
  int64_t value = arg->constant.i;
  return bits >= 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << bits);
}

static bool has_type(const tf_expr *arg, const instruction *in) {
  const ptx_type *type = in->type;
  if (is_literal(arg)) return type->kind != 'f' && literal_fits(arg, type->bits);
  tf_dtype dtype = tf_type_dtype(arg->type);
  bool is_float = tf_dtype_get_class(dtype) == TF_CLASS_FLOAT;
  if (type->kind == 'f') return dtype == type->dtype;
  if (type->kind == 'i' && is_float) return false;
  if (register_bits(dtype) == type->bits) return true;
  bool has_wide_registers = begins_with(in, "st.") && (!is_float || tf_dtype_bits(dtype) == type->bits);
  return has_wide_registers && register_bits(dtype) > type->bits;
}

static bool check_operand(const use *u, const instruction *in, bool in_brackets) {
  tf_context *context = u->context;
  bool tensor = tf_type_is_tensor(u->arg->type) && !tf_is_scalar(u->arg);
  bool scalar = tf_type_is_tensor(u->arg->type) && !tensor;
  if (!tensor && !scalar) return report(u, "an operand", "a tensor or a scalar");
  if (in_brackets) {
    tf_dtype dtype = tf_type_dtype(u->arg->type);
    bool wide = tf_dtype_get_class(dtype) != TF_CLASS_FLOAT && tf_dtype_bits(dtype) == 64;
    return tensor || (wide && !is_literal(u->arg)) || report(u, "an address", "a tensor, or an integer of 64 bits");
  }
  const ptx_type *type = in->type;
  if (!type) return true;
  const char *place = tf_arena_printf(&context->arena, "an operand of type .%s", type->name);
  if (tensor) return (type->kind != 'f' && type->bits == 64) || report(u, place, "a scalar of that type");
  if (has_type(u->arg, in)) return true;
  const char *takes = type->kind == 'f' ? tf_arena_printf(&context->arena, "a scalar of %s", tf_dtype_name(type->dtype))
                      : type->kind == 'i' ? tf_arena_printf(&context->arena, "an integer of %u bits", type->bits)
                                          : tf_arena_printf(&context->arena, "a scalar of %u bits", type->bits);
  return report(u, place, takes);
}

/* ---- The template ---- */
/* Behind what is no instruction: space, comments, blocks, labels, guards. */
static const char *skip_to_opcode(const char *at) {
  for (;;) {
    at += strspn(at, " \t\r\n;{}");
    if (at[0] == '/' && at[1] == '/') {
      at += strcspn(at, "\n");
    } else if (*at == '@') {
      at += strcspn(at, " \t\n;");
    } else {
      size_t word = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%");
      if (!word || at[word] != ':') return at;
      at += word + 1;
    }
  }
}

static bool check_instruction(tf_context *context, const tf_stmt *stmt, const char *at, const char *end) {
  instruction in = read_opcode(at);
  bool good = true, in_brackets = false;
  for (at += in.length; at < end; at++) {
    size_t length = 0;
    if (*at == '[' || *at == ']') in_brackets = *at == '[';
    int param = *at == '{' ? tf_template_param(stmt->intrinsic.decl, at, &length) : -1;
    if (param < 0) continue;
    use u = {context, stmt, stmt->intrinsic.decl->params[param].name, stmt->intrinsic.args[param]};
    good &= check_operand(&u, &in, in_brackets);
    at += length - 1;
  }
  return good;
}

bool tf_verify_template(tf_context *context, const tf_stmt *stmt) {
  const char *at = stmt->intrinsic.decl->ptx;
  bool good = true;
  while (at && *(at = skip_to_opcode(at))) {
    const char *end = at + strcspn(at, ";");
    good &= check_instruction(context, stmt, at, end);
    at = end;
  }
  return good;
}
