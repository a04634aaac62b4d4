/* The manifest writer's inside: JSON values by parts.
 *
 * Nothing here has an error path of its own: a value that cannot be made is null, putting null anywhere marks the
 * writer as failed, and tf_manifest_write looks once at the end. A function body that a manifest cannot express marks
 * it as `inexpressible` instead, and becomes null. */
#ifndef TF_LOWER_MANIFEST_IMPL_H
#define TF_LOWER_MANIFEST_IMPL_H

#include <jansson.h>

#include "LowerToLLVM/KernelFacts.h"

typedef struct tf_manifest_writer {
  tf_context *context;
  const tf_module_facts *facts;
  bool failed;
  bool inexpressible; /* the body being written needs more than a manifest can say */
  unsigned budget;    /* expression nodes that the body may still have: lets are written out at each use */
  json_t *dims;       /* object by name, so that each DimVar comes once */
} tf_manifest_writer;

/* Objects and arrays that take over the value; null marks the failure. */
void tf_manifest_put(tf_manifest_writer *writer, json_t *object, const char *key, json_t *value);
void tf_manifest_push(tf_manifest_writer *writer, json_t *array, json_t *value);
json_t *tf_manifest_op(tf_manifest_writer *writer, const char *op, json_t *a, json_t *b);

json_t *tf_manifest_loc(tf_manifest_writer *writer, tf_loc loc);
json_t *tf_manifest_dim(tf_manifest_writer *writer, const tf_dim *dim);
/* (dim, 1, 1) */
json_t *tf_manifest_extent3(tf_manifest_writer *writer, const tf_dim *dim);
/* A declared parameter of a kernel or entry. */
json_t *tf_manifest_param(tf_manifest_writer *writer, const tf_expr *param);

json_t *tf_manifest_kernel(tf_manifest_writer *writer, const tf_kernel_facts *kernel);

/* Entries, in the schema's terms; derived: of the module's only kernel. */
json_t *tf_manifest_entry(tf_manifest_writer *writer, const tf_stmt *function);
json_t *tf_manifest_derived_entry(tf_manifest_writer *writer, const tf_kernel_facts *kernel);

/* Scalars and arguments of a host body, in terms of its parameters. */
json_t *tf_manifest_scalar(tf_manifest_writer *writer, const tf_expr *scalar);
json_t *tf_manifest_argument(tf_manifest_writer *writer, const tf_expr *argument, const tf_expr *param);
json_t *tf_manifest_inexpressible(tf_manifest_writer *writer);

#endif
