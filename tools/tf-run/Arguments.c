/* From the command line to parameters with shapes and contents. For a signature: read the arrays, solve the dims from
 * --dim and from every axis of a given array that is V or c*V, evaluate the other shapes. What then does not fit is left
 * to the runtime's own checks, which say it best. */
#include "Arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Message.h"
#include "Runtime/Dims.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

tf_run_param *tf_run_params_find(tf_run_params *params, const char *name) {
  for (unsigned i = 0; i < params->count; i++)
    if (strcmp(params->items[i].name, name) == 0) return &params->items[i];
  char *end;
  unsigned long index = strtoul(name, &end, 10);
  bool number = *name >= '0' && *name <= '9' && !*end && index < params->count;
  return number && !params->items[index].manifest ? &params->items[index] : NULL;
}

static bool unknown_name(const char *where, const char *option, const char *name, const tf_run_params *params) {
  char list[512] = "";
  size_t used = 0;
  for (unsigned i = 0; i < params->count && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", params->items[i].name);
  return tf_run_error(where, "%s: no parameter is called '%s'; there are: %s", option, name, *list ? list : "none");
}

static bool check_names(const char *where, const char *option, const tf_run_list *list, tf_run_params *params) {
  for (unsigned i = 0; i < list->count; i++) {
    const tf_run_param *p = tf_run_params_find(params, list->items[i].name);
    if (!p) return unknown_name(where, option, list->items[i].name, params);
    if (p->is_scalar) return tf_run_error(where, "%s: '%s' is a scalar", option, p->name);
  }
  return true;
}

static bool assign_given(const tf_run_options *o, const char *where, tf_run_params *params) {
  for (unsigned i = 0; i < o->args.count; i++) {
    tf_run_param *p = tf_run_params_find(params, o->args.items[i].name);
    if (!p) return unknown_name(where, "--arg", o->args.items[i].name, params);
    if (p->given) return tf_run_error(where, "--arg: '%s' is given twice", p->name);
    p->given = o->args.items[i].value;
  }
  return check_names(where, "--out", &o->outs, params) && check_names(where, "--print", &o->prints, params) &&
         check_names(where, "--expect", &o->expects, params);
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static bool read_npy(const char *where, tf_run_param *p) {
  if (!p->given || p->given[0] != '@') return true;
  char message[512];
  if (tf_npy_read(p->given + 1, &p->npy, message, sizeof message) != TF_OK) {
    fprintf(stderr, "%s: error: argument '%s': %s\n", where, p->name, message);
    return false;
  }
  return true;
}

static bool take_npy_shape(const char *where, tf_run_param *p) {
  char text[256];
  tf_run_npy_describe(&p->npy, text, sizeof text);
  if (p->npy.rank != p->rank)
    return tf_run_error(where, "argument '%s': %s is %s, expected an array of %u axes", p->name, p->given + 1, text,
                        p->rank);
  memcpy(p->shape, p->npy.shape, sizeof p->shape);
  return true;
}

static bool convert_npy(const char *where, tf_run_param *p) {
  char text[256];
  const char *why = tf_run_array_from_npy(&p->npy, p->element, &p->host);
  tf_run_npy_describe(&p->npy, text, sizeof text);
  if (why)
    return tf_run_error(where, "argument '%s': %s is %s, the parameter is %s: %s", p->name, p->given + 1, text,
                        tf_element_name(p->element), why);
  tf_npy_free(&p->npy);
  return true;
}

static const char *tail_after(const char *text, const char *head) {
  size_t n = strlen(head);
  return strncmp(text, head, n) == 0 ? text + n : NULL;
}

/* zeros, fill:V and random:SEED of an array whose shape is known; scalars too. */
static bool make_content(const char *where, tf_run_param *p) {
  const char *value = tail_after(p->given, "fill:"), *seed = tail_after(p->given, "random:"), *why = NULL;
  bool zeros = strcmp(p->given, "zeros") == 0;
  uint64_t bits = 0;
  char *end = NULL;
  unsigned long long seed_value = seed ? strtoull(seed, &end, 0) : 0;
  if (seed && (end == seed || *end || *seed == '-'))
    return tf_run_error(where, "argument '%s': '%s' is no seed", p->name, seed);
  if (!value && !zeros && !seed)
    return tf_run_error(where, "argument '%s': a tensor takes @FILE.npy, zeros, fill:V or random:SEED, not '%s'",
                        p->name, p->given);
  if (value) why = tf_run_scalar_parse(value, p->element, &bits);
  if (why)
    return tf_run_error(where, "argument '%s': '%s' as %s: %s", p->name, value, tf_element_name(p->element), why);
  if (!tf_run_array_create(&p->host, p->element, p->rank, p->shape))
    return tf_run_error(where, "argument '%s': no memory for the array", p->name);
  if (seed)
    tf_run_array_randomize(&p->host, seed_value);
  else
    tf_run_array_fill(&p->host, bits);
  return true;
}

static bool scalar_from_npy(const char *where, tf_run_param *p) {
  if (p->npy.rank != 0) return tf_run_error(where, "argument '%s': a scalar takes an array without axes", p->name);
  if (!convert_npy(where, p)) return false;
  p->bits = tf_run_array_bits(&p->host, 0);
  return true;
}

static bool make_scalar(const char *where, tf_run_param *p) {
  if (!p->given)
    return tf_run_error(where, "argument '%s': a scalar needs --arg=%s=VALUE (%s)", p->name, p->name,
                        tf_element_name(p->element));
  if (p->given[0] == '@') return scalar_from_npy(where, p);
  const char *fill = tail_after(p->given, "fill:"), *text = strcmp(p->given, "zeros") == 0 ? "0"
                                                            : fill                         ? fill
                                                                                           : p->given;
  if (tf_element_get_class(p->element) == TF_ELEMENT_CLASS_BOOL && strcmp(text, "0") == 0) text = "False";
  const char *why = tf_run_scalar_parse(text, p->element, &p->bits);
  return !why || tf_run_error(where, "argument '%s': '%s' as %s: %s", p->name, text, tf_element_name(p->element), why);
}

static bool make_value(const char *where, tf_run_param *p) {
  if (p->is_scalar) return make_scalar(where, p);
  if (tf_element_bits(p->element) < 8)
    return tf_run_error(where, "argument '%s': arrays of %s are not supported", p->name, tf_element_name(p->element));
  if (!p->given) return true;
  return p->given[0] == '@' ? convert_npy(where, p) : make_content(where, p);
}

/* C-order strides of the shape. */
static void dense_strides(tf_run_param *p) {
  int64_t stride = 1;
  for (unsigned axis = p->rank; axis-- > 0; stride *= p->shape[axis] > 0 ? p->shape[axis] : 1)
    p->strides[axis] = stride;
}

/* ---- Dims -------------------------------------------------------------------------------------------------------- */

typedef struct solver {
  const char *where;
  const tf_manifest *manifest;
  const tf_msignature *signature;
  tf_run_params *params;
  int64_t *dims;
  bool *known; /* of the dims */
  tf_value *values;
} solver;

static bool take_options(const solver *s, const tf_run_options *o) {
  for (unsigned i = 0; i < o->dims.count; i++) {
    const char *name = o->dims.items[i].name, *text = o->dims.items[i].value;
    unsigned dim = 0;
    while (dim < s->manifest->dim_count && strcmp(s->manifest->dims[dim].name, name) != 0)
      dim++;
    if (dim == s->manifest->dim_count) return tf_run_error(s->where, "--dim: the module has no DimVar '%s'", name);
    char *end;
    int64_t value = strtoll(text, &end, 0);
    if (end == text || *end) return tf_run_error(s->where, "--dim: '%s' is no integer", text);
    const tf_mdim *d = &s->manifest->dims[dim];
    if (value < d->lo || value >= d->hi)
      return tf_run_error(s->where, "--dim: %s=%" PRId64 " is outside of [%" PRId64 ", %" PRId64 ")", name, value,
                          d->lo, d->hi);
    s->dims[dim] = value;
    s->known[dim] = true;
  }
  return true;
}

static bool take_axis(const solver *s, const tf_run_param *p, unsigned axis) {
  unsigned dim;
  int64_t factor;
  if (!tf_mexpr_is_multiple(&p->manifest->shape[axis], &dim, &factor) || p->shape[axis] % factor != 0) return true;
  int64_t value = p->shape[axis] / factor;
  if (s->known[dim] && s->dims[dim] != value)
    return tf_run_error(
        s->where, "argument '%s': axis %u has extent %" PRId64 ", so %s is %" PRId64 ", but elsewhere it is %" PRId64,
        p->name, axis, p->shape[axis], s->manifest->dims[dim].name, value, s->dims[dim]);
  s->dims[dim] = value;
  s->known[dim] = true;
  return true;
}

static bool take_arrays(const solver *s) {
  for (unsigned i = 0; i < s->params->count; i++) {
    const tf_run_param *p = &s->params->items[i];
    bool array = !p->is_scalar && p->npy.data;
    for (unsigned axis = 0; array && axis < p->rank; axis++)
      if (!take_axis(s, p, axis)) return false;
  }
  return true;
}

/* The first dim of the expression that nothing gave; -1 if all are known. */
static int unknown_dim(const solver *s, const tf_mexpr *e) {
  if (e->op == TF_MOP_VAR) return s->known[e->index] ? -1 : (int)e->index;
  int found = -1;
  for (unsigned i = 0; i < e->arg_count && found < 0; i++)
    found = unknown_dim(s, &e->args[i]);
  return found;
}

static bool evaluate(const solver *s, const tf_run_param *p, const tf_mexpr *e, const char *what, int64_t *out) {
  int missing = unknown_dim(s, e);
  const tf_menv env = {.dims = s->dims, .values = s->values};
  if (missing >= 0)
    return tf_run_error(s->where,
                        "argument '%s': its %s needs the DimVar '%s': give an array that has it, or --dim=%s=N",
                        p->name, what, s->manifest->dims[missing].name, s->manifest->dims[missing].name);
  const char *why = tf_mexpr_eval(e, &env, out);
  if (why) return tf_run_error(s->where, "argument '%s': its %s: %s", p->name, what, why);
  if (*out < 0 || *out > INT32_MAX)
    return tf_run_error(s->where, "argument '%s': its %s is %" PRId64, p->name, what, *out);
  return true;
}

static bool fill_shapes(const solver *s) {
  for (unsigned i = 0; i < s->params->count; i++) {
    tf_run_param *p = &s->params->items[i];
    bool absent = !p->is_scalar && !p->npy.data;
    for (unsigned axis = 0; absent && axis < p->rank; axis++)
      if (!evaluate(s, p, &p->manifest->shape[axis], "shape", &p->shape[axis])) return false;
    if (!p->is_scalar) dense_strides(p);
    for (unsigned axis = 0; !p->is_scalar && p->manifest->strides && axis < p->rank; axis++)
      if (!evaluate(s, p, &p->manifest->strides[axis], "stride", &p->strides[axis])) return false;
  }
  return true;
}

static bool solve(const tf_run_options *o, solver *s) {
  s->dims = calloc(s->manifest->dim_count + 1, sizeof *s->dims);
  s->known = calloc(s->manifest->dim_count + 1, sizeof *s->known);
  s->values = calloc(s->params->count + 1, sizeof *s->values);
  bool done = s->dims && s->known && s->values;
  for (unsigned i = 0; done && i < s->params->count; i++)
    s->values[i].tensor.shape = s->params->items[i].shape;
  done = done ? take_options(s, o) && take_arrays(s) && fill_shapes(s) : tf_run_error(s->where, "out of memory");
  free(s->dims);
  free(s->known);
  free(s->values);
  return done;
}

bool tf_run_params_of_signature(const tf_run_options *options, const char *where, const tf_manifest *manifest,
                                const tf_msignature *signature, tf_run_params *out) {
  out->items = calloc(signature->declared_count + 1, sizeof *out->items);
  if (!out->items) return tf_run_error(where, "out of memory");
  out->count = signature->declared_count;
  for (unsigned i = 0; i < out->count; i++) {
    const tf_mparam *p = &signature->params[i];
    out->items[i] = (tf_run_param){.name = p->name,
                                   .manifest = p,
                                   .element = p->element,
                                   .rank = p->rank,
                                   .is_scalar = p->kind == TF_MPARAM_SCALAR,
                                   .is_host = p->host};
  }
  bool good = assign_given(options, where, out);
  for (unsigned i = 0; good && i < out->count; i++) {
    tf_run_param *p = &out->items[i];
    good = read_npy(where, p) && (p->is_scalar || !p->npy.data || take_npy_shape(where, p));
  }
  solver s = {.where = where, .manifest = manifest, .signature = signature, .params = out};
  good = good && solve(options, &s);
  for (unsigned i = 0; good && i < out->count; i++)
    good = make_value(where, &out->items[i]);
  return good;
}

/* ---- Kernels of which only the PTX is known ---------------------------------------------------------------------- */

/* "f32[37,512]" or "f32". */
static bool parse_type(const char *where, const char *text, tf_run_param *p) {
  char name[16];
  size_t length = strcspn(text, "[");
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  if (!tf_element_from_name(name, &p->element))
    return tf_run_error(where, "--type: '%s': unknown dtype '%s'", p->name, name);
  const char *at = text + length;
  p->is_scalar = !*at;
  for (p->rank = 0; *at == '[' || *at == ','; p->rank++) {
    char *end;
    long long extent = strtoll(at + 1, &end, 0);
    if (end == at + 1 || extent < 0 || p->rank == TF_NPY_MAX_RANK) break;
    p->shape[p->rank] = extent;
    at = end;
  }
  bool good = p->is_scalar || strcmp(at, "]") == 0;
  return good || tf_run_error(where, "--type: '%s': '%s' is not of the form DTYPE[N,N]", p->name, text);
}

/* The element type of a scalar from PTX's; bits become a float if the text is no integer. */
static bool scalar_type(const char *ptx, const char *text, tf_element *out) {
  unsigned bits = (unsigned)strtoul(ptx + 1, NULL, 10);
  char name[8];
  char *end;
  (void)strtoll(text, &end, 0);
  bool integer = end != text && !*end;
  char kind = ptx[0] == 'f' || (ptx[0] == 'b' && !integer) ? 'f' : ptx[0] == 's' || *text == '-' ? 'i' : 'u';
  snprintf(name, sizeof name, "%c%u", kind, bits);
  return tf_element_from_name(name, out);
}

static bool is_content(const char *text) {
  return *text == '@' || strcmp(text, "zeros") == 0 || tail_after(text, "fill:") || tail_after(text, "random:");
}

/* A struct travels in an array parameter, e.g. `.param .align 8 .b8 p[56]`; the file's bytes are what is passed. */
static bool take_bytes(const char *where, const tf_run_ptx_param *ptx, tf_run_param *p) {
  size_t bytes = strtoul(ptx->type + 1, NULL, 10) / 8 * ptx->count, given = p->npy.count * p->npy.item_bytes;
  p->is_bytes = true;
  if (!p->npy.data)
    return tf_run_error(where, "parameter '%s' is passed by value in %zu bytes: it takes --arg=%s=@FILE.npy", p->name,
                        bytes, p->name);
  return given == bytes || tf_run_error(where, "parameter '%s' is passed by value in %zu bytes, %s holds %zu", p->name,
                                        bytes, p->given + 1, given);
}

/* What is copied back after the run has to be an array. */
static bool check_results(const char *where, const char *option, const tf_run_list *list, tf_run_params *params) {
  for (unsigned i = 0; i < list->count; i++) {
    const tf_run_param *p = tf_run_params_find(params, list->items[i].name);
    if (p->is_bytes) return tf_run_error(where, "%s: '%s' is passed by value", option, p->name);
  }
  return true;
}

/* Whether the parameter is a pointer to an array, what of, and its extents. */
static bool guess_type(const tf_run_options *o, const char *where, const tf_run_ptx_param *ptx, tf_run_params *params,
                       tf_run_param *p) {
  bool typed = false;
  for (unsigned i = 0; i < o->types.count; i++) {
    if (tf_run_params_find(params, o->types.items[i].name) != p) continue;
    if (!parse_type(where, o->types.items[i].value, p)) return false;
    typed = true;
  }
  bool wide = strcmp(ptx->type, "u64") == 0 || strcmp(ptx->type, "b64") == 0 || strcmp(ptx->type, "s64") == 0;
  if (p->npy.data && p->npy.rank > 0 && !typed)
    typed = tf_run_element_of_npy(&p->npy, &p->element);
  else if (!typed && p->given && !is_content(p->given)) {
    p->is_scalar = scalar_type(ptx->type, p->given, &p->element);
    return p->is_scalar ||
           tf_run_error(where, "parameter '%s' is a .%s, '%s' does not fit", p->name, ptx->type, p->given);
  }
  if (p->npy.data && p->npy.rank > 0) {
    p->rank = p->npy.rank;
    p->is_scalar = false;
    memcpy(p->shape, p->npy.shape, sizeof p->shape);
  }
  if (!typed)
    return tf_run_error(where, "parameter '%s' (.%s) needs --arg=%s=… or --type=%s=DTYPE[N,N]", p->name, ptx->type,
                        p->name, p->name);
  return p->is_scalar || wide ||
         tf_run_error(where, "parameter '%s' is a .%s, no pointer to an array", p->name, ptx->type);
}

bool tf_run_params_of_ptx(const tf_run_options *options, const char *where, const tf_run_ptx_param *ptx, int count,
                          tf_run_params *out) {
  out->items = calloc((size_t)count + 1, sizeof *out->items);
  if (!out->items) return tf_run_error(where, "out of memory");
  out->count = (unsigned)count;
  for (unsigned i = 0; i < out->count; i++)
    out->items[i].name = ptx[i].name;
  if (!assign_given(options, where, out)) return false;
  for (unsigned i = 0; i < options->types.count; i++)
    if (!tf_run_params_find(out, options->types.items[i].name))
      return unknown_name(where, "--type", options->types.items[i].name, out);
  for (unsigned i = 0; i < out->count; i++) {
    tf_run_param *p = &out->items[i];
    if (!read_npy(where, p)) return false;
    if (ptx[i].count != 1 ? !take_bytes(where, &ptx[i], p)
                          : !guess_type(options, where, &ptx[i], out, p) || !make_value(where, p))
      return false;
    dense_strides(p);
  }
  return check_results(where, "--out", &options->outs, out) && check_results(where, "--print", &options->prints, out) &&
         check_results(where, "--expect", &options->expects, out);
}
