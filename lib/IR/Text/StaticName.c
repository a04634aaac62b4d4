/* What the dotted names of the language mean. Everything stands in tables: the ops', the builtins', the enumerations'. */
#include <string.h>

#include "IR/MmaAtom.h"
#include "IR/Text/StaticCall.h"
#include "Support/Context.h"

static const char *const builtin_names[] = {
#define TF_BUILTIN(ID, NAME, PARAMETERS) NAME,
#include "IR/Text/StaticBuiltins.def"
};

static const char *const special_names[] = {
#define TF_SPECIAL(ID, NAME) NAME,
#include "IR/Text/StaticBuiltins.def"
};

static const char *const space_names[] = {
#define TF_SPACE(NAME) NAME,
#include "IR/Text/StaticBuiltins.def"
};

static const struct {
  const char *name;
  tf_value_kind kind;
} enumerations[] = {
#define TF_ENUMERATION(NAME, KIND) {NAME, KIND},
#include "IR/Text/StaticBuiltins.def"
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static int find(const char *const *table, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(table[i], name) == 0) return (int)i;
  return -1;
}

/* Copies a short name with its letters lowered; false if it does not fit. */
static bool lowered(const char *name, char *out, size_t size) {
  size_t length = strlen(name);
  if (length >= size) return false;
  for (size_t i = 0; i <= length; i++)
    out[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
  return true;
}

/* A member of an enumeration, in upper or lower case. */
static bool find_member(tf_value_kind kind, const char *member, tf_value *out) {
  char lower[64];
  tf_binary_kind binary;
  tf_unary_kind unary;
  tf_reduce_kind reduce;
  tf_launch_attr_kind launch;
  *out = (tf_value){.kind = kind};
  if (!lowered(member, lower, sizeof lower)) return false;
  bool found = false;
  switch (kind) {
  case TF_VALUE_DTYPE:
    return tf_dtype_from_name(lower, &out->dtype);
  case TF_VALUE_STORAGE:
    return tf_storage_from_name(lower, &out->storage);
  case TF_VALUE_BINARY_KIND:
    found = tf_binary_from_name(lower, &binary);
    out->enumerator = found ? (int)binary : 0;
    return found;
  case TF_VALUE_UNARY_KIND:
    found = tf_unary_from_name(lower, &unary);
    out->enumerator = found ? (int)unary : 0;
    return found;
  case TF_VALUE_REDUCE_KIND:
    found = tf_reduce_from_name(lower, &reduce);
    out->enumerator = found ? (int)reduce : 0;
    return found;
  default:
    found = tf_launch_attr_from_name(member, &launch);
    out->enumerator = found ? (int)launch : 0;
    return found;
  }
}

static bool find_enumeration(const char *path, tf_name *out) {
  for (size_t i = 0; i < COUNT(enumerations); i++) {
    size_t length = strlen(enumerations[i].name);
    if (strncmp(path, enumerations[i].name, length) != 0) continue;
    if (path[length] == '\0') {
      *out = (tf_name){.kind = TF_NAME_SPACE};
      return true;
    }
    if (path[length] != '.' || !find_member(enumerations[i].kind, path + length + 1, &out->value)) continue;
    out->kind = TF_NAME_VALUE;
    return true;
  }
  return false;
}

/* An op by its name, or by the name of its effect form: copy, copy_. */
static bool find_op(const char *name, tf_op *out) {
  if (tf_op_from_name(name, out)) return true;
  char plain[64];
  size_t length = strlen(name);
  if (length < 2 || length >= sizeof plain || name[length - 1] != '_') return false;
  memcpy(plain, name, length - 1);
  plain[length - 1] = '\0';
  return tf_op_from_name(plain, out) && tf_op_get_info(*out)->form == TF_FORM_EFFECT;
}

static const char mma_space[] = "cuda.mma.";

/* A name without any prefix. Scalar operators are no functions, though the op table lists them. */
static tf_name resolve_bare(tf_context *context, const char *name) {
  tf_name out = {.kind = TF_NAME_UNKNOWN};
  tf_op op;
  int index;
  if ((index = find(builtin_names, COUNT(builtin_names), name)) >= 0)
    return (tf_name){TF_NAME_BUILTIN, (unsigned)index, {0}};
  if ((index = find(special_names, COUNT(special_names), name)) >= 0)
    return (tf_name){TF_NAME_SPECIAL, (unsigned)index, {0}};
  if (find(space_names, COUNT(space_names), name) >= 0) return (tf_name){.kind = TF_NAME_SPACE};
  if (find_enumeration(name, &out)) return out;
  if (strncmp(name, mma_space, sizeof mma_space - 1) == 0) {
    const tf_mma_atom *atom = tf_mma_atom_get(context, name + sizeof mma_space - 1);
    if (!atom) return out;
    return (tf_name){TF_NAME_VALUE, 0, {.kind = TF_VALUE_MMA_OP, .mma_op = tf_mma_atom_name(atom)}};
  }
  bool is_operator =
      strcmp(name, "scalar_binary") == 0 || strcmp(name, "scalar_unary") == 0 || strcmp(name, "where") == 0;
  if (!is_operator && find_op(name, &op)) return (tf_name){TF_NAME_OP, op, {0}};
  if (find_member(TF_VALUE_STORAGE, name, &out.value) || find_member(TF_VALUE_DTYPE, name, &out.value))
    out.kind = TF_NAME_VALUE;
  return out;
}

tf_name tf_name_resolve(tf_context *context, const char *path) {
  bool package = false;
  for (const char *rest = path; rest;) {
    bool space = strncmp(rest, "T.", 2) == 0 || strncmp(rest, "tir.", 4) == 0;
    tf_name name = resolve_bare(context, space ? strchr(rest, '.') + 1 : rest);
    if (name.kind != TF_NAME_UNKNOWN) return name;
    if (package && strcmp(rest, "tir") == 0) return (tf_name){.kind = TF_NAME_SPACE};
    package |= strncmp(path, "tilefoundry", 11) == 0 && (path[11] == '.' || path[11] == '\0');
    if (!package) break;
    rest = strchr(rest, '.');
    if (rest) rest++;
  }
  return (tf_name){.kind = package ? TF_NAME_SPACE : TF_NAME_UNKNOWN};
}

void tf_name_each(void (*visit)(void *user, const char *name), void *user) {
  for (size_t i = 0; i < COUNT(builtin_names); i++)
    visit(user, builtin_names[i]);
  for (size_t i = 0; i < COUNT(special_names); i++)
    visit(user, special_names[i]);
  for (size_t i = 0; i < COUNT(enumerations); i++)
    visit(user, enumerations[i].name);
  for (unsigned i = 0; i < TF_OP_COUNT; i++)
    visit(user, tf_op_get_info((tf_op)i)->name);
  for (unsigned i = 0; tf_mma_atom_known_name(i); i++)
    visit(user, tf_mma_atom_known_name(i));
  for (unsigned i = 0; i < TF_DTYPE_COUNT; i++)
    visit(user, tf_dtype_name((tf_dtype)i));
  for (unsigned i = 0; i < TF_STORAGE_COUNT; i++)
    visit(user, tf_storage_name((tf_storage)i));
}
