/* Names of a PTX module: a hash table per scope; a parametrised register (%r<9>) is one entry that answers for nine
 * names, found by splitting the trailing digits off. */
#include "Sim/Ptx/ParseInternal.h"

#include <string.h>

static size_t hash_name(const char *name, size_t length) {
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < length; i++)
    h = (h ^ (unsigned char)name[i]) * 1099511628211u;
  return (size_t)(h ^ (h >> 29));
}

bool tf_ptx_scope_init(tf_parser *p, tf_scope *scope, tf_scope *parent) {
  *scope = (tf_scope){.parent = parent, .bucket_count = parent ? 16 : 256};
  scope->buckets = tf_pool_alloc(&p->module->pool, scope->bucket_count * sizeof *scope->buckets);
  return scope->buckets ? true : tf_parse_no_memory(p);
}

static void scope_rehash(tf_parser *p, tf_scope *scope) {
  size_t count = scope->bucket_count * 4;
  tf_name **buckets = tf_pool_alloc(&p->module->pool, count * sizeof *buckets);
  if (!buckets) return; /* the table stays right, only slower */
  for (size_t b = 0; b < scope->bucket_count; b++) {
    for (tf_name *n = scope->buckets[b], *next; n; n = next) {
      next = n->next;
      size_t h = hash_name(n->name, n->length) % count;
      n->next = buckets[h];
      buckets[h] = n;
    }
  }
  scope->buckets = buckets;
  scope->bucket_count = count;
}

tf_name *tf_scope_find(const tf_scope *scope, const char *name, size_t length) {
  tf_name *n = scope->buckets[hash_name(name, length) % scope->bucket_count];
  while (n && !(n->length == length && memcmp(n->name, name, length) == 0))
    n = n->next;
  return n;
}

tf_name *tf_scope_add(tf_parser *p, tf_scope *scope, const char *name) {
  size_t length = strlen(name);
  if (tf_scope_find(scope, name, length)) {
    tf_ptx_fail(p->error, p->tok.line, name, length, "'%s' is declared twice in this scope", name);
    return NULL;
  }
  if (++scope->count > scope->bucket_count) scope_rehash(p, scope);
  tf_name *n = tf_pool_alloc(&p->module->pool, sizeof *n);
  if (!n) {
    tf_parse_no_memory(p);
    return NULL;
  }
  size_t h = hash_name(name, length) % scope->bucket_count;
  *n = (tf_name){.next = scope->buckets[h], .name = name, .length = length};
  scope->buckets[h] = n;
  return n;
}

/* `%r12` as element of a declaration `%r<N>` or `%r1<N>`: every split of the trailing digits, longest number first. */
static tf_name *find_element(const tf_scope *scope, const char *name, size_t length, uint32_t *index) {
  size_t first = length;
  while (first > 1 && name[first - 1] >= '0' && name[first - 1] <= '9' && length - first < 9)
    first--;
  for (size_t split = first; split < length; split++) {
    if (name[split] == '0' && split + 1 < length) continue;
    uint32_t number = 0;
    for (size_t i = split; i < length; i++)
      number = number * 10 + (uint32_t)(name[i] - '0');
    tf_name *n = tf_scope_find(scope, name, split);
    if (n && n->reg && number < n->reg->count) {
      *index = number;
      return n;
    }
  }
  return NULL;
}

tf_name *tf_parse_lookup(const tf_parser *p, const char *name, size_t length, uint32_t *index) {
  *index = 0;
  for (const tf_scope *s = p->scope; s; s = s->parent) {
    tf_name *n = tf_scope_find(s, name, length);
    if (n && !(n->reg && n->reg->count)) return n;
    n = find_element(s, name, length, index);
    if (n) return n;
  }
  return NULL;
}
