/* Element types, storage levels, dims and types.
 *
 * Everything here is immutable, owned by the context and uniqued in it: equal means pointer-equal. Functions that read give null,
 * 0 or false for null and for an index behind the end (UNIT and STORAGE_NONE as kind and storage of a null type); null prints
 * as None. */
#ifndef TILEFOUNDRY_TYPE_H
#define TILEFOUNDRY_TYPE_H

#include <stdbool.h>

#include <tilefoundry/Context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tf_dtype {
#define TF_DTYPE(ENUM, NAME, BITS, CLASS, EXP, MAN) TF_DTYPE_##ENUM,
#include <tilefoundry/DTypes.def>
#undef TF_DTYPE
  TF_DTYPE_COUNT
} tf_dtype;

typedef enum tf_dtype_class { TF_CLASS_BOOL, TF_CLASS_SINT, TF_CLASS_UINT, TF_CLASS_FLOAT } tf_dtype_class;

typedef enum tf_storage {
#define TF_STORAGE(ENUM, NAME) TF_STORAGE_##ENUM,
#include <tilefoundry/Kinds.def>
  TF_STORAGE_COUNT,
  TF_STORAGE_NONE = -1 /* rank-0 values only */
} tf_storage;

typedef enum tf_level {
#define TF_LEVEL(ENUM, NAME) TF_LEVEL_##ENUM,
#include <tilefoundry/Kinds.def>
  TF_LEVEL_COUNT
} tf_level;

typedef enum tf_binary_kind {
#define TF_BINARY(ENUM, NAME) TF_BINARY_##ENUM,
#include <tilefoundry/Kinds.def>
  TF_BINARY_COUNT
} tf_binary_kind;

typedef enum tf_unary_kind {
#define TF_UNARY(ENUM, NAME) TF_UNARY_##ENUM,
#include <tilefoundry/Kinds.def>
  TF_UNARY_COUNT
} tf_unary_kind;

typedef enum tf_reduce_kind {
#define TF_REDUCE(ENUM, NAME) TF_REDUCE_##ENUM,
#include <tilefoundry/Kinds.def>
  TF_REDUCE_COUNT
} tf_reduce_kind;

typedef enum tf_scalar_binary_kind {
#define TF_SCALAR_BINARY(ENUM, NAME, SPELLING, PREC) TF_SCALAR_BINARY_##ENUM,
#include <tilefoundry/Kinds.def>
  TF_SCALAR_BINARY_COUNT
} tf_scalar_binary_kind;

typedef enum tf_scalar_unary_kind {
#define TF_SCALAR_UNARY(ENUM, NAME, SPELLING, PREC) TF_SCALAR_UNARY_##ENUM,
#include <tilefoundry/Kinds.def>
  TF_SCALAR_UNARY_COUNT
} tf_scalar_unary_kind;

typedef enum tf_launch_attr_kind {
#define TF_LAUNCH_ATTR(ENUM, NAME) TF_LAUNCH_ATTR_##ENUM,
#include <tilefoundry/Kinds.def>
  TF_LAUNCH_ATTR_COUNT
} tf_launch_attr_kind;

/* Table look-ups. Names are static strings; the from_name functions return false for an unknown name. */
TF_API const char *tf_dtype_name(tf_dtype dtype);
TF_API unsigned tf_dtype_bits(tf_dtype dtype);
TF_API tf_dtype_class tf_dtype_get_class(tf_dtype dtype);
TF_API bool tf_dtype_from_name(const char *name, tf_dtype *out);
TF_API const char *tf_storage_name(tf_storage storage);
TF_API bool tf_storage_from_name(const char *name, tf_storage *out);
TF_API const char *tf_level_name(tf_level level);
TF_API bool tf_level_from_name(const char *name, tf_level *out);
TF_API const char *tf_binary_name(tf_binary_kind kind);
TF_API bool tf_binary_from_name(const char *name, tf_binary_kind *out);
TF_API const char *tf_unary_name(tf_unary_kind kind);
TF_API bool tf_unary_from_name(const char *name, tf_unary_kind *out);
TF_API const char *tf_reduce_name(tf_reduce_kind kind);
TF_API bool tf_reduce_from_name(const char *name, tf_reduce_kind *out);
TF_API const char *tf_scalar_binary_name(tf_scalar_binary_kind kind);
TF_API const char *tf_scalar_unary_name(tf_scalar_unary_kind kind);
TF_API const char *tf_launch_attr_name(tf_launch_attr_kind kind);
TF_API bool tf_launch_attr_from_name(const char *name, tf_launch_attr_kind *out);

/* ---- Dims ---------------------------------------------------------------------------------------------------------
 * A dim is an integer that is known at compile time or depends on DimVars (sizes known at launch). It is kept in one
 * normal form, a sorted sum of products over atoms (a DimVar, a floor division, a modulus, a minimum, a maximum), so
 * that equal expressions are the same pointer:   S + 2*S  is  3*S,   (4*M)//4  is  M.
 * Division and modulus floor, as Python's. */
typedef struct tf_dim tf_dim;

/* The functions below accept the null that an overflow gives: nothing is known of it, it has no value and prints as None. */
typedef enum tf_dim_op {
  TF_DIM_ADD,
  TF_DIM_SUB,
  TF_DIM_MUL,
  TF_DIM_FLOOR_DIV,
  TF_DIM_MOD,
  TF_DIM_CEIL_DIV,
  TF_DIM_MIN,
  TF_DIM_MAX
} tf_dim_op;

TF_API const tf_dim *tf_dim_int(tf_context *context, int64_t value);

/* The DimVar `name` with the half-open range [lo, hi). TF_INVALID_ARGUMENT if the name is no identifier of Python or already
 * has another range in this context, or the range is empty or negative; out is untouched then. */
TF_API TF_NODISCARD tf_status tf_dim_var(tf_context *context, const char *name, int64_t lo, int64_t hi,
                                         const tf_dim **out);

/* The normal form of `a op b`; null if the value cannot be represented (64-bit overflow of a constant, division or
 * modulus by the constant 0, an expression of more than some 50 terms or of hundreds of divisions), or if a or b is null. */
TF_API const tf_dim *tf_dim_binary(tf_context *context, tf_dim_op op, const tf_dim *a, const tf_dim *b);

/* Whether the dim is a constant; value (may be null) receives it. */
TF_API bool tf_dim_is_static(const tf_dim *dim, int64_t *value);

/* Bounds that hold for every value of the DimVars in their ranges; saturated at the ends of int64_t. */
TF_API void tf_dim_range(const tf_dim *dim, int64_t *min, int64_t *max);

/* The largest static number (>= 1) that provably divides the dim; 0 for the constant 0. */
TF_API int64_t tf_dim_divisor(const tf_dim *dim);

/* Evaluates with the given values of DimVars. value_of returns false for a name without a value. The result is false
 * then, on division by zero and on overflow. */
typedef bool (*tf_dim_value_fn)(void *user, const char *name, int64_t *value);
TF_API bool tf_dim_evaluate(const tf_dim *dim, tf_dim_value_fn value_of, void *user, int64_t *out);

/* Calls visit once for each distinct DimVar in the dim, in order of name. */
typedef void (*tf_dim_visit_fn)(void *user, const char *name, int64_t lo, int64_t hi);
TF_API void tf_dim_visit_vars(const tf_dim *dim, tf_dim_visit_fn visit, void *user);

/* The dim with DimVars replaced: replace returns the replacement of a name, or null to keep it. Null as for tf_dim_binary. */
typedef const tf_dim *(*tf_dim_replace_fn)(void *user, const char *name);
TF_API const tf_dim *tf_dim_substitute(tf_context *context, const tf_dim *dim, tf_dim_replace_fn replace, void *user);

/* Python's spelling, e.g. "3*S + 1", "ceildiv(S, 128)", "dim_min(S, 64)"; reading it back gives the same dim. A string of
 * the context. */
TF_API const char *tf_dim_print(tf_context *context, const tf_dim *dim);

/* ---- Types -------------------------------------------------------------------------------------------------------- */
typedef struct tf_type tf_type;
typedef struct tf_layout tf_layout;

typedef enum tf_type_kind { TF_TYPE_TENSOR, TF_TYPE_TUPLE, TF_TYPE_UNIT, TF_TYPE_CALLABLE, TF_TYPE_MESH } tf_type_kind;

/* The tensor type (shape, dtype, layout, storage). layout null is C order, and a plain layout that equals C order of the
 * shape gives the same type (strides of extent-1 axes do not count). Rank 0 is a scalar value: pass storage
 * TF_STORAGE_NONE. */
TF_API const tf_type *tf_type_tensor(tf_context *context, unsigned rank, const tf_dim *const *shape, tf_dtype dtype,
                                     const tf_layout *layout, tf_storage storage);
TF_API const tf_type *tf_type_scalar(tf_context *context, tf_dtype dtype);
TF_API const tf_type *tf_type_unit(tf_context *context);
/* The type of a MeshScope's binding. */
TF_API const tf_type *tf_type_mesh(tf_context *context);
TF_API const tf_type *tf_type_tuple(tf_context *context, unsigned count, const tf_type *const *elements);
/* The type of a function: it returns Unit, its outputs are trailing parameters. */
TF_API const tf_type *tf_type_callable(tf_context *context, unsigned count, const tf_type *const *params);

TF_API tf_type_kind tf_type_get_kind(const tf_type *type);
TF_API bool tf_type_is_tensor(const tf_type *type);
TF_API bool tf_type_is_scalar(const tf_type *type); /* a rank-0 tensor */
TF_API unsigned tf_type_rank(const tf_type *type);
TF_API const tf_dim *tf_type_extent(const tf_type *type, unsigned axis);
TF_API const tf_dim *const *tf_type_shape(const tf_type *type);
TF_API tf_dtype tf_type_dtype(const tf_type *type);
TF_API const tf_layout *tf_type_layout(const tf_type *type);
TF_API tf_storage tf_type_storage(const tf_type *type);
/* Elements of a tuple type, parameters of a callable type. */
TF_API unsigned tf_type_element_count(const tf_type *type);
TF_API const tf_type *tf_type_element(const tf_type *type, unsigned index);
/* Product of the extents. */
TF_API const tf_dim *tf_type_numel(tf_context *context, const tf_type *type);

#ifdef __cplusplus
}
#endif
#endif
