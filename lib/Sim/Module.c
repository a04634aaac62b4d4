/* Loading modules: parse, check against the profile, give variables their memory, decode every function. */
#include "Sim/Module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tf_func *tf_device_function_at(const tf_device *device, uint64_t address) {
  uint64_t index = (address - TF_CODE_BASE) / 16;
  if (address < TF_CODE_BASE || address % 16 || index >= device->code_count) return NULL;
  return device->code[index];
}

bool tf_module_location(const tf_module *module, uint32_t loc, const char **file, uint32_t *line) {
  const tf_ptx_module *m = module->ptx;
  *file = NULL;
  *line = 0;
  if (loc == 0 || loc >= m->loc_count) return false;
  *line = m->locs[loc].line;
  if (m->locs[loc].file < m->file_count) *file = m->files[m->locs[loc].file];
  return m->locs[loc].near;
}

static bool check_target(tf_module *m, tf_ptx_error *e) {
  const tf_sim_profile *p = m->device->profile;
  const tf_ptx_module *x = m->ptx;
  e->unsupported = true;
  if (x->version > p->max_version)
    return tf_ptx_fail(e, 1, ".version", 8, "PTX version %u.%u is newer than the %u.%u that the device %s reads",
                       x->version / 10, x->version % 10, p->max_version / 10, p->max_version % 10, p->name);
  bool exact = x->target_suffix == 'a'   ? x->target == p->sm && p->features
               : x->target_suffix == 'f' ? x->target / 10 == p->sm / 10 && x->target <= p->sm
                                         : x->target <= p->sm;
  if (!exact)
    return tf_ptx_fail(e, 1, x->target_name, strlen(x->target_name), "the device %s cannot run code for %s", p->name,
                       x->target_name);
  e->unsupported = false;
  return true;
}

static bool no_memory(tf_ptx_error *e, uint32_t line) {
  e->out_of_memory = true;
  return tf_ptx_fail(e, line, "", 0, "out of memory");
}

static bool place_variable(tf_module *m, tf_ptx_var *v, tf_ptx_error *e) {
  if (v->space != TF_SPACE_GLOBAL && v->space != TF_SPACE_CONST) return true;
  if (v->is_extern || v->unsized)
    return tf_ptx_fail(e, v->line, v->name, strlen(v->name), "variable '%s' is declared extern but defined nowhere",
                       v->name);
  tf_alloc *a;
  uint64_t bytes = v->bytes ? v->bytes : 1;
  tf_status s = tf_memory_alloc(&m->device->memory, bytes, v->space == TF_SPACE_CONST, v->name, &a);
  if (s != TF_OK) return no_memory(e, v->line);
  v->address = a->lo;
  v->placed = true;
  if (v->space == TF_SPACE_CONST) m->const_bytes += v->bytes;
  return true;
}

/* The address an initialiser names: of a variable, in its space or generic, or of a function. */
static uint64_t symbol_address(const tf_ptx_init *i) {
  if (i->func) return ((const tf_func *)i->func->decoded)->address + i->bits;
  uint64_t base = i->generic && i->var->space == TF_SPACE_SHARED ? TF_SHARED_BASE : 0;
  return base + i->var->address + i->bits;
}

static bool fill_variable(tf_module *m, tf_ptx_var *v, tf_ptx_error *e) {
  if (v->init_count == 0) return true;
  tf_alloc *a = tf_memory_find(&m->device->memory, v->address, v->bytes);
  unsigned size = tf_type_bytes(v->type);
  for (size_t k = 0; k < v->init_count && a; k++) {
    const tf_ptx_init *i = &v->init[k];
    bool symbol = i->var || i->func;
    if (symbol && !i->masked && size != 8)
      return tf_ptx_fail(e, v->line, v->name, strlen(v->name), "an address does not fit an element of '%s'", v->name);
    if (i->index >= v->elements)
      return tf_ptx_fail(e, v->line, v->name, strlen(v->name), "too many initialisers for '%s'", v->name);
    uint64_t bits = symbol ? symbol_address(i) >> i->shift : i->bits;
    memcpy(a->host + i->index * size, &bits, size < 8 ? size : 8);
  }
  return true;
}

static bool new_function(tf_module *m, tf_ptx_func *p, tf_ptx_error *e) {
  tf_device *d = m->device;
  tf_func *f = tf_pool_alloc(&m->pool, sizeof *f);
  if (!f || !tf_grow((void **)&d->code, &d->code_cap, d->code_count + 1, sizeof(tf_func *)))
    return no_memory(e, p->line);
  f->name = p->name;
  f->ptx = p;
  f->module = m;
  f->is_entry = p->is_entry;
  f->address = TF_CODE_BASE + 16 * d->code_count;
  const tf_native *native = p->has_body ? NULL : tf_native_find(p->name);
  f->native = native ? native->run : NULL;
  f->global_order = native && native->one_worker;
  d->code[d->code_count++] = f;
  p->decoded = f;
  m->funcs[m->func_count++] = f;
  return true;
}

static bool decode_all(tf_module *m, tf_ptx_error *e) {
  tf_layout_common(m);
  for (uint32_t i = 0; i < m->func_count; i++) {
    tf_func *f = m->funcs[i];
    if (!f->ptx->has_body) continue;
    if (f->is_entry && !tf_layout_entry(m, f, e)) return false;
    if (!tf_decode_function(m, f, e)) return false;
  }
  return true;
}

/* A function that calls one which orders memory does so too; an indirect call may reach any whose address is taken. */
static void close_over_calls(tf_module *m) {
  bool taken = false, changed = true;
  for (uint32_t i = 0; i < m->func_count; i++)
    taken |= m->funcs[i]->global_order && m->funcs[i]->ptx->address_taken;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < m->func_count; i++) {
      tf_func *f = m->funcs[i];
      bool order = f->global_order || (f->calls_indirect && taken);
      for (uint32_t k = 0; k < f->count && !order; k++)
        order = f->code[k].callee && f->code[k].callee->global_order;
      if (order && !f->global_order) f->global_order = changed = true;
      if (order && f->ptx->address_taken) taken = true;
    }
  }
}

static bool build(tf_module *m, tf_ptx_error *e) {
  uint32_t count = 0;
  if (!check_target(m, e)) return false;
  for (tf_ptx_func *f = m->ptx->funcs; f; f = f->next)
    count++;
  m->funcs = tf_pool_alloc(&m->pool, (count + 1u) * sizeof(tf_func *));
  if (!m->funcs) return no_memory(e, 1);
  for (tf_ptx_func *f = m->ptx->funcs; f; f = f->next)
    if (!new_function(m, f, e)) return false;
  for (tf_ptx_var *v = m->ptx->vars; v; v = v->next)
    if (!place_variable(m, v, e)) return false;
  if (!decode_all(m, e)) return false;
  for (tf_ptx_var *v = m->ptx->vars; v; v = v->next)
    if (!fill_variable(m, v, e)) return false;
  close_over_calls(m);
  return true;
}

static void destroy(tf_module *m) {
  tf_device *d = m->device;
  for (uint32_t i = 0; m->funcs && i < m->func_count; i++)
    d->code[(m->funcs[i]->address - TF_CODE_BASE) / 16] = NULL;
  for (tf_ptx_var *v = m->ptx ? m->ptx->vars : NULL; v; v = v->next)
    if (v->placed && (v->space == TF_SPACE_GLOBAL || v->space == TF_SPACE_CONST))
      (void)tf_memory_free(&d->memory, v->address);
  tf_ptx_module_free(m->ptx);
  tf_pool_free(&m->pool);
  free(m);
}

static tf_status explain(const tf_ptx_error *e, char *message, size_t size) {
  if (message && size) {
    if (e->token[0])
      (void)snprintf(message, size, "line %u: '%s': %s", e->line, e->token, e->message);
    else
      (void)snprintf(message, size, "line %u: %s", e->line, e->message);
  }
  return e->out_of_memory ? TF_OUT_OF_MEMORY : e->unsupported ? TF_UNSUPPORTED : TF_PARSE;
}

tf_status tf_sim_module_load(tf_sim_device *device, const char *text, size_t length, char *message, size_t message_size,
                             tf_sim_module **out) {
  tf_ptx_error error = {0};
  tf_module *m = calloc(1, sizeof *m);
  if (!m) return TF_OUT_OF_MEMORY;
  m->device = device;
  m->ptx = tf_ptx_parse(text, length, &error);
  pthread_mutex_lock(&device->lock);
  bool ok = m->ptx && build(m, &error);
  if (ok) {
    m->next = device->modules;
    device->modules = m;
  } else
    destroy(m);
  pthread_mutex_unlock(&device->lock);
  if (!ok) return explain(&error, message, message_size);
  *out = m;
  return TF_OK;
}

void tf_sim_module_unload(tf_sim_module *m) {
  if (!m) return;
  tf_device *d = m->device;
  pthread_mutex_lock(&d->lock);
  for (tf_module **at = &d->modules; *at; at = &(*at)->next)
    if (*at == m) {
      *at = m->next;
      break;
    }
  destroy(m);
  pthread_mutex_unlock(&d->lock);
}

const tf_sim_function *tf_sim_module_function(const tf_sim_module *m, const char *name) {
  for (uint32_t i = 0; i < m->func_count; i++)
    if (m->funcs[i]->is_entry && m->funcs[i]->code && strcmp(m->funcs[i]->name, name) == 0) return m->funcs[i];
  return NULL;
}

const tf_sim_function *tf_sim_module_entry(const tf_sim_module *m, size_t index) {
  for (uint32_t i = 0; i < m->func_count; i++)
    if (m->funcs[i]->is_entry && m->funcs[i]->code && index-- == 0) return m->funcs[i];
  return NULL;
}

bool tf_sim_module_global(const tf_sim_module *m, const char *name, uint64_t *address, uint64_t *bytes) {
  for (const tf_ptx_var *v = m->ptx->vars; v; v = v->next) {
    if ((v->space != TF_SPACE_GLOBAL && v->space != TF_SPACE_CONST) || strcmp(v->name, name) != 0) continue;
    if (address) *address = v->address;
    if (bytes) *bytes = v->bytes;
    return true;
  }
  return false;
}

void tf_sim_function_info_get(const tf_sim_function *f, tf_sim_function_info *out) {
  const tf_ptx_func *p = f->ptx;
  uint32_t most = 1024;
  if (p->maxntid[0]) most = p->maxntid[0] * p->maxntid[1] * p->maxntid[2];
  if (p->reqntid[0]) most = p->reqntid[0] * p->reqntid[1] * p->reqntid[2];
  *out = (tf_sim_function_info){.name = f->name,
                                .static_shared = f->shared_bytes,
                                .local_bytes = f->local_bytes,
                                .param_bytes = f->param_bytes,
                                .const_bytes = f->module->const_bytes,
                                .param_count = f->param_count,
                                .max_threads = most > 1024 ? 1024 : most,
                                .registers = p->maxnreg ? p->maxnreg : 32,
                                .ptx_version = f->module->ptx->version,
                                .ptx_target = f->module->ptx->target};
  memcpy(out->required_block, p->reqntid, sizeof out->required_block);
  memcpy(out->required_cluster, p->reqcluster, sizeof out->required_cluster);
}

bool tf_sim_function_param(const tf_sim_function *f, uint32_t index, uint64_t *offset, uint64_t *bytes) {
  if (index >= f->param_count) return false;
  if (offset) *offset = f->params[index].offset;
  if (bytes) *bytes = f->params[index].bytes;
  return true;
}

const char *tf_sim_function_param_name(const tf_sim_function *f, uint32_t index) {
  return index < f->param_count ? f->ptx->params[index]->name : NULL;
}
