/* Calls of compile-time functions: arguments meet parameters by the table's list, then one small function a name. */
#include "IR/Text/StaticCall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "IR/Text/ParseLiteral.h"
#include "Support/Context.h"

#define MAX_PARAMETERS 4
#define MOST_SHOWN     60 /* bytes of a faulty value in a message */

static const struct {
  tf_builtin_fn *function;
  const char *name, *parameters;
} builtins[] = {
#define TF_BUILTIN(ID, NAME, PARAMETERS) {tf_builtin_##ID, NAME, PARAMETERS},
#include "IR/Text/StaticBuiltins.def"
};

typedef struct parameter {
  const char *name;
  bool optional, rest;
} parameter;

/* "shape strides?" → two parameters, names interned. */
static unsigned read_parameters(tf_context *context, const char *text, parameter *out) {
  unsigned count = 0;
  while (*text && count < MAX_PARAMETERS) {
    size_t length = strcspn(text, " ");
    char last = text[length - 1];
    parameter *p = &out[count++];
    p->optional = last == '?' || last == '*';
    p->rest = last == '*';
    p->name = tf_context_intern(context, text, length - (p->optional ? 1 : 0));
    text += length + strspn(text + length, " ");
  }
  return count;
}

static bool refuse_argument(const tf_call_site *site, const tf_argument *argument, const parameter *parameters,
                            unsigned count) {
  const char *names[MAX_PARAMETERS];
  for (unsigned i = 0; i < count; i++)
    names[i] = parameters[i].name;
  if (argument->keyword)
    tf_report(site->context, argument->loc, CALL_KEYWORD, site->name, argument->keyword,
              tf_takes_text(site->context, count, names));
  else
    tf_report(site->context, argument->loc, CALL_TOO_MANY, site->name, count);
  return false;
}

/* The position that the argument fills; -1 if it is none. */
static int position_of(const tf_argument *argument, const parameter *parameters, unsigned count, unsigned *next) {
  if (!argument->keyword) return *next < count ? (int)(*next)++ : -1;
  for (unsigned i = 0; i < count; i++)
    if (parameters[i].name == argument->keyword) return (int)i;
  return -1;
}

/* Further positional arguments of a '*' parameter become one list. */
static tf_value gather(const tf_call_site *site, unsigned count, const tf_argument *args) {
  tf_value *items = TF_ARENA_ARRAY(&site->context->arena, tf_value, count);
  for (unsigned i = 0; i < count; i++)
    items[i] = args[i].value;
  return tf_value_of_list(site->context, count, items, site->loc);
}

static bool bind_arguments(const tf_call_site *site, const parameter *parameters, unsigned count, unsigned arg_count,
                           const tf_argument *args, tf_bound_args *out) {
  bool filled[MAX_PARAMETERS] = {false};
  unsigned next = 0;
  *out = (tf_bound_args){.site = site, .count = count};
  for (unsigned i = 0; i < count; i++) {
    out->names[i] = parameters[i].name;
    out->values[i] = TF_VALUE_OF_NONE;
    out->locs[i] = site->loc;
  }
  for (unsigned i = 0; i < arg_count; i++) {
    if (args[i].value.kind == TF_VALUE_ERROR) return false;
    if (!args[i].keyword && next < count && parameters[next].rest) {
      unsigned more = 1;
      while (i + more < arg_count && !args[i + more].keyword)
        more++;
      if (more > 1) {
        out->values[next] = gather(site, more, &args[i]);
        filled[next] = true;
        i += more - 1;
        continue;
      }
    }
    int at = position_of(&args[i], parameters, count, &next);
    if (at < 0) return refuse_argument(site, &args[i], parameters, count);
    if (filled[at]) {
      tf_report(site->context, args[i].loc, CALL_TWICE, site->name, parameters[at].name);
      return false;
    }
    filled[at] = true;
    out->values[at] = args[i].value;
    out->locs[at] = args[i].loc;
  }
  for (unsigned i = 0; i < count; i++) {
    if (filled[i] || parameters[i].optional) continue;
    tf_report(site->context, site->loc, CALL_MISSING, site->name, parameters[i].name);
    return false;
  }
  return true;
}

tf_value tf_builtin_call(unsigned index, const tf_call_site *site, unsigned count, const tf_argument *args) {
  parameter parameters[MAX_PARAMETERS];
  tf_bound_args bound;
  unsigned parameter_count = read_parameters(site->context, builtins[index].parameters, parameters);
  if (!bind_arguments(site, parameters, parameter_count, count, args, &bound)) return TF_VALUE_OF_ERROR;
  for (unsigned i = 0; i < bound.count; i++) {
    if (tf_value_is_static(&bound.values[i])) continue;
    if (bound.values[i].kind != TF_VALUE_ERROR)
      tf_report(site->context, bound.locs[i], STATIC_WANTED, bound.names[i], site->name);
    return TF_VALUE_OF_ERROR;
  }
  return builtins[index].function(&bound);
}

/* ---- Reading arguments ---- */
const char *tf_takes_text(tf_context *context, unsigned count, const char *const *names) {
  tf_string text;
  tf_string_init(&text, &context->arena);
  for (unsigned i = 0; i < count; i++)
    tf_string_printf(&text, "%s%s", i ? ", " : ": it takes ", names[i]);
  return count ? text.text : "";
}

const char *tf_value_tell(tf_context *context, const tf_value *value) {
  if (value->kind == TF_VALUE_PATH)
    return tf_arena_printf(&context->arena, "'%s', a name of the language", value->path);
  bool shown = value->kind == TF_VALUE_STRING || value->kind == TF_VALUE_LIST;
  const char *text = shown ? tf_value_print(context, value) : NULL;
  return text && strlen(text) <= MOST_SHOWN ? text : tf_value_describe(value);
}

tf_value tf_bad_argument(const tf_bound_args *args, unsigned index, const char *wanted) {
  tf_report(args->site->context, args->locs[index], CALL_ARGUMENT, args->names[index], args->site->name, wanted,
            tf_value_tell(args->site->context, &args->values[index]));
  return TF_VALUE_OF_ERROR;
}

bool tf_argument_dim(const tf_bound_args *args, unsigned index, const tf_dim **out) {
  *out = tf_value_dim(args->site->context, &args->values[index]);
  if (!*out) (void)tf_bad_argument(args, index, "an integer or a dim");
  return *out != NULL;
}

bool tf_argument_int(const tf_bound_args *args, unsigned index, int64_t *out) {
  if (tf_value_int64(&args->values[index], out)) return true;
  (void)tf_bad_argument(args, index, "an integer");
  return false;
}

bool tf_argument_index(const tf_bound_args *args, unsigned index, unsigned *out) {
  int64_t value;
  if (tf_value_int64(&args->values[index], &value) && value >= 0 && value <= INT32_MAX) {
    *out = (unsigned)value;
    return true;
  }
  (void)tf_bad_argument(args, index, "an integer of at least 0");
  return false;
}

bool tf_argument_string(const tf_bound_args *args, unsigned index, const char **out) {
  if (args->values[index].kind == TF_VALUE_STRING) {
    *out = args->values[index].string;
    return true;
  }
  (void)tf_bad_argument(args, index, "a string");
  return false;
}

bool tf_value_to_dtype(const tf_value *value, tf_dtype *out) {
  if (value->kind == TF_VALUE_STRING) return tf_dtype_from_name(value->string, out);
  if (value->kind == TF_VALUE_DTYPE) *out = value->dtype;
  return value->kind == TF_VALUE_DTYPE;
}

bool tf_value_to_storage(const tf_value *value, tf_storage *out) {
  if (value->kind == TF_VALUE_STRING) return tf_storage_from_name(value->string, out);
  if (value->kind == TF_VALUE_STORAGE) *out = value->storage;
  return value->kind == TF_VALUE_STORAGE;
}

bool tf_value_to_reduce(const tf_value *value, tf_reduce_kind *out) {
  if (value->kind == TF_VALUE_STRING) return tf_reduce_from_name(value->string, out);
  if (value->kind == TF_VALUE_REDUCE_KIND) *out = (tf_reduce_kind)value->enumerator;
  return value->kind == TF_VALUE_REDUCE_KIND;
}

/* ---- Numbers, dims, targets ---- */
tf_value tf_builtin_FLOAT(const tf_bound_args *args) {
  const tf_value *x = &args->values[0];
  if (x->kind == TF_VALUE_INT) return tf_value_of_float((double)x->i);
  if (x->kind == TF_VALUE_FLOAT) return *x;
  if (x->kind != TF_VALUE_STRING) return tf_bad_argument(args, 0, "a number, or a string such as \"inf\"");
  static const struct {
    const char *text;
    double value;
  } specials[] = {{"inf", INFINITY},  {"-inf", -INFINITY}, {"infinity", INFINITY}, {"-infinity", -INFINITY},
                  {"+inf", INFINITY}, {"nan", NAN},        {"-nan", NAN},          {"+nan", NAN}};
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    if (strcasecmp(specials[i].text, x->string) == 0) return tf_value_of_float(specials[i].value);
  bool negative = x->string[0] == '-', is_float;
  const char *digits = x->string + (negative || x->string[0] == '+' ? 1 : 0), *fault;
  bool plain = digits[0] == '.' || (digits[0] >= '0' && digits[0] <= '9');
  size_t length = strlen(digits);
  if (!plain || tf_number_scan(digits, length, &is_float, &fault) != length || fault)
    return tf_bad_argument(args, 0, "a number, or a string such as \"inf\"");
  double value = tf_float_literal(digits, length);
  return tf_value_of_float(negative ? -value : value);
}

tf_value tf_builtin_INT(const tf_bound_args *args) {
  const tf_value *x = &args->values[0];
  if (x->kind == TF_VALUE_INT || x->kind == TF_VALUE_DIM) return *x;
  if (x->kind != TF_VALUE_FLOAT || !(fabs(x->f) < 0x1p63)) return tf_bad_argument(args, 0, "a number of 64 bits");
  return tf_value_of_int((tf_int128)x->f);
}

tf_value tf_builtin_DIM_VAR(const tf_bound_args *args) {
  tf_context *context = args->site->context;
  const char *name;
  int64_t lo, hi;
  const tf_dim *dim;
  if (!tf_argument_string(args, 0, &name)) return TF_VALUE_OF_ERROR;
  if (!tf_argument_int(args, 1, &lo) || !tf_argument_int(args, 2, &hi)) return TF_VALUE_OF_ERROR;
  if (!tf_is_identifier(name)) return tf_bad_argument(args, 0, "a string that is an identifier");
  if (lo < 0 || lo >= hi) {
    tf_report(context, args->site->loc, DIM_VAR_RANGE, name, (long long)lo, (long long)hi);
    return TF_VALUE_OF_ERROR;
  }
  if (tf_dim_var(context, name, lo, hi, &dim) == TF_OK) return tf_value_of_dim(dim);
  tf_report(context, args->site->loc, DIM_VAR_TWICE, name);
  return TF_VALUE_OF_ERROR;
}

tf_value tf_builtin_CUDA_TARGET(const tf_bound_args *args) {
  const char *name = "sm_80";
  if (args->values[0].kind != TF_VALUE_NONE && !tf_argument_string(args, 0, &name)) return TF_VALUE_OF_ERROR;
  const tf_target *target = tf_target_get(args->site->context, name);
  if (target && !tf_target_is_cpu(target)) return (tf_value){.kind = TF_VALUE_TARGET, .target = target};
  tf_report(args->site->context, args->locs[0], TARGET_UNKNOWN, name);
  return TF_VALUE_OF_ERROR;
}

tf_value tf_builtin_CPU_TARGET(const tf_bound_args *args) {
  return (tf_value){.kind = TF_VALUE_TARGET, .target = tf_target_get(args->site->context, "cpu")};
}
