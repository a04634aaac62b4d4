/* Executables: found in the cache or compiled. Both ways end at the same bytes, of which everything is read:
 *
 *   | sizes of the parts, 8 bytes each; number of entries | PTX, NUL | manifest, NUL | object of the host functions |
 *     0                                                     32                         a multiple of 16; none: 0 bytes
 *
 * The cache checks its entries with a hash; what does not fit together all the same counts as absent. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>

#include <tilefoundry/Runtime.h>

#include "LowerToLLVM/Host/Object.h"
#include "LowerToLLVM/Key.h"
#include "LowerToLLVM/Program.h"
#include "Support/Cache.h"
#include "Support/Options.h"

#define OBJECT_ALIGNMENT 16
#define MOST_BYTES       (1ull << 30)

typedef struct head {
  uint64_t ptx, manifest, object; /* bytes, without the NUL */
  uint64_t entries;
} head;

struct tf_executable {
  char *bytes; /* malloc'ed, owned */
  head sizes;
  const char *ptx, *manifest; /* in `bytes` */
  tf_host_code *code;         /* null: none; owned */
};

/* ---- The bytes ---- */
static size_t object_offset(const head *sizes) {
  size_t end = sizeof *sizes + (size_t)sizes->ptx + 1 + (size_t)sizes->manifest + 1;
  return (end + OBJECT_ALIGNMENT - 1) / OBJECT_ALIGNMENT * OBJECT_ALIGNMENT;
}

/* Null if there is no memory. */
static char *pack(const head *sizes, const char *ptx, const char *manifest, const void *object) {
  char *bytes = calloc(1, object_offset(sizes) + (size_t)sizes->object + 1);
  if (!bytes) return NULL;
  char *at = bytes + sizeof *sizes;
  memcpy(bytes, sizes, sizeof *sizes);
  memcpy(at, ptx, (size_t)sizes->ptx);
  memcpy(at + sizes->ptx + 1, manifest, (size_t)sizes->manifest);
  if (sizes->object) memcpy(bytes + object_offset(sizes), object, (size_t)sizes->object);
  return bytes;
}

static bool unpack(tf_executable *executable, size_t size) {
  head *sizes = &executable->sizes;
  const char *bytes = executable->bytes;
  if (size < sizeof *sizes) return false;
  memcpy(sizes, bytes, sizeof *sizes);
  if (sizes->ptx > MOST_BYTES || sizes->manifest > MOST_BYTES || sizes->entries > UINT32_MAX) return false;
  size_t offset = object_offset(sizes);
  if (size < offset || size - offset != sizes->object) return false;
  executable->ptx = bytes + sizeof *sizes;
  executable->manifest = executable->ptx + sizes->ptx + 1;
  return executable->ptx[sizes->ptx] == '\0' && executable->manifest[sizes->manifest] == '\0';
}

/* Takes the bytes over. Reports to the context, if it is not null, what keeps the host code from being linked. */
static tf_status open_bytes(tf_context *context, char *bytes, size_t size, tf_executable **out) {
  tf_executable *executable = calloc(1, sizeof *executable);
  if (!executable) {
    free(bytes);
    return TF_OUT_OF_MEMORY;
  }
  executable->bytes = bytes;
  tf_status status = unpack(executable, size) ? TF_OK : TF_INVALID_ARGUMENT;
  const head *sizes = &executable->sizes;
  if (status == TF_OK && sizes->object) {
    const char *object = bytes + object_offset(sizes);
    status = tf_host_link(context, LLVMCreateMemoryBufferWithMemoryRange(object, (size_t)sizes->object, "host", false),
                          (unsigned)sizes->entries, &executable->code);
  }
  if (status == TF_OK)
    *out = executable;
  else
    tf_executable_destroy(executable);
  return status;
}

/* ---- The cache ---- */
typedef struct place {
  tf_cache cache;
  char name[64];
} place;

typedef struct naming {
  const tf_module *module;
  const tf_lower_options *lower;
  const tf_executable_options *options;
  tf_arena arena;
  place *out;
} naming;

static tf_status choose_name(void *user) {
  naming *n = user;
  tf_string key;
  tf_string_init(&key, &n->arena);
  if (!tf_executable_key(n->module, n->lower, n->options, &key)) return TF_UNSUPPORTED;
  tf_cache_name(&(tf_cache_part){key.text, key.length}, 1, ".executable", n->out->name);
  return TF_OK;
}

/* Whether there is a cache, and a name in it. */
static bool find_place(const tf_module *module, const tf_lower_options *lower, const tf_executable_options *options,
                       place *out) {
  if (!options->cache || !tf_cache_open(&out->cache)) return false;
  tf_context *context = tf_module_context(module);
  naming n = {.module = module, .lower = lower, .options = options, .out = out};
  tf_arena_init(&n.arena, &context->oom);
  tf_status status = tf_context_try(context, choose_name, &n);
  tf_arena_destroy(&n.arena);
  return status == TF_OK;
}

static bool load(const place *p, tf_executable **out) {
  void *bytes;
  size_t size;
  return tf_cache_get(&p->cache, p->name, &bytes, &size) && open_bytes(NULL, bytes, size, out) == TF_OK;
}

/* ---- Compiling ---- */
static tf_status compile(const tf_module *module, const tf_lower_options *lower, bool host_code, char **bytes,
                         size_t *size) {
  const char *ptx = NULL, *manifest = NULL;
  LLVMMemoryBufferRef object = NULL;
  unsigned entries = 0;
  tf_status status = tf_lower_program(module, lower, &ptx, &manifest);
  if (status == TF_OK && host_code) status = tf_host_object(module, lower, tf_host_name_table, &entries, &object);
  if (status != TF_OK) return status;
  head sizes = {strlen(ptx), strlen(manifest), object ? LLVMGetBufferSize(object) : 0, entries};
  *bytes = pack(&sizes, ptx, manifest, object ? LLVMGetBufferStart(object) : NULL);
  *size = object_offset(&sizes) + (size_t)sizes.object;
  if (object) LLVMDisposeMemoryBuffer(object);
  return *bytes ? TF_OK : TF_OUT_OF_MEMORY;
}

/* `p` is null if nothing is to be kept. */
static tf_status make(const tf_module *module, const tf_lower_options *lower, bool host_code, const place *p,
                      tf_executable **out) {
  tf_context *context = tf_module_context(module);
  size_t said = tf_context_diagnostic_count(context), size = 0;
  char *bytes = NULL;
  tf_status status = compile(module, lower, host_code, &bytes, &size);
  if (status == TF_OK) status = open_bytes(context, bytes, size, out);
  if (status == TF_OK && p && tf_context_diagnostic_count(context) == said)
    tf_cache_put(&p->cache, p->name, (*out)->bytes, size);
  return status;
}

/* ---- The interface ---- */
tf_status tf_executable_create(const tf_module *module, const tf_lower_options *lower,
                               const tf_executable_options *options, tf_executable **out) {
  tf_lower_options known_lower;
  tf_executable_options known = TF_EXECUTABLE_OPTIONS_INIT;
  if (!module || !out || !tf_lower_options_read(&known_lower, lower) || !tf_options_read(&known, sizeof known, options))
    return TF_INVALID_ARGUMENT;
  tf_status status = tf_lower_verify(module, &known_lower);
  if (status != TF_OK) return status;
  place p;
  bool placed = find_place(module, &known_lower, &known, &p);
  if (placed && load(&p, out)) return TF_OK;
  return make(module, &known_lower, known.host_code, placed ? &p : NULL, out);
}

void tf_executable_destroy(tf_executable *executable) {
  if (!executable) return;
  tf_host_code_destroy(executable->code);
  free(executable->bytes);
  free(executable);
}

const char *tf_executable_ptx(const tf_executable *executable, size_t *size) {
  if (size) *size = (size_t)executable->sizes.ptx;
  return executable->ptx;
}

const char *tf_executable_manifest(const tf_executable *executable, size_t *size) {
  if (size) *size = (size_t)executable->sizes.manifest;
  return executable->manifest;
}

const tf_compiled_entry *tf_executable_entries(const tf_executable *executable, unsigned *count) {
  if (count) *count = (unsigned)executable->sizes.entries;
  return executable->code ? tf_host_code_entries(executable->code, &(unsigned){0}) : NULL;
}

void tf_executable_source(const tf_executable *executable, tf_program_source *source) {
  source->image = tf_executable_ptx(executable, &source->image_size);
  source->manifest = tf_executable_manifest(executable, &source->manifest_size);
  if (source->size > offsetof(tf_program_source, entry_count))
    source->entries = tf_executable_entries(executable, &source->entry_count);
}
