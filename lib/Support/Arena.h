/* Arena allocation: objects live until their arena dies; nothing is freed one by one.
 *
 * An arena is an obstack whose chunks come from malloc. Exhaustion never returns to the caller: it longjmps to the
 * innermost tf_arena_guard (see tf_context_try), so code between has no error paths for it. Build with
 * -DTF_ARENA_MALLOC=1 to give every allocation a malloc of its own: AddressSanitizer then sees overruns. */
#ifndef TF_SUPPORT_ARENA_H
#define TF_SUPPORT_ARENA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <obstack.h>

/* Where exhaustion unwinds to. One per context, shared by its arenas. */
typedef struct tf_oom {
  jmp_buf *target; /* null outside of any guard: exhaustion aborts there */
} tf_oom;

typedef struct tf_arena {
  struct obstack chunks;
  tf_oom *oom;
  void *separate; /* TF_ARENA_MALLOC: list of allocations */
} tf_arena;

void tf_arena_init(tf_arena *arena, tf_oom *oom);
void tf_arena_destroy(tf_arena *arena);

/* size bytes, zeroed, aligned for any type. size 0 gives a valid unique pointer. */
void *tf_arena_alloc(tf_arena *arena, size_t size);
/* A copy of size bytes. */
void *tf_arena_copy(tf_arena *arena, const void *bytes, size_t size);
/* printf into the arena. */
char *tf_arena_printf(tf_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *tf_arena_strndup(tf_arena *arena, const char *text, size_t length);
/* Unwinds as exhaustion does; for containers that live beside the arena. */
_Noreturn void tf_oom_raise(tf_oom *oom);

#define TF_ARENA_NEW(arena, type) ((type *)tf_arena_alloc((arena), sizeof(type)))
#define TF_ARENA_ARRAY(arena, type, count) ((type *)tf_arena_alloc((arena), sizeof(type) * (size_t)(count)))

/* A growing array in an arena: declare `struct { TF_VEC(int); } v = {0};`, push with TF_VEC_PUSH(&arena, &v, 7), read
 * v.items[i] for i < v.count. Old storage is left to the arena (growth doubles, so at most as much again). */
#define TF_VEC(type)                                                                                                   \
  type *items;                                                                                                         \
  size_t count, capacity
#define TF_VEC_PUSH(arena, vec, value)                                                                                 \
  ((vec)->count == (vec)->capacity                                                                                     \
       ? (void)((vec)->items = tf_vec_grow((arena), (vec)->items, (vec)->count, &(vec)->capacity, sizeof *(vec)->items)) \
       : (void)0,                                                                                                      \
   (void)((vec)->items[(vec)->count++] = (value)))
void *tf_vec_grow(tf_arena *arena, void *items, size_t count, size_t *capacity, size_t item_size);

/* A growing string in an arena; text is NUL-terminated after every call. */
typedef struct tf_string {
  tf_arena *arena;
  char *text;
  size_t length, capacity;
} tf_string;
void tf_string_init(tf_string *string, tf_arena *arena);
void tf_string_append(tf_string *string, const char *text, size_t length);
void tf_string_puts(tf_string *string, const char *text);
void tf_string_printf(tf_string *string, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
