/* Names of the language and its compile-time functions. */
#ifndef TF_IR_STATIC_CALL_H
#define TF_IR_STATIC_CALL_H

#include "IR/Text/Static.h"

typedef enum tf_special {
#define TF_SPECIAL(ID, NAME) TF_SPECIAL_##ID,
#include "IR/Text/StaticBuiltins.def"
  TF_SPECIAL_COUNT
} tf_special;

typedef enum tf_name_kind {
  TF_NAME_UNKNOWN,
  TF_NAME_SPACE,   /* T, DType, a package */
  TF_NAME_VALUE,   /* DType.f32, smem, T.cuda.mma.NAME */
  TF_NAME_BUILTIN, /* index is a row of StaticBuiltins.def */
  TF_NAME_SPECIAL, /* index is a tf_special */
  TF_NAME_OP       /* index is a tf_op */
} tf_name_kind;

typedef struct tf_name {
  tf_name_kind kind;
  unsigned index;
  tf_value value;
} tf_name;

/* What a dotted path names: "T.copy", "copy_", "tilefoundry.ir.tir.Layout", "DType.f32". */
tf_name tf_name_resolve(tf_context *context, const char *path);
/* Calls visit for every name that may stand alone or behind T. */
void tf_name_each(void (*visit)(void *user, const char *name), void *user);

/* Arguments of a call in order of appearance; keyword null for positional ones. */
typedef struct tf_argument {
  const char *keyword;
  tf_loc loc;
  tf_value value;
} tf_argument;

typedef struct tf_call_site {
  tf_context *context;
  const char *name; /* as messages call the function */
  tf_loc loc;
} tf_call_site;

/* Arguments in order of the function's parameters; a missing optional one is NONE. */
typedef struct tf_bound_args {
  const tf_call_site *site;
  unsigned count;
  const char *names[4];
  tf_value values[4];
  tf_loc locs[4];
} tf_bound_args;

/* The value of a static function; ERROR after a report. Arguments may be of any kind. */
tf_value tf_builtin_call(unsigned index, const tf_call_site *site, unsigned count, const tf_argument *args);

typedef tf_value tf_builtin_fn(const tf_bound_args *args);
#define TF_BUILTIN(ID, NAME, PARAMETERS) tf_builtin_fn tf_builtin_##ID;
#include "IR/Text/StaticBuiltins.def"

/* ---- Reading arguments: each reports what was wanted of which parameter, and returns false ---- */
/* ": it takes a, b" behind a message about an argument by name. */
const char *tf_takes_text(tf_context *context, unsigned count, const char *const *names);
/* A value in a message: short strings, tuples and names as they are written, others by tf_value_describe. */
const char *tf_value_tell(tf_context *context, const tf_value *value);
tf_value tf_bad_argument(const tf_bound_args *args, unsigned index, const char *wanted);
bool tf_argument_dim(const tf_bound_args *args, unsigned index, const tf_dim **out);
bool tf_argument_int(const tf_bound_args *args, unsigned index, int64_t *out);
/* A non-negative number that fits `unsigned`. */
bool tf_argument_index(const tf_bound_args *args, unsigned index, unsigned *out);
bool tf_argument_string(const tf_bound_args *args, unsigned index, const char **out);

/* ---- Conversions of values that several places accept; false without a report if the value is of another kind ---- */
bool tf_value_to_dtype(const tf_value *value, tf_dtype *out);     /* DType.f32, "f32" */
bool tf_value_to_storage(const tf_value *value, tf_storage *out); /* StorageKind.SMEM, "smem" */
bool tf_value_to_reduce(const tf_value *value, tf_reduce_kind *out);
/* An extent or a nested list of them. */
const tf_tuple *tf_value_to_tuple(tf_context *context, const tf_value *value);
/* A flat tuple; a bare extent is a tuple of one. */
const tf_tuple *tf_value_to_shape(tf_context *context, const tf_value *value);
/* A layout, None (null), or a shape with or without strides whose extents may be dealt over a mesh: N @ m.a. */
bool tf_value_to_layout(tf_context *context, const tf_value *value, const tf_layout **out, const char **reason);
/* `N @ axes`: axes is an axis, a tuple of axes, or a mesh of one axis. */
tf_value tf_static_place(tf_context *context, const tf_value *extent, const tf_value *axes, tf_loc loc);
/* The shape and the layout that sugar in it asks for: (16 @ m.a, 4) is shape (16, 4) dealt over m; *layout is untouched
 * without sugar. */
bool tf_value_to_dealt_shape(tf_context *context, const tf_value *value, const tf_tuple **shape,
                             const tf_layout **layout, const char **reason);
/* m[index]: integers keep their axis, negatives wrap, slices have unit step. */
typedef struct tf_slice_range {
  bool is_index; /* lower only */
  bool has_lower, has_upper;
  int64_t lower, upper;
} tf_slice_range;
const tf_mesh *tf_static_slice(tf_context *context, const tf_mesh *mesh, unsigned count, const tf_slice_range *ranges,
                               const char **reason);

#endif
