#include "Llc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool complain(const char *what, const char *path) {
  fprintf(stderr, "tf-llc: error: cannot %s '%s': %s\n", what, path, strerror(errno));
  return false;
}

static bool grow(llc_text *text, size_t *capacity) {
  *capacity = *capacity ? 2 * *capacity : 65536;
  char *bytes = realloc(text->bytes, *capacity);
  if (bytes) text->bytes = bytes;
  return bytes != NULL;
}

static bool read_stream(FILE *file, llc_text *out) {
  size_t capacity = 0;
  do {
    if (out->length + 1 >= capacity && !grow(out, &capacity)) return false;
    out->length += fread(out->bytes + out->length, 1, capacity - 1 - out->length, file);
  } while (!feof(file) && !ferror(file));
  out->bytes[out->length] = 0;
  return !ferror(file);
}

bool llc_read(const char *path, llc_text *out) {
  *out = (llc_text){NULL, 0};
  bool standard = strcmp(path, "-") == 0;
  FILE *file = standard ? stdin : fopen(path, "rb");
  if (!file) return complain("read", path);
  bool fine = read_stream(file, out);
  if (!fine) complain("read", path);
  if (!standard) fclose(file);
  return fine;
}

bool llc_write(const char *path, const char *bytes, size_t length) {
  bool standard = !path || strcmp(path, "-") == 0;
  FILE *file = standard ? stdout : fopen(path, "wb");
  if (!file) return complain("write", path);
  bool fine = fwrite(bytes, 1, length, file) == length && fflush(file) == 0;
  if (!standard && fclose(file) != 0) fine = false;
  return fine ? true : complain("write", standard ? "stdout" : path);
}

/* ---- Parts ---- */
static const char *next_line(const char *at) {
  const char *end = strchr(at, '\n');
  return end ? end + 1 : at + strlen(at);
}

static bool is_separator(const char *line) {
  return strncmp(line, "# -----", 7) == 0;
}

static bool add_part(llc_parts *parts, const char *begin, const char *end, size_t lines_before) {
  llc_text *items = realloc(parts->items, (parts->count + 1) * sizeof *items);
  if (!items) return false;
  parts->items = items;
  size_t length = lines_before + (size_t)(end - begin);
  char *bytes = malloc(length + 1);
  if (!bytes) return false;
  memset(bytes, '\n', lines_before);
  memcpy(bytes + lines_before, begin, (size_t)(end - begin));
  bytes[length] = 0;
  parts->items[parts->count++] = (llc_text){bytes, length};
  return true;
}

llc_parts llc_split(const llc_text *text, bool split) {
  llc_parts parts = {0, NULL};
  const char *begin = text->bytes, *end = text->bytes + text->length;
  size_t lines = 0, lines_before = 0;
  for (const char *line = begin; split && *line; line = next_line(line), lines++) {
    if (!is_separator(line)) continue;
    add_part(&parts, begin, line, lines_before);
    begin = next_line(line);
    lines_before = lines + 1;
  }
  add_part(&parts, begin, end, lines_before);
  return parts;
}

void llc_parts_free(llc_parts *parts) {
  for (size_t i = 0; i < parts->count; i++)
    free(parts->items[i].bytes);
  free(parts->items);
}
