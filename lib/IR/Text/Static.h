/* Compile-time values: what static names stand for, and Python's arithmetic on them.
 *
 * Integers are Python's as long as they fit 64 bits, signed or unsigned; a result beyond is an error, never a wrap. Division
 * and modulus floor. A dim that is a plain number is always an INT. Lists and strings live in the context's arena. */
#ifndef TF_IR_STATIC_H
#define TF_IR_STATIC_H

#include "IR/Nodes.h"
#include "IR/Text/Syntax.h"

__extension__ typedef __int128 tf_int128;

typedef struct tf_value tf_value;

typedef struct tf_mesh_axis {
  const tf_mesh *mesh;
  const tf_expr *binding; /* of the scope that the mesh was named through, or null */
  unsigned axis;
} tf_mesh_axis;

/* N @ (m.a, m.b): an extent dealt over axes of one mesh. */
typedef struct tf_placed {
  const tf_dim *extent;
  unsigned count;
  const tf_mesh_axis *axes;
} tf_placed;

struct tf_value {
  tf_value_kind kind;
  union {
    bool b;
    tf_int128 i; /* in [-2^63, 2^64) */
    double f;
    const char *string;
    const tf_dim *dim;
    struct {
      unsigned count, size; /* items; leaves in all, which bounds every walk */
      uint8_t depth;
      bool is_static;
      const tf_value *items;
    } list;
    tf_dtype dtype;
    tf_storage storage;
    tf_level level;
    tf_topology topology;
    const tf_layout *layout;
    struct {
      const tf_mesh *mesh;
      const tf_expr *binding; /* the MeshScope's variable, or null */
    } mesh;
    tf_shard_attr shard_attr;
    struct {
      const tf_type *type;
      bool is_const; /* ConstTensor[…] */
    } type;
    const tf_mma_atom *atom;
    const tf_target *target;
    int enumerator; /* BINARY_KIND, UNARY_KIND, REDUCE_KIND, LAUNCH_ATTR_KIND */
    const tf_launch_attrs *launch_attrs;
    const char *mma_op;
    tf_mesh_axis axis;
    const tf_placed *placed;
    const tf_expr *expr;
    const char *path;
    const struct tf_function_decl *function; /* Elaborate.h */
    const tf_intrinsic *intrinsic;
  };
};

#define TF_VALUE_OF_NONE  ((tf_value){.kind = TF_VALUE_NONE})
#define TF_VALUE_OF_ERROR ((tf_value){.kind = TF_VALUE_ERROR})
tf_value tf_value_of_int(tf_int128 i);
tf_value tf_value_of_bool(bool b);
tf_value tf_value_of_float(double f);
tf_value tf_value_of_string(const char *interned);
/* INT where the dim is a constant, else DIM. */
tf_value tf_value_of_dim(const tf_dim *dim);
tf_value tf_value_of_expr(const tf_expr *expr);
tf_value tf_value_of_layout(const tf_layout *layout); /* NONE for null */
tf_value tf_value_of_mesh(const tf_mesh *mesh, const tf_expr *binding);
/* A list of `count` items, copied. ERROR after a report at `loc` if it would be deeper or larger than the limits: names make
 * it easy to write a list that doubles with every line. */
#define TF_MAX_LIST_DEPTH 32
#define TF_MAX_LIST_SIZE  65536
tf_value tf_value_of_list(tf_context *context, unsigned count, const tf_value *items, tf_loc loc);
/* Nested tuples of dims as lists; NONE for null. */
tf_value tf_value_of_tuple(tf_context *context, const tf_tuple *tuple);

/* Known at compile time: neither EXPR nor ERROR, lists included. */
bool tf_value_is_static(const tf_value *value);
/* "an integer", "a layout", …: for messages. */
const char *tf_value_describe(const tf_value *value);
/* The value in the language's own syntax; what has none is described. A string of the context. */
const char *tf_value_print(tf_context *context, const tf_value *value);
void tf_value_append(tf_context *context, tf_string *out, const tf_value *value);
/* A Python floating-point expression that reads back as the same double. */
void tf_float_append(tf_string *out, double value);
/* Integers without a C type for printf. */
void tf_int128_append(tf_string *out, tf_int128 value);

/* As a dim; null for any other kind, or an integer beyond int64_t. */
const tf_dim *tf_value_dim(tf_context *context, const tf_value *value);
/* Whether it is an INT within int64_t. */
bool tf_value_int64(const tf_value *value, int64_t *out);

/* Whether the operation is one of static values: numbers with numbers, dims with integers and dims. The result otherwise
 * exists at run time only, or not at all. */
bool tf_static_binary_applies(unsigned op, const tf_value *a, const tf_value *b);
/* `op` is a BINARY operator of Syntax.h for which tf_static_binary_applies holds. ERROR after a report at `loc`: division by
 * zero, 64-bit overflow, a shift count outside 0..63. */
tf_value tf_static_binary(tf_context *context, unsigned op, const tf_value *a, const tf_value *b, tf_loc loc);
/* -x, +x, ~x of numbers and dims; false if there is no static result. */
bool tf_static_unary(tf_context *context, tf_unary_op op, const tf_value *a, tf_loc loc, tf_value *out);

/* Equality of any two static values; a name in a string equals the dtype or storage it names. */
bool tf_value_equal(const tf_value *a, const tf_value *b);
/* A comparison. TF_COMPARE_UNKNOWN: dims whose order is open; TF_COMPARE_NONE: values without this relation. */
typedef enum tf_compare_result {
  TF_COMPARE_FALSE,
  TF_COMPARE_TRUE,
  TF_COMPARE_UNKNOWN,
  TF_COMPARE_NONE
} tf_compare_result;
tf_compare_result tf_static_compare(tf_context *context, unsigned op, const tf_value *a, const tf_value *b);

#endif
