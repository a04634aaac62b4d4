/* The JSON cursor of the manifest reader: typed access with paths in the messages. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "Runtime/ManifestReader.h"

static size_t format_path(const tf_mnode *node, char *text, size_t size) {
  if (!node || !node->up) return 0;
  size_t used = format_path(node->up, text, size);
  if (used >= size) return used;
  int n = node->key ? snprintf(text + used, size - used, "%s%s", used ? "." : "", node->key)
                    : snprintf(text + used, size - used, "[%zu]", node->index);
  return used + (n > 0 ? (size_t)n : 0);
}

bool tf_mreader_fail(tf_mreader *r, const tf_mnode *at, const char *format, ...) {
  if (r->failed) return false;
  r->failed = true;
  char path[256] = "";
  format_path(at, path, sizeof path);
  int used = snprintf(r->message, r->message_size, "%s: %s%s", r->name, path, *path ? ": " : "");
  va_list args;
  va_start(args, format);
  if (used >= 0 && (size_t)used < r->message_size)
    vsnprintf(r->message + used, r->message_size - (size_t)used, format, args);
  va_end(args);
  return false;
}

static bool is_listed(const char *key, const char *const *keys) {
  for (; *keys; keys++)
    if (strcmp(*keys, key) == 0) return true;
  return false;
}

bool tf_mreader_object(tf_mreader *r, const tf_mnode *node, const char *const *keys) {
  if (r->failed) return false;
  if (!json_is_object(node->value)) return tf_mreader_fail(r, node, "expected an object");
  for (const char *const *key = keys; *key; key++)
    if (!json_object_get(node->value, *key)) return tf_mreader_fail(r, node, "the key '%s' is missing", *key);
  for (void *it = json_object_iter(node->value); it; it = json_object_iter_next(node->value, it))
    if (!is_listed(json_object_iter_key(it), keys))
      return tf_mreader_fail(r, node, "unknown key '%s'", json_object_iter_key(it));
  return true;
}

size_t tf_mreader_array(tf_mreader *r, const tf_mnode *node, size_t least) {
  if (r->failed) return 0;
  if (!json_is_array(node->value)) {
    tf_mreader_fail(r, node, "expected an array");
    return 0;
  }
  size_t count = json_array_size(node->value);
  if (count < least || count > UINT32_MAX) {
    tf_mreader_fail(r, node, "expected at least %zu elements, got %zu", least, count);
    return 0;
  }
  return count;
}

tf_mnode tf_mnode_member(const tf_mnode *node, const char *key) {
  return (tf_mnode){.up = node, .key = key, .value = json_object_get(node->value, key)};
}

tf_mnode tf_mnode_element(const tf_mnode *node, size_t index) {
  return (tf_mnode){.up = node, .index = index, .value = json_array_get(node->value, index)};
}

bool tf_mnode_is_null(const tf_mnode *node) {
  return json_is_null(node->value);
}

const char *tf_mreader_string(tf_mreader *r, const tf_mnode *node, bool empty_ok) {
  if (r->failed) return "";
  const char *text = json_string_value(node->value);
  if (!text || (!*text && !empty_ok)) {
    tf_mreader_fail(r, node, text ? "the string is empty" : "expected a string");
    return "";
  }
  return tf_arena_strndup(r->arena, text, strlen(text));
}

int64_t tf_mreader_int(tf_mreader *r, const tf_mnode *node, int64_t least) {
  if (r->failed) return least;
  if (!json_is_integer(node->value)) {
    tf_mreader_fail(r, node, "expected an integer");
    return least;
  }
  int64_t value = json_integer_value(node->value);
  if (value >= least) return value;
  tf_mreader_fail(r, node, "%" PRId64 " is less than %" PRId64, value, least);
  return least;
}

bool tf_mreader_bool(tf_mreader *r, const tf_mnode *node) {
  if (!r->failed && !json_is_boolean(node->value)) tf_mreader_fail(r, node, "expected true or false");
  return json_is_true(node->value);
}

unsigned tf_mreader_choice(tf_mreader *r, const tf_mnode *node, const char *const *names, unsigned count) {
  const char *text = tf_mreader_string(r, node, false);
  for (unsigned i = 0; i < count && !r->failed; i++)
    if (strcmp(names[i], text) == 0) return i;
  tf_mreader_fail(r, node, "'%s' is none of the values that are legal here", text);
  return 0;
}

tf_mloc tf_mreader_loc(tf_mreader *r, const tf_mnode *node) {
  tf_mloc loc = {0};
  if (r->failed || tf_mnode_is_null(node)) return loc;
  static const char *const keys[] = {"file", "line", "column", NULL};
  if (!tf_mreader_object(r, node, keys)) return loc;
  tf_mnode file = tf_mnode_member(node, "file"), line = tf_mnode_member(node, "line");
  tf_mnode column = tf_mnode_member(node, "column");
  loc.file = tf_mreader_string(r, &file, false);
  loc.line = tf_mreader_int(r, &line, 1);
  loc.column = tf_mreader_int(r, &column, 1);
  return loc;
}
