/* Reading a manifest: JSON text → jansson's tree → resolved objects in one arena that starts with the manifest itself.
 *
 * Exhaustion inside the arena unwinds to the guard in tf_manifest_read; jansson's tree hangs in the same frame and is
 * freed on every way out. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/Dims.h"
#include "Runtime/ManifestReader.h"

/* The arena with the object that the user sees. */
typedef struct manifest_box {
  tf_manifest manifest; /* first: the box is found from it */
  tf_arena arena;
  tf_oom oom;
} manifest_box;

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static bool read_static3(tf_mreader *r, const tf_mnode *node, int64_t out[3]) {
  if (r->failed || tf_mnode_is_null(node)) return false;
  if (tf_mreader_array(r, node, 3) != 3) return tf_mreader_fail(r, node, "expected three elements");
  for (size_t i = 0; i < 3; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    out[i] = tf_mreader_int(r, &element, 1);
  }
  return !r->failed;
}

static void read_buffer(tf_mreader *r, const tf_mnode *node, tf_mbuffer *out) {
  static const char *const keys[] = {"name", "block", "offset", "bytes", "alignment", "loc", NULL};
  static const char *const blocks[] = {"static", "dynamic"};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode name = tf_mnode_member(node, "name"), block = tf_mnode_member(node, "block");
  tf_mnode offset = tf_mnode_member(node, "offset"), bytes = tf_mnode_member(node, "bytes");
  tf_mnode alignment = tf_mnode_member(node, "alignment"), loc = tf_mnode_member(node, "loc");
  out->name = tf_mreader_string(r, &name, false);
  out->dynamic = tf_mreader_choice(r, &block, blocks, 2) == 1;
  out->offset = tf_mreader_int(r, &offset, 0);
  out->bytes = tf_mreader_int(r, &bytes, 0);
  out->alignment = tf_mreader_int(r, &alignment, 1);
  out->loc = tf_mreader_loc(r, &loc);
}

static void read_shared(tf_mreader *r, const tf_mnode *node, tf_mkernel *out) {
  static const char *const keys[] = {"static_bytes", "dynamic_bytes", "buffers", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode fixed = tf_mnode_member(node, "static_bytes"), dynamic = tf_mnode_member(node, "dynamic_bytes");
  tf_mnode buffers = tf_mnode_member(node, "buffers");
  out->static_bytes = tf_mreader_int(r, &fixed, 0);
  out->dynamic_bytes = tf_mreader_expr(r, &dynamic);
  size_t count = tf_mreader_array(r, &buffers, 0);
  tf_mbuffer *items = TF_ARENA_ARRAY(r->arena, tf_mbuffer, count);
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(&buffers, i);
    read_buffer(r, &element, &items[i]);
  }
  out->buffers = items;
  out->buffer_count = (unsigned)count;
}

static void read_aborts(tf_mreader *r, const tf_mnode *node, tf_mkernel *out) {
  static const char *const keys[] = {"kind", "message", "loc", NULL};
  static const char *const kinds[] = {"abort", "div", "bounds"};
  size_t count = tf_mreader_array(r, node, 0);
  tf_mabort_site *items = TF_ARENA_ARRAY(r->arena, tf_mabort_site, count);
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    if (!tf_mreader_object(r, &element, keys)) return;
    tf_mnode kind = tf_mnode_member(&element, "kind"), message = tf_mnode_member(&element, "message");
    tf_mnode loc = tf_mnode_member(&element, "loc");
    items[i].kind = (tf_abort_kind)tf_mreader_choice(r, &kind, kinds, 3);
    items[i].message = tf_mreader_string(r, &message, true);
    items[i].loc = tf_mreader_loc(r, &loc);
  }
  out->aborts = items;
  out->abort_count = (unsigned)count;
}

static void read_geometry(tf_mreader *r, const tf_mnode *node, tf_mkernel *out) {
  tf_mnode grid_size = tf_mnode_member(node, "grid_size"), block_size = tf_mnode_member(node, "block_size");
  tf_mnode grid = tf_mnode_member(node, "default_grid"), block = tf_mnode_member(node, "default_block");
  tf_mnode required = tf_mnode_member(node, "required_block"), most = tf_mnode_member(node, "max_block_threads");
  tf_mnode cluster = tf_mnode_member(node, "cluster"), linear = tf_mnode_member(node, "linear_grid");
  out->grid_size = tf_mreader_expr_or_null(r, &grid_size);
  out->block_size = tf_mreader_expr_or_null(r, &block_size);
  out->default_grid = tf_mreader_extent3_or_null(r, &grid);
  out->default_block = tf_mreader_extent3_or_null(r, &block);
  out->has_required_block = read_static3(r, &required, out->required_block);
  out->has_cluster = read_static3(r, &cluster, out->cluster);
  out->linear_grid = tf_mreader_bool(r, &linear);
  if (!tf_mnode_is_null(&most)) out->max_block_threads = tf_mreader_int(r, &most, 1);
}

static void check_barrier(tf_mreader *r, const tf_mnode *at, const tf_mkernel *k) {
  const tf_msignature *s = &k->signature;
  bool has = s->param_count && s->params[s->param_count - 1].kind == TF_MPARAM_GRID_BARRIER;
  if (has != (k->grid_barrier_bytes > 0))
    tf_mreader_fail(r, at,
                    has ? "a grid_barrier parameter with no bytes behind it" : "there is no grid_barrier parameter");
  if (has && !k->cooperative) tf_mreader_fail(r, at, "a kernel with a grid barrier must be cooperative");
}

static void read_kernel(tf_mreader *r, const tf_mnode *node, tf_mkernel *out) {
  static const char *const keys[] = {
      "name",          "ptx_name",           "parameters",        "grid_size",   "block_size", "default_grid",
      "default_block", "required_block",     "max_block_threads", "linear_grid", "shared",     "cooperative",
      "cluster",       "grid_barrier_bytes", "abort_sites",       "loc",         NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode name = tf_mnode_member(node, "name"), ptx_name = tf_mnode_member(node, "ptx_name");
  tf_mnode params = tf_mnode_member(node, "parameters"), shared = tf_mnode_member(node, "shared");
  tf_mnode cooperative = tf_mnode_member(node, "cooperative"), barrier = tf_mnode_member(node, "grid_barrier_bytes");
  tf_mnode aborts = tf_mnode_member(node, "abort_sites"), loc = tf_mnode_member(node, "loc");
  tf_mreader_signature(r, &params, tf_mreader_string(r, &name, false), true, &out->signature);
  out->ptx_name = tf_mreader_string(r, &ptx_name, false);
  read_geometry(r, node, out);
  read_shared(r, &shared, out);
  out->cooperative = tf_mreader_bool(r, &cooperative);
  out->grid_barrier_bytes = tf_mreader_int(r, &barrier, 0);
  read_aborts(r, &aborts, out);
  out->loc = tf_mreader_loc(r, &loc);
  check_barrier(r, &barrier, out);
}

void tf_mreader_kernels(tf_mreader *r, const tf_mnode *node) {
  size_t count = tf_mreader_array(r, node, 0);
  tf_mkernel *kernels = TF_ARENA_ARRAY(r->arena, tf_mkernel, count);
  r->manifest->kernels = kernels;
  r->scalars_allowed = false;
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    read_kernel(r, &element, &kernels[i]);
    for (size_t j = 0; j < i && !r->failed; j++)
      if (strcmp(kernels[j].signature.name, kernels[i].signature.name) == 0 ||
          strcmp(kernels[j].ptx_name, kernels[i].ptx_name) == 0)
        tf_mreader_fail(r, &element, "two kernels are called '%s'", kernels[i].signature.name);
    r->manifest->kernel_count++;
  }
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void read_dims(tf_mreader *r, const tf_mnode *node) {
  static const char *const keys[] = {"name", "lo", "hi", NULL};
  size_t count = tf_mreader_array(r, node, 0);
  tf_mdim *dims = TF_ARENA_ARRAY(r->arena, tf_mdim, count);
  r->manifest->dims = dims;
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    if (!tf_mreader_object(r, &element, keys)) return;
    tf_mnode name = tf_mnode_member(&element, "name"), lo = tf_mnode_member(&element, "lo");
    tf_mnode hi = tf_mnode_member(&element, "hi");
    dims[i].name = tf_mreader_string(r, &name, false);
    dims[i].lo = tf_mreader_int(r, &lo, INT64_MIN);
    dims[i].hi = tf_mreader_int(r, &hi, INT64_MIN);
    for (size_t j = 0; j < i; j++)
      if (strcmp(dims[j].name, dims[i].name) == 0) tf_mreader_fail(r, &name, "two dims are called '%s'", dims[i].name);
    r->manifest->dim_count++;
  }
}

static void read_default_entry(tf_mreader *r, const tf_mnode *node) {
  if (r->failed || tf_mnode_is_null(node)) return;
  const char *name = tf_mreader_string(r, node, false);
  for (unsigned i = 0; i < r->manifest->entry_count; i++)
    if (strcmp(r->manifest->entries[i].signature.name, name) == 0)
      r->manifest->default_entry = &r->manifest->entries[i];
  if (!r->manifest->default_entry) tf_mreader_fail(r, node, "no entry is called '%s'", name);
}

/* Decimal digits; null if there are none. */
static const char *skip_digits(const char *text) {
  const char *at = text;
  while (*at >= '0' && *at <= '9')
    at++;
  return at == text ? NULL : at;
}

static bool is_target(const char *text) {
  const char *end = strncmp(text, "sm_", 3) == 0 ? skip_digits(text + 3) : NULL;
  return end && (!*end || ((*end == 'a' || *end == 'f') && !end[1]));
}

static bool is_version(const char *text) {
  const char *dot = skip_digits(text);
  const char *end = dot && *dot == '.' ? skip_digits(dot + 1) : NULL;
  return end && !*end;
}

static void read_root(tf_mreader *r, json_t *json) {
  static const char *const keys[] = {"version", "module",  "target",        "ptx_version", "dims",
                                     "kernels", "entries", "default_entry", NULL};
  tf_mnode root = {.value = json}, version = tf_mnode_member(&root, "version");
  if (json_is_integer(version.value) && json_integer_value(version.value) != TF_MANIFEST_VERSION) {
    tf_mreader_fail(r, &version, "this runtime reads version %d", TF_MANIFEST_VERSION);
    return;
  }
  if (!tf_mreader_object(r, &root, keys)) return;
  tf_mreader_int(r, &version, TF_MANIFEST_VERSION);
  tf_mnode module = tf_mnode_member(&root, "module"), target = tf_mnode_member(&root, "target");
  tf_mnode ptx_version = tf_mnode_member(&root, "ptx_version"), dims = tf_mnode_member(&root, "dims");
  tf_mnode kernels = tf_mnode_member(&root, "kernels"), entries = tf_mnode_member(&root, "entries");
  tf_mnode default_entry = tf_mnode_member(&root, "default_entry");
  r->manifest->module = tf_mreader_string(r, &module, false);
  r->manifest->target = tf_mreader_string(r, &target, false);
  r->manifest->ptx_version = tf_mreader_string(r, &ptx_version, false);
  if (!is_target(r->manifest->target)) tf_mreader_fail(r, &target, "expected a PTX target such as sm_80 or sm_90a");
  if (!is_version(r->manifest->ptx_version)) tf_mreader_fail(r, &ptx_version, "expected a PTX version such as 7.0");
  read_dims(r, &dims);
  tf_mreader_kernels(r, &kernels);
  tf_mreader_entries(r, &entries);
  read_default_entry(r, &default_entry);
}

static tf_status read_guarded(manifest_box *box, tf_mreader *r, json_t *json) {
  jmp_buf target;
  box->oom.target = &target;
  if (setjmp(target)) {
    box->oom.target = NULL;
    snprintf(r->message, r->message_size, "%s: out of memory", r->name);
    return TF_OUT_OF_MEMORY;
  }
  read_root(r, json);
  box->oom.target = NULL;
  return r->failed ? TF_PARSE : TF_OK;
}

/* obstack allocates its first chunk when it is set up, so that must happen under a guard too. */
static bool init_arena(manifest_box *box) {
  jmp_buf target;
  box->oom.target = &target;
  bool failed = setjmp(target) != 0;
  if (!failed) tf_arena_init(&box->arena, &box->oom);
  box->oom.target = NULL;
  return !failed;
}

static manifest_box *create_box(void) {
  manifest_box *box = calloc(1, sizeof *box);
  if (!box || init_arena(box)) return box;
  free(box);
  return NULL;
}

tf_status tf_manifest_read(const char *name, const char *text, size_t size, const tf_manifest **out, char *message,
                           size_t message_size) {
  json_error_t error;
  json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  if (!json) {
    snprintf(message, message_size, "%s:%d:%d: %s", name, error.line, error.column, error.text);
    return TF_PARSE;
  }
  manifest_box *box = create_box();
  tf_mreader r = {.name = name, .message = message, .message_size = message_size};
  tf_status status = TF_OUT_OF_MEMORY;
  if (box) {
    r.arena = &box->arena;
    r.manifest = &box->manifest;
    status = read_guarded(box, &r, json);
  } else {
    snprintf(message, message_size, "%s: out of memory", name);
  }
  json_decref(json);
  if (status == TF_OK)
    *out = &box->manifest;
  else if (box)
    tf_manifest_free(&box->manifest);
  return status;
}

void tf_manifest_free(const tf_manifest *manifest) {
  if (!manifest) return;
  manifest_box *box = (manifest_box *)(uintptr_t)manifest;
  tf_arena_destroy(&box->arena);
  free(box);
}
