/* Inside of the manifest reader: a JSON cursor that knows its path, and the parts that its two files share.
 *
 * A `tf_mnode` is a JSON value together with where it stands, as a chain of stack frames: messages can say
 * "kernels[0].parameters[2].shape[1]" and nothing is allocated for it. The first error wins; after it every reader
 * returns at once with a value that is harmless to use. */
#ifndef TF_RUNTIME_MANIFESTREADER_H
#define TF_RUNTIME_MANIFESTREADER_H

#include <jansson.h>

#include "Runtime/Manifest.h"
#include "Support/Arena.h"

typedef struct tf_mreader {
  const char *name; /* of the text, for messages */
  tf_arena *arena;
  tf_manifest *manifest;
  const tf_msignature *signature; /* whose expressions are being read; its params are complete */
  bool signature_done;            /* its DimVars have a plan: only those may be used from here on */
  bool scalars_allowed;           /* {"scalar": …} only in the body of an entry */
  bool failed;
  char *message;
  size_t message_size;
} tf_mreader;

typedef struct tf_mnode tf_mnode;
struct tf_mnode {
  const tf_mnode *up; /* null at the root */
  const char *key;    /* member name, or null for an array element */
  size_t index;
  json_t *value;
};

/* Reports "NAME: path: …" unless something was reported before. Always returns false. */
bool tf_mreader_fail(tf_mreader *r, const tf_mnode *at, const char *format, ...) TF_PRINTF(3, 4);

/* The node must be an object with exactly these keys, a null-terminated list. */
bool tf_mreader_object(tf_mreader *r, const tf_mnode *node, const char *const *keys);
/* The node must be an array of at least `least` elements; returns the number, 0 after an error. */
size_t tf_mreader_array(tf_mreader *r, const tf_mnode *node, size_t least);
tf_mnode tf_mnode_member(const tf_mnode *node, const char *key);
tf_mnode tf_mnode_element(const tf_mnode *node, size_t index);

bool tf_mnode_is_null(const tf_mnode *node);
/* The string, copied into the arena; "" after an error. `empty_ok` says whether "" itself is legal. */
const char *tf_mreader_string(tf_mreader *r, const tf_mnode *node, bool empty_ok);
int64_t tf_mreader_int(tf_mreader *r, const tf_mnode *node, int64_t least);
bool tf_mreader_bool(tf_mreader *r, const tf_mnode *node);
/* Index of the string in a list of `count` names; reports and returns 0 if it is none of them. */
unsigned tf_mreader_choice(tf_mreader *r, const tf_mnode *node, const char *const *names, unsigned count);
tf_mloc tf_mreader_loc(tf_mreader *r, const tf_mnode *node);

/* Expressions, within r->signature. */
tf_mexpr tf_mreader_expr(tf_mreader *r, const tf_mnode *node);
const tf_mexpr *tf_mreader_exprs(tf_mreader *r, const tf_mnode *node, size_t least, size_t most, unsigned *count);
const tf_mexpr *tf_mreader_expr_or_null(tf_mreader *r, const tf_mnode *node);
const tf_mexpr *tf_mreader_extent3_or_null(tf_mreader *r, const tf_mnode *node);

/* Parameters and the solving plan into *out; hidden ones only if `kernel`. */
void tf_mreader_signature(tf_mreader *r, const tf_mnode *node, const char *name, bool kernel, tf_msignature *out);

/* The array of kernels, and of entries (kernels are complete then). */
void tf_mreader_kernels(tf_mreader *r, const tf_mnode *node);
void tf_mreader_entries(tf_mreader *r, const tf_mnode *node);

#endif
