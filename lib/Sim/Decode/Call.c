/* Calls and indexed branches: statements whose operands are no plain list. */
#include "Sim/Decode/Decode.h"

#include <string.h>

static bool decode_argument(tf_decoder *d, const tf_ptx_operand *o, bool result, tf_param *out) {
  *out = (tf_param){.operand = TF_NO_OPERAND};
  if (o->kind == TF_OP_SINK && result) return true;
  if (o->kind == TF_OP_NAME && o->var && o->var->space == TF_SPACE_PARAM && !o->var->is_entry_param) {
    *out = (tf_param){.offset = o->var->address, .bytes = o->var->bytes, .operand = TF_NO_OPERAND};
    return true;
  }
  bool constant = o->kind == TF_OP_INT || o->kind == TF_OP_F32 || o->kind == TF_OP_F64;
  if (!(o->kind == TF_OP_NAME && o->reg) && (result || !constant))
    return tf_decode_fail(d, o->name ? o->name : "", "expected a .param variable or a register in a call");
  tf_type type = o->reg ? o->reg->type : o->kind == TF_OP_F32 ? TF_T_b32 : TF_T_b64;
  if (type == TF_T_pred) return tf_decode_fail(d, o->name, "a predicate cannot be passed");
  out->width = (uint8_t)tf_type_bytes(type);
  out->bytes = out->width;
  uint8_t got;
  return tf_decode_value(d, o, type, 0, false, &out->operand, &got);
}

static bool decode_group(tf_decoder *d, const tf_ptx_operand *o, bool result, tf_param **out, uint32_t *count) {
  if (!o) return true;
  *count = o->item_count;
  *out = tf_pool_alloc(&d->module->pool, (o->item_count + 1u) * sizeof **out);
  if (!*out) return tf_decode_no_memory(d);
  for (uint32_t i = 0; i < o->item_count; i++)
    if (!decode_argument(d, &o->items[i], result, &(*out)[i])) return false;
  return true;
}

typedef struct call_parts {
  const tf_ptx_operand *rets, *target, *args, *prototype;
} call_parts;

/* call (rets), target, (args), prototype; — all but the target may be absent. */
static bool split(tf_decoder *d, call_parts *p) {
  const tf_ptx_stmt *s = d->stmt;
  uint32_t i = 0;
  *p = (call_parts){0};
  if (i < s->operand_count && s->operands[i].kind == TF_OP_GROUP) p->rets = &s->operands[i++];
  if (i < s->operand_count && s->operands[i].kind == TF_OP_NAME) p->target = &s->operands[i++];
  if (i < s->operand_count && s->operands[i].kind == TF_OP_GROUP) p->args = &s->operands[i++];
  if (i < s->operand_count && s->operands[i].kind == TF_OP_NAME) p->prototype = &s->operands[i++];
  if (!p->target || i != s->operand_count)
    return tf_decode_fail(d, "call", "expected call (results), function, (arguments)");
  return true;
}

/* What is passed is as large as what the function declares; `_` takes any result. */
static bool same_sizes(tf_decoder *d, const char *name, const tf_ptx_operand *group, const tf_param *given,
                       tf_ptx_var *const *declared) {
  for (uint32_t i = 0; group && i < group->item_count; i++)
    if (given[i].bytes && given[i].bytes != declared[i]->bytes && group->items[i].kind == TF_OP_NAME)
      return tf_decode_fail(d, name, "'%s' of %llu bytes is passed %llu", declared[i]->name,
                            (unsigned long long)declared[i]->bytes, (unsigned long long)given[i].bytes);
  return true;
}

static bool decode_target(tf_decoder *d, const call_parts *p, tf_call *call) {
  const tf_ptx_operand *t = p->target;
  call->target = TF_NO_OPERAND;
  if (t->func) {
    const tf_func *f = t->func->decoded;
    if (f->is_entry) return tf_decode_fail(d, t->name, "'%s' is a kernel and cannot be called", t->name);
    if (!f->ptx->has_body && !f->native)
      return tf_decode_fail(d, t->name, "function '%s' is declared but defined nowhere", t->name);
    d->insn.callee = f;
    uint32_t args = p->args ? p->args->item_count : 0, rets = p->rets ? p->rets->item_count : 0;
    if (args != f->ptx->param_count || rets != f->ptx->ret_count)
      return tf_decode_fail(d, t->name, "'%s' takes %u arguments and gives %u results, the call has %u and %u", t->name,
                            f->ptx->param_count, f->ptx->ret_count, args, rets);
    return same_sizes(d, t->name, p->args, call->args, f->ptx->params) &&
           same_sizes(d, t->name, p->rets, call->rets, f->ptx->rets);
  }
  uint8_t got;
  d->func->calls_indirect = true;
  if (!t->reg) return tf_decode_fail(d, t->name, "unknown function '%s'", t->name);
  return tf_decode_value(d, t, TF_T_b64, 8, false, &call->target, &got);
}

bool tf_decode_call(tf_decoder *d) {
  call_parts p;
  tf_call *call = tf_pool_alloc(&d->module->pool, sizeof *call);
  if (!call) return tf_decode_no_memory(d);
  if (!split(d, &p) || !decode_group(d, p.rets, true, &call->rets, &call->ret_count) ||
      !decode_group(d, p.args, false, &call->args, &call->arg_count) || !decode_target(d, &p, call))
    return false;
  d->insn.row = d->form.row;
  d->insn.cls = d->form.row->cls;
  d->insn.kind = TF_KIND_CONTROL;
  d->insn.data = call;
  d->form.in = &d->insn;
  d->insn.run = d->form.row->select(&d->form);
  return true;
}

/* brx.idx index, list; */
bool tf_decode_brx(tf_decoder *d) {
  const tf_ptx_stmt *s = d->stmt;
  if (s->operand_count != 2 || s->operands[1].kind != TF_OP_NAME)
    return tf_decode_fail(d, s->opcode, "expected an index and a list of targets");
  const tf_ptx_label *list = tf_decode_label(d, s->operands[1].name);
  if (!list || !list->targets)
    return tf_decode_fail(d, s->operands[1].name, "'%s' is no .branchtargets list", s->operands[1].name);
  tf_branch_table *t = tf_pool_alloc(&d->module->pool, sizeof *t);
  uint32_t *pcs = tf_pool_alloc(&d->module->pool, list->targets->count * sizeof *pcs);
  if (!t || !pcs) return tf_decode_no_memory(d);
  *t = (tf_branch_table){pcs, list->targets->count};
  for (uint32_t i = 0; i < t->count; i++) {
    const tf_ptx_label *l = tf_decode_label(d, list->targets->names[i]);
    if (!l) return tf_decode_fail(d, list->targets->names[i], "unknown label '%s'", list->targets->names[i]);
    pcs[i] = l->statement;
  }
  uint8_t got;
  if (!tf_decode_value(d, &s->operands[0], TF_T_u32, 4, false, &d->ops[0], &got)) return false;
  d->op_count = 1;
  d->insn.row = d->form.row;
  d->insn.cls = d->form.row->cls;
  d->insn.kind = TF_KIND_CONTROL;
  d->insn.data = t;
  d->form.in = &d->insn;
  d->insn.run = d->form.row->select(&d->form);
  return true;
}
