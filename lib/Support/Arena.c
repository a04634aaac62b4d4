/* Arenas over obstack, growing arrays and strings in them. */
#include "Support/Arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void tf_oom_raise(tf_oom *oom) {
  if (oom->target) longjmp(*oom->target, 1);
  abort(); /* the stated policy outside of a guard: Context.h */
}

static void *chunk_alloc(void *arena, size_t size) {
  void *chunk = malloc(size);
  if (!chunk) tf_oom_raise(((tf_arena *)arena)->oom);
  return chunk;
}

static void chunk_free(void *arena, void *chunk) {
  (void)arena;
  free(chunk);
}

/* obstack's macros mix signed and unsigned sizes. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wcast-function-type"

void tf_arena_init(tf_arena *arena, tf_oom *oom) {
  arena->oom = oom;
  arena->separate = NULL;
  obstack_specify_allocation_with_arg(&arena->chunks, 0, 0, chunk_alloc, chunk_free, arena);
}

static void *chunk_take(tf_arena *arena, size_t size) {
  return obstack_alloc(&arena->chunks, size);
}

static void chunks_release(tf_arena *arena) {
  obstack_free(&arena->chunks, NULL);
}
#pragma GCC diagnostic pop

#if TF_ARENA_MALLOC
/* Every allocation is its own malloc, linked in front of its bytes. */
static void *take(tf_arena *arena, size_t size) {
  void **block = chunk_alloc(arena, sizeof(void *) * 2 + size);
  block[0] = arena->separate;
  arena->separate = block;
  return block + 2;
}
#else
static void *take(tf_arena *arena, size_t size) {
  return chunk_take(arena, size ? size : 1);
}
#endif

void tf_arena_destroy(tf_arena *arena) {
  for (void **block = arena->separate; block;) {
    void **next = block[0];
    free(block);
    block = next;
  }
  (void)chunk_take;
  chunks_release(arena);
}

void *tf_arena_alloc(tf_arena *arena, size_t size) {
  if (size > (size_t)INT32_MAX * 64) tf_oom_raise(arena->oom);
  return memset(take(arena, size), 0, size);
}

void *tf_arena_copy(tf_arena *arena, const void *bytes, size_t size) {
  void *copy = take(arena, size);
  return size ? memcpy(copy, bytes, size) : copy;
}

char *tf_arena_strndup(tf_arena *arena, const char *text, size_t length) {
  char *copy = take(arena, length + 1);
  if (length) memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

char *tf_arena_printf(tf_arena *arena, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = take(arena, (size_t)(length < 0 ? 0 : length) + 1);
  vsnprintf(text, (size_t)(length < 0 ? 0 : length) + 1, format, again);
  va_end(again);
  return text;
}

void *tf_vec_grow(tf_arena *arena, void *items, size_t count, size_t *capacity, size_t item_size) {
  *capacity = *capacity ? *capacity * 2 : 8;
  void *grown = take(arena, *capacity * item_size);
  if (count) memcpy(grown, items, count * item_size);
  return grown;
}

void tf_string_init(tf_string *string, tf_arena *arena) {
  *string = (tf_string){.arena = arena};
  tf_string_append(string, "", 0);
}

static void string_reserve(tf_string *string, size_t extra) {
  if (string->length + extra + 1 <= string->capacity) return;
  size_t capacity = string->capacity ? string->capacity * 2 : 64;
  while (capacity < string->length + extra + 1)
    capacity *= 2;
  char *grown = take(string->arena, capacity);
  if (string->length) memcpy(grown, string->text, string->length);
  string->text = grown;
  string->capacity = capacity;
}

void tf_string_append(tf_string *string, const char *text, size_t length) {
  string_reserve(string, length);
  if (length) memcpy(string->text + string->length, text, length);
  string->length += length;
  string->text[string->length] = '\0';
}

void tf_string_puts(tf_string *string, const char *text) {
  tf_string_append(string, text, strlen(text));
}

void tf_string_printf(tf_string *string, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length > 0) {
    string_reserve(string, (size_t)length);
    vsnprintf(string->text + string->length, (size_t)length + 1, format, again);
    string->length += (size_t)length;
  }
  va_end(again);
}
