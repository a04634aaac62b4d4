/* The context: interning, source buffers, guarded execution. */
#include "Support/Context.h"

#include <stdlib.h>
#include <string.h>

/* uthash's own allocations follow the arena's policy: the macros below expand where a `context` is in scope. */
#define uthash_fatal(msg) tf_oom_raise(&context->oom)
#include <uthash.h>

typedef struct tf_intern_entry {
  UT_hash_handle hh;
  void *value; /* TF_INTERN_MEMO only */
  max_align_t bytes[];
} intern_entry;

tf_status tf_context_create(tf_context **out) {
  if (!out) return TF_INVALID_ARGUMENT;
  tf_context *context = calloc(1, sizeof *context);
  if (!context) return TF_OUT_OF_MEMORY;
  jmp_buf target;
  context->oom.target = &target;
  if (setjmp(target)) {
    free(context);
    return TF_OUT_OF_MEMORY;
  }
  tf_arena_init(&context->arena, &context->oom);
  tf_context_add_source(context, "<unknown>", "", 0);
  context->oom.target = NULL;
  *out = context;
  return TF_OK;
}

void tf_context_destroy(tf_context *context) {
  if (!context) return;
  for (int kind = 0; kind < TF_INTERN_CLASS_COUNT; kind++)
    HASH_CLEAR(hh, context->interned[kind]); /* the entries themselves are the arena's */
  tf_arena_destroy(&context->arena);
  free(context);
}

tf_status tf_context_try(tf_context *context, tf_status (*body)(void *), void *argument) {
  jmp_buf target;
  jmp_buf *outer = context->oom.target;
  if (setjmp(target)) {
    context->oom.target = outer;
    return TF_OUT_OF_MEMORY;
  }
  context->oom.target = &target;
  tf_status status = body(argument);
  context->oom.target = outer;
  return status;
}

static intern_entry *intern(tf_context *context, tf_intern_class kind, const void *bytes, size_t size) {
  intern_entry *entry = NULL;
  HASH_FIND(hh, context->interned[kind], bytes, size, entry);
  if (entry) return entry;
  entry = tf_arena_alloc(&context->arena, sizeof *entry + size + 1);
  if (size) memcpy(entry->bytes, bytes, size);
  HASH_ADD_KEYPTR(hh, context->interned[kind], entry->bytes, size, entry);
  return entry;
}

const void *tf_context_intern_bytes(tf_context *context, tf_intern_class kind, const void *bytes, size_t size) {
  return intern(context, kind, bytes, size)->bytes;
}

void **tf_context_memo(tf_context *context, const void *key, size_t size) {
  return &intern(context, TF_INTERN_MEMO, key, size)->value;
}

const char *tf_context_intern(tf_context *context, const char *text, size_t length) {
  return (const char *)tf_context_intern_bytes(context, TF_INTERN_STRING, text, length); /* the entry ends in a NUL */
}

const char *tf_context_intern_cstr(tf_context *context, const char *text) {
  return tf_context_intern(context, text, strlen(text));
}

uint32_t tf_context_add_source(tf_context *context, const char *name, const char *text, size_t length) {
  tf_source source = {
      .name = tf_context_intern_cstr(context, name),
      .text = tf_arena_strndup(&context->arena, text, length),
      .length = length,
  };
  TF_VEC_PUSH(&context->arena, &context->sources, source);
  return (uint32_t)(context->sources.count - 1);
}

const char *tf_context_source_name(const tf_context *context, uint32_t file) {
  return context->sources.items[file < context->sources.count ? file : 0].name;
}
