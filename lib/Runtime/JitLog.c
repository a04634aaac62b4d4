/* What a driver's PTX compiler says, made readable: its log lines name a line of the PTX ("…, line 12; error : …" from
 * NVIDIA's, "line 12: …" from the simulator's); we add that line itself and, through the .loc before it, the line of the
 * source that it came from.
 *
 *     .file 1 "kernels/matmul.tir"
 *     .loc  1 17 5                     ◀── the last one before the failing line
 *     mma.sync.…                       ◀── line 412 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/RuntimeImpl.h"

typedef struct span {
  const char *text;
  size_t length;
} span;

/* Line `number` (from 1) of the text, without its newline; null text if there is none. */
static span line_at(const char *text, unsigned long number) {
  for (; number > 1 && text; number--) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  return (span){text, text ? strcspn(text, "\r\n") : 0};
}

/* The first "line N" of the log. */
static unsigned long logged_line(const char *log) {
  for (const char *at = strstr(log, "line "); at; at = strstr(at + 1, "line ")) {
    unsigned long number = strtoul(at + 5, NULL, 10);
    if (number) return number;
  }
  return 0;
}

/* The name in `.file index "name"`, searched in the whole text. */
static span file_name(const char *ptx, unsigned long index) {
  for (const char *at = strstr(ptx, ".file"); at; at = strstr(at + 1, ".file")) {
    char *end;
    if (strtoul(at + 5, &end, 10) != index || end == at + 5) continue;
    const char *open = end + strspn(end, " \t");
    if (*open == '"') return (span){open + 1, strcspn(open + 1, "\"\n")};
  }
  return (span){NULL, 0};
}

/* The last .loc above `end`: file index and line. */
static bool last_loc(const char *ptx, const char *end, unsigned long *file, unsigned long *line) {
  bool found = false;
  for (const char *at = strstr(ptx, ".loc"); at && at < end; at = strstr(at + 1, ".loc")) {
    if (at[4] != ' ' && at[4] != '\t') continue; /* .local */
    char *rest;
    *file = strtoul(at + 4, &rest, 10);
    *line = strtoul(rest, NULL, 10);
    found = *line != 0;
  }
  return found;
}

static void add_ptx_line(const char *ptx, unsigned long number, char *text, size_t size) {
  span line = line_at(ptx, number);
  if (!line.text) return;
  const char *start = line.text + strspn(line.text, " \t");
  size_t used = strlen(text);
  int length = (int)(line.length - (size_t)(start - line.text));
  snprintf(text + used, size - used, "\n  PTX line %lu: %.*s", number, length, start);
  unsigned long file, source_line;
  if (!last_loc(ptx, line.text, &file, &source_line)) return;
  span name = file_name(ptx, file);
  used = strlen(text);
  if (name.text) snprintf(text + used, size - used, "\n  from %.*s:%lu", (int)name.length, name.text, source_line);
}

void tf_jit_explain(const char *log, const char *ptx, char *text, size_t size) {
  size_t length = strlen(log);
  while (length && strchr(" \t\r\n", log[length - 1]))
    length--;
  snprintf(text, size, "%s%.*s", length ? ": " : "", (int)length, log);
  unsigned long number = logged_line(log);
  if (ptx && number) add_ptx_line(ptx, number, text, size);
}
