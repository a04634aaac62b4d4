/* Reading: the whole file into one buffer, header parsed in place, the data moved to the buffer's start (so it is as
 * aligned as malloc's memory) and swapped if it came in the other byte order. Writing: header padded so that the data
 * starts at a multiple of 64 bytes, as NumPy does. */
#include "Support/Npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "Support/NpyHeader.h"

#define MAGIC        "\x93NUMPY"
#define MAGIC_SIZE   6
#define PREFIX_SIZE  8 /* magic and version */
#define HEADER_ALIGN 64

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the writer says '<'");

/* Where messages go, and for which file. */
typedef struct reporter {
  const char *name;
  char *message;
  size_t size;
} reporter;

static tf_status TF_PRINTF(4, 5) report(const reporter *r, tf_status status, size_t at, const char *format, ...) {
  int used = snprintf(r->message, r->size, "%s: byte %zu: ", r->name, at);
  va_list args;
  va_start(args, format);
  if (used >= 0 && (size_t)used < r->size) vsnprintf(r->message + used, r->size - (size_t)used, format, args);
  va_end(args);
  return status;
}

static tf_status report_errno(const reporter *r, const char *verb) {
  snprintf(r->message, r->size, "%s: cannot be %s: %s", r->name, verb, strerror(errno));
  return TF_IO;
}

static tf_status report_memory(const reporter *r) {
  snprintf(r->message, r->size, "%s: out of memory", r->name);
  return TF_OUT_OF_MEMORY;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* '<f4' and the like: byte order, kind, bytes. Returns false if it is none of the readable ones. */
static bool parse_descr(const char *descr, tf_npy *out, bool *swap) {
  if (!strchr("<>|=", descr[0]) || !descr[0] || !descr[1] || !descr[2] || descr[3]) return false;
  out->kind = descr[1];
  out->item_bytes = (unsigned)(descr[2] - '0');
  *swap = descr[0] == '>';
  unsigned n = out->item_bytes;
  bool power = n == 1 || n == 2 || n == 4 || n == 8;
  if (out->kind == 'b') return n == 1;
  if (out->kind == 'f') return power && n != 1;
  return (out->kind == 'i' || out->kind == 'u') && power;
}

static bool count_items(tf_npy *a) {
  bool empty = false;
  for (unsigned i = 0; i < a->rank; i++)
    empty = empty || a->shape[i] == 0;
  a->count = empty ? 0 : 1;
  size_t bytes;
  for (unsigned i = 0; i < a->rank && !empty; i++)
    if (__builtin_mul_overflow(a->count, (size_t)a->shape[i], &a->count)) return false;
  return !__builtin_mul_overflow(a->count, (size_t)a->item_bytes, &bytes);
}

static tf_status check_prefix(const reporter *r, const unsigned char *bytes, size_t size, size_t *text,
                              size_t *length) {
  if (size < PREFIX_SIZE) return report(r, TF_PARSE, size, "the file ends inside the .npy prefix");
  if (memcmp(bytes, MAGIC, MAGIC_SIZE) != 0)
    return report(r, TF_PARSE, 0, "this is no .npy file (the magic string is missing)");
  unsigned major = bytes[6];
  if (major < 1 || major > 3 || bytes[7] != 0)
    return report(r, TF_UNSUPPORTED, 6, ".npy version %u.%u; versions 1.0, 2.0 and 3.0 are read", major, bytes[7]);
  unsigned width = major == 1 ? 2 : 4;
  *text = PREFIX_SIZE + width;
  if (size < *text) return report(r, TF_PARSE, size, "the file ends inside the header's length");
  *length = 0;
  for (unsigned i = 0; i < width; i++)
    *length |= (size_t)bytes[PREFIX_SIZE + i] << (8 * i);
  if (size - *text < *length)
    return report(r, TF_PARSE, size, "the file ends inside its header (%zu bytes are announced)", *length);
  return TF_OK;
}

static tf_status check_header(const reporter *r, const tf_npy_header *header, size_t at, tf_npy *out, bool *swap) {
  out->rank = header->rank;
  memcpy(out->shape, header->shape, sizeof out->shape);
  if (!parse_descr(header->descr, out, swap))
    return report(r, TF_UNSUPPORTED, at,
                  "dtype '%s'; bool, int8..int64, uint8..uint64, float16, float32 and float64 are read", header->descr);
  if (header->fortran_order && header->rank > 1)
    return report(r, TF_UNSUPPORTED, at, "the array is in Fortran order; save numpy.ascontiguousarray(a)");
  if (!count_items(out)) return report(r, TF_PARSE, at, "the shape has more items than memory can hold");
  return TF_OK;
}

static void swap_items(tf_npy *a) {
  unsigned char *p = a->data;
  for (size_t i = 0; i < a->count; i++, p += a->item_bytes)
    for (unsigned lo = 0, hi = a->item_bytes - 1; lo < hi; lo++, hi--) {
      unsigned char t = p[lo];
      p[lo] = p[hi];
      p[hi] = t;
    }
}

/* Parses `buffer`, which becomes the array's data; the caller frees it if this fails. */
static tf_status parse_buffer(const reporter *r, unsigned char *buffer, size_t size, tf_npy *out) {
  size_t text = 0, length = 0, error_at = 0;
  tf_status status = check_prefix(r, buffer, size, &text, &length);
  if (status != TF_OK) return status;
  tf_npy_header header;
  const char *error = NULL;
  status = tf_npy_header_parse((const char *)buffer + text, length, &header, &error_at, &error);
  if (status != TF_OK) return report(r, status, text + error_at, "%s", error);
  tf_npy array = {0};
  bool swap = false;
  status = check_header(r, &header, text, &array, &swap);
  if (status != TF_OK) return status;
  size_t start = text + length, want = array.count * array.item_bytes, have = size - start;
  if (have < want)
    return report(r, TF_PARSE, size, "the file ends inside its data: %zu of %zu bytes are there", have, want);
  if (have > want) return report(r, TF_PARSE, start + want, "%zu bytes behind the data", have - want);
  memmove(buffer, buffer + start, want);
  array.data = buffer;
  if (swap) swap_items(&array);
  *out = array;
  return TF_OK;
}

static tf_status read_stream(const reporter *r, FILE *file, unsigned char **out, size_t *size) {
  size_t used = 0, room = 1 << 16;
  unsigned char *buffer = malloc(room);
  while (buffer) {
    used += fread(buffer + used, 1, room - used, file);
    if (used < room) break;
    unsigned char *grown = room > SIZE_MAX / 2 ? NULL : realloc(buffer, room * 2);
    if (!grown) free(buffer);
    buffer = grown;
    room *= 2;
  }
  if (!buffer) return report_memory(r);
  if (ferror(file)) {
    free(buffer);
    return report_errno(r, "read");
  }
  *out = buffer;
  *size = used;
  return TF_OK;
}

tf_status tf_npy_read(const char *path, tf_npy *out, char *message, size_t message_size) {
  bool standard = strcmp(path, "-") == 0;
  reporter r = {standard ? "<stdin>" : path, message, message_size};
  FILE *file = standard ? stdin : fopen(path, "rb");
  if (!file) return report_errno(&r, "read");
  unsigned char *buffer = NULL;
  size_t size = 0;
  tf_status status = read_stream(&r, file, &buffer, &size);
  if (!standard) fclose(file);
  if (status != TF_OK) return status;
  status = parse_buffer(&r, buffer, size, out);
  if (status != TF_OK) free(buffer);
  return status;
}

tf_status tf_npy_parse(const char *name, const void *bytes, size_t size, tf_npy *out, char *message,
                       size_t message_size) {
  reporter r = {name, message, message_size};
  unsigned char *buffer = malloc(size ? size : 1);
  if (!buffer) return report_memory(&r);
  if (size) memcpy(buffer, bytes, size);
  tf_status status = parse_buffer(&r, buffer, size, out);
  if (status != TF_OK) free(buffer);
  return status;
}

void tf_npy_free(tf_npy *array) {
  free(array->data);
  memset(array, 0, sizeof *array);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static size_t format_header(const tf_npy *a, char *text, size_t size) {
  size_t n = (size_t)snprintf(text, size, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (",
                              a->item_bytes == 1 ? '|' : '<', a->kind, a->item_bytes);
  for (unsigned i = 0; i < a->rank; i++)
    n += (size_t)snprintf(text + n, size - n, "%s%" PRId64, i ? ", " : "", a->shape[i]);
  n += (size_t)snprintf(text + n, size - n, "%s), }", a->rank == 1 ? "," : "");
  while ((PREFIX_SIZE + 2 + n + 1) % HEADER_ALIGN != 0)
    text[n++] = ' ';
  text[n++] = '\n';
  return n;
}

static bool write_stream(FILE *file, const tf_npy *a) {
  char text[64 + TF_NPY_MAX_RANK * 22 + HEADER_ALIGN];
  size_t n = format_header(a, text, sizeof text);
  const unsigned char prefix[PREFIX_SIZE + 2] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(n & 0xff), (unsigned char)(n >> 8)};
  return fwrite(prefix, 1, sizeof prefix, file) == sizeof prefix && fwrite(text, 1, n, file) == n &&
         fwrite(a->data, a->item_bytes, a->count, file) == a->count && fflush(file) == 0;
}

static void remove_partial(const char *path) {
  struct stat info;
  if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) unlink(path);
}

tf_status tf_npy_write(const char *path, const tf_npy *array, char *message, size_t message_size) {
  bool standard = strcmp(path, "-") == 0;
  reporter r = {standard ? "<stdout>" : path, message, message_size};
  FILE *file = standard ? stdout : fopen(path, "wb");
  if (!file) return report_errno(&r, "written");
  tf_status status = write_stream(file, array) ? TF_OK : report_errno(&r, "written");
  if (!standard && fclose(file) != 0 && status == TF_OK) status = report_errno(&r, "written");
  if (status != TF_OK && !standard) remove_partial(path);
  return status;
}
