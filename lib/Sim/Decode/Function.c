/* One function: parameters and local variables get their place on the lane's stack, statements become instructions,
 * labels become pcs.
 *
 *   lane's stack, from the frame's local base:   | formal parameters | results | local variables | call arguments … | */
#include "Sim/Decode/Decode.h"

#include <stdlib.h>
#include <string.h>

bool tf_decode_append(tf_decoder *d) {
  if (!tf_grow((void **)&d->code, &d->cap, d->count + 1, sizeof *d->code)) return tf_decode_no_memory(d);
  if (!tf_grow((void **)&d->stmts, &d->stmt_cap, d->count + 1, sizeof(const tf_ptx_stmt *)))
    return tf_decode_no_memory(d);
  d->insn.site = (uint32_t)d->count;
  d->stmts[d->count] = d->stmt->operands || d->stmt->mod_count ? d->stmt : NULL;
  d->code[d->count++] = d->insn;
  return true;
}

static uint64_t align_up(uint64_t at, uint64_t align) {
  return (at + align - 1) / align * align;
}

static bool place_local(tf_decoder *d, tf_ptx_var *v, uint64_t *at) {
  *at = align_up(*at, v->align ? v->align : 1);
  v->address = *at;
  *at += v->bytes;
  if (*at > 1u << 24) return tf_decode_fail(d, v->name, "the function's local memory exceeds 16 MiB");
  return true;
}

static bool place_formals(tf_decoder *d, tf_ptx_var **vars, uint32_t count, uint64_t *at, tf_param **out) {
  *out = tf_pool_alloc(&d->module->pool, (count + 1u) * sizeof **out);
  if (!*out) return tf_decode_no_memory(d);
  for (uint32_t i = 0; i < count; i++) {
    tf_ptx_var *v = vars[i];
    if (!place_local(d, v, at)) return false;
    (*out)[i] = (tf_param){.offset = v->address, .bytes = v->bytes, .align = v->align, .operand = TF_NO_OPERAND};
    if (v->space != TF_SPACE_REG) continue;
    for (tf_ptx_reg *r = d->ptx->regs; r; r = r->next)
      if (strcmp(r->name, v->name) == 0) { /* the first of this name is the formal */
        (*out)[i].operand = tf_decode_slot(d, r, 0);
        (*out)[i].width = (uint8_t)tf_type_bytes(r->type);
        break;
      }
  }
  return true;
}

static bool place_variables(tf_decoder *d) {
  tf_func *f = d->func;
  uint64_t at = 0, entry_at = 0;
  if (!place_formals(d, d->ptx->params, d->ptx->param_count, f->is_entry ? &entry_at : &at, &f->params)) return false;
  if (!place_formals(d, d->ptx->rets, d->ptx->ret_count, &at, &f->rets)) return false;
  f->param_count = d->ptx->param_count;
  f->ret_count = d->ptx->ret_count;
  f->param_bytes = entry_at;
  for (tf_ptx_var *v = d->ptx->vars; v; v = v->next)
    if ((v->space == TF_SPACE_LOCAL || v->space == TF_SPACE_PARAM) && !place_local(d, v, &at)) return false;
  f->local_bytes = align_up(at, 16);
  return true;
}

/* Labels stand in an open-addressed table by name and scope, so that a function of many branches loads in linear time.
 *
 *   hash(name, scope) ─▶ slot ─▶ next slot … ─▶ empty: unknown */
static size_t label_hash(const char *name, uint32_t scope) {
  uint64_t h = 1469598103934665603u ^ scope;
  for (; *name; name++)
    h = (h ^ (unsigned char)*name) * 1099511628211u;
  return (size_t)(h ^ h >> 29);
}

static bool index_labels(tf_decoder *d) {
  size_t count = 0;
  for (const tf_ptx_label *l = d->ptx->labels; l; l = l->next)
    count++;
  for (d->label_size = 8; d->label_size < 2 * count;)
    d->label_size *= 2;
  d->labels = calloc(d->label_size, sizeof(const tf_ptx_label *));
  if (!d->labels) return tf_decode_no_memory(d);
  for (const tf_ptx_label *l = d->ptx->labels; l; l = l->next) {
    size_t at = label_hash(l->name, l->scope) & (d->label_size - 1);
    for (; d->labels[at]; at = (at + 1) & (d->label_size - 1))
      if (d->labels[at]->scope == l->scope && strcmp(d->labels[at]->name, l->name) == 0)
        return tf_ptx_fail(d->error, l->line, l->name, strlen(l->name), "label '%s' stands twice in this scope",
                           l->name);
    d->labels[at] = l;
  }
  return true;
}

const tf_ptx_label *tf_decode_label(const tf_decoder *d, const char *name) {
  for (uint32_t scope = d->stmt->scope;; scope = d->ptx->scope_parent[scope]) {
    size_t at = label_hash(name, scope) & (d->label_size - 1);
    for (; d->labels[at]; at = (at + 1) & (d->label_size - 1))
      if (d->labels[at]->scope == scope && strcmp(d->labels[at]->name, name) == 0) return d->labels[at];
    if (scope == 0) return NULL;
  }
}

/* The space that an instruction names, with .param told apart: a kernel's parameters or a stack slot of a call. */
static tf_space space_of(const tf_decoder *d) {
  const tf_ptx_stmt *s = d->stmt;
  for (uint32_t i = 0; i < s->mod_count; i++) {
    const char *m = s->mods[i];
    if (strcmp(m, "global") == 0) return TF_SPACE_GLOBAL;
    if (strcmp(m, "const") == 0) return TF_SPACE_CONST;
    if (strcmp(m, "local") == 0 || strcmp(m, "param::func") == 0) return TF_SPACE_LOCAL;
    if (strncmp(m, "shared", 6) == 0) return TF_SPACE_SHARED;
    if (strcmp(m, "param::entry") == 0) return TF_SPACE_PARAM;
    if (strcmp(m, "param") != 0) continue;
    for (uint32_t k = 0; k < s->operand_count; k++)
      if (s->operands[k].kind == TF_OP_ADDR && s->operands[k].var)
        return s->operands[k].var->is_entry_param ? TF_SPACE_PARAM : TF_SPACE_LOCAL;
    return d->func->is_entry ? TF_SPACE_PARAM : TF_SPACE_LOCAL;
  }
  return TF_SPACE_GENERIC;
}

static bool orders_memory(const tf_decoder *d) {
  static const char *const strong[] = {"volatile", "relaxed", "acquire", "release", "acq_rel", NULL};
  if (d->insn.space != TF_SPACE_GLOBAL && d->insn.space != TF_SPACE_GENERIC) return false;
  if (d->insn.cls == TF_CLASS_ATOMIC) return true;
  for (int i = 0; strong[i]; i++)
    if (tf_form_has(&d->form, strong[i])) return true;
  return false;
}

static bool decode_guard(tf_decoder *d) {
  const tf_ptx_operand *g = d->stmt->guard;
  d->insn.guard = TF_NO_OPERAND;
  if (!g) return true;
  d->insn.guard = tf_decode_slot(d, g->reg, g->reg_index);
  d->insn.guard_flip = g->negated ? UINT32_MAX : 0;
  return d->insn.guard != TF_NO_OPERAND;
}

static bool keep_operands(tf_decoder *d) {
  uint32_t *ext = tf_pool_alloc(&d->module->pool, (d->op_count + 1) * sizeof *ext);
  if (!ext) return tf_decode_no_memory(d);
  memcpy(ext, d->ops, d->op_count * sizeof *ext);
  d->insn.ext = ext;
  d->insn.op_count = (uint16_t)d->op_count;
  for (unsigned i = 0; i < TF_INLINE_OPERANDS; i++)
    d->insn.op[i] = i < d->op_count ? d->ops[i] : TF_NO_OPERAND;
  return tf_decode_uses(d, ext, d->widths, d->op_count, d->written);
}

static bool decode_statement(tf_decoder *d) {
  size_t fixups = d->fixup_count;
  d->insn = (tf_insn){.line = d->stmt->line, .loc = d->stmt->loc, .member = 255};
  d->op_count = 0;
  d->written = 0;
  d->insn.space = (uint8_t)space_of(d);
  if (!decode_guard(d) || !tf_decode_match(d) || !keep_operands(d)) return false;
  if ((d->insn.row->flags & TF_INSN_GLOBAL) && orders_memory(d)) d->func->global_order = true;
  if (!tf_decode_append(d)) return false;
  for (size_t i = fixups; i < d->fixup_count; i++)
    if (d->fixups[i].insn == UINT32_MAX) d->fixups[i].insn = (uint32_t)d->count - 1;
  return true;
}

/* A function may end without a ret. */
static bool append_return(tf_decoder *d) {
  static const tf_ptx_stmt ret = {.opcode = "ret"};
  tf_ptx_stmt s = ret;
  s.line = d->ptx->stmt_count ? d->ptx->stmts[d->ptx->stmt_count - 1].line : d->ptx->line;
  d->stmt = &s;
  bool ok = decode_statement(d);
  d->stmt = NULL;
  return ok;
}

static bool decode_statements(tf_decoder *d) {
  d->pc_of = calloc(d->ptx->stmt_count + 1, sizeof *d->pc_of);
  if (!d->pc_of) return tf_decode_no_memory(d);
  for (size_t i = 0; i < d->ptx->stmt_count; i++) {
    d->stmt = &d->ptx->stmts[i];
    d->pc_of[i] = (uint32_t)d->count;
    if (!decode_statement(d)) return false;
  }
  d->pc_of[d->ptx->stmt_count] = (uint32_t)d->count;
  return append_return(d);
}

static void resolve_branches(tf_decoder *d) {
  for (size_t i = 0; i < d->fixup_count; i++) {
    int64_t *imm = &d->code[d->fixups[i].insn].imm[d->fixups[i].imm];
    *imm = d->pc_of[*imm];
  }
  for (size_t i = 0; i < d->count; i++) {
    if (!(d->code[i].row->flags & TF_INSN_BRX)) continue;
    const tf_branch_table *t = d->code[i].data;
    for (uint32_t k = 0; k < t->count; k++)
      ((uint32_t *)t->pcs)[k] = d->pc_of[t->pcs[k]];
  }
}

/* How far each instruction may run on without a control instruction or a label, where other lanes may be waiting. */
static bool find_straight_runs(tf_decoder *d) {
  unsigned char *label = calloc(d->count + 1, 1);
  if (!label) return tf_decode_no_memory(d);
  for (const tf_ptx_label *l = d->ptx->labels; l; l = l->next)
    label[d->pc_of[l->statement]] = 1;
  for (size_t i = d->count; i-- > 0;) {
    tf_insn *in = &d->code[i];
    bool joins = i + 1 < d->count && d->code[i + 1].kind == TF_KIND_PLAIN && !label[i + 1];
    in->straight = in->kind != TF_KIND_PLAIN ? 0 : 1 + (joins ? d->code[i + 1].straight : 0);
  }
  free(label);
  return true;
}

static bool keep_code(tf_decoder *d) {
  tf_func *f = d->func;
  f->code = tf_pool_alloc(&d->module->pool, d->count * sizeof *f->code);
  f->consts = tf_pool_alloc(&d->module->pool, d->const_bytes + 64);
  f->inits = tf_pool_alloc(&d->module->pool, (d->init_count + 1) * sizeof *f->inits);
  f->stmts = tf_pool_alloc(&d->module->pool, d->count * sizeof(const tf_ptx_stmt *));
  if (!f->code || !f->consts || !f->inits || !f->stmts) return tf_decode_no_memory(d);
  memcpy(f->stmts, d->stmts, d->count * sizeof(const tf_ptx_stmt *));
  memcpy(f->code, d->code, d->count * sizeof *f->code);
  if (d->const_bytes) memcpy(f->consts, d->consts, d->const_bytes);
  if (d->init_count) memcpy(f->inits, d->inits, d->init_count * sizeof *f->inits);
  f->count = (uint32_t)d->count;
  f->first_tally = d->module->instruction_count;
  d->module->instruction_count += f->count;
  f->init_count = (uint32_t)d->init_count;
  f->regs_bytes = (d->regs_bytes + 63u) & ~63u;
  return true;
}

bool tf_decode_function(tf_module *module, tf_func *func, tf_ptx_error *error) {
  enum { SCRATCH = 16 * TF_LANES }; /* slot 0: written for `_`, never read */
  tf_decoder *d = calloc(1, sizeof *d);
  if (!d) return error->out_of_memory = true, tf_ptx_fail(error, 1, "", 0, "out of memory");
  d->module = module;
  d->func = func;
  d->ptx = (tf_ptx_func *)func->ptx;
  d->error = error;
  d->regs_bytes = SCRATCH;
  bool ok = place_variables(d) && index_labels(d) && decode_statements(d);
  if (ok) resolve_branches(d);
  ok = ok && find_straight_runs(d) && keep_code(d);
  free(d->code);
  free(d->stmts);
  free(d->consts);
  free(d->const_list);
  free(d->const_index);
  free(d->inits);
  free(d->fixups);
  free(d->pc_of);
  free(d->labels);
  free(d);
  return ok;
}
