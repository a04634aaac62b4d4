/* --verify-diagnostics: every diagnostic has to be announced by a comment, and every announcement has to come true.
 *
 *     T.copy(a, b)            # expected-error {{element counts}}
 *     # expected-note@-1 {{bound here}}
 *
 * The text is a part of the message or of its [rule]; the line is the comment's own plus the offset. */
#include "Llc.h"

#include <stdlib.h>
#include <string.h>

static const char *const severities[] = {"error", "warning", "remark", "note"};

typedef struct expectation {
  tf_severity severity;
  long line;
  const char *text;
  size_t length;
  bool seen;
} expectation;

typedef struct expectations {
  size_t count;
  expectation *items;
} expectations;

static void add(expectations *list, expectation item) {
  expectation *items = realloc(list->items, (list->count + 1) * sizeof *items);
  if (!items) return;
  list->items = items;
  list->items[list->count++] = item;
}

/* After "expected-": severity, offset, {{text}}. Null if it is none of ours. */
static const char *parse_one(const char *at, long line, expectations *list) {
  expectation item = {.line = line};
  for (unsigned i = 0; i < 4; i++) {
    size_t length = strlen(severities[i]);
    if (strncmp(at, severities[i], length) != 0) continue;
    char *after = (char *)(uintptr_t)(at + length);
    if (*after == '@') item.line += strtol(after + 1, &after, 10);
    const char *open = after + strspn(after, " "), *close = strstr(open, "}}");
    if (strncmp(open, "{{", 2) != 0 || !close) return NULL;
    item.severity = (tf_severity)i;
    item.text = open + 2;
    item.length = (size_t)(close - open - 2);
    add(list, item);
    return close + 2;
  }
  return NULL;
}

static expectations parse_all(const char *text) {
  expectations list = {0, NULL};
  long line = 1;
  for (const char *at = text; *at; at++) {
    if (*at == '\n') line++;
    if (strncmp(at, "expected-", 9) != 0) continue;
    const char *after = parse_one(at + 9, line, &list);
    if (after) at = after - 1;
  }
  return list;
}

static bool contains(const char *text, const char *part, size_t length) {
  return length == 0 || (text && memmem(text, strlen(text), part, length));
}

static bool take(expectations *list, const tf_diagnostic *diagnostic) {
  for (size_t i = 0; i < list->count; i++) {
    expectation *item = &list->items[i];
    if (item->seen || item->severity != diagnostic->severity || item->line != (long)diagnostic->loc.line) continue;
    if (!contains(diagnostic->message, item->text, item->length) &&
        !contains(diagnostic->rule, item->text, item->length))
      continue;
    item->seen = true;
    return true;
  }
  return false;
}

bool llc_diagnostics_match(tf_context *context, const char *name, const char *text) {
  expectations list = parse_all(text);
  bool fine = true;
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++) {
    const tf_diagnostic *diagnostic = tf_context_diagnostic(context, i);
    if (take(&list, diagnostic)) continue;
    fprintf(stderr, "unexpected: %s", tf_diagnostic_render(context, diagnostic));
    fine = false;
  }
  for (size_t i = 0; i < list.count; i++) {
    const expectation *item = &list.items[i];
    if (item->seen) continue;
    fprintf(stderr, "%s:%ld: expected %s was not reported: %.*s\n", name, item->line, severities[item->severity],
            (int)item->length, item->text);
    fine = false;
  }
  free(list.items);
  return fine;
}
