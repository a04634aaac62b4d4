/* Collecting and rendering diagnostics. */
#include "Support/Context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct diag_row {
  const char *name;
  tf_severity severity;
  const char *rule;
} diag_row;

static const diag_row rows[] = {
#define TF_DIAG(ID, SEVERITY, RULE, FORMAT) {#ID, TF_SEVERITY_##SEVERITY, RULE},
#include <tilefoundry/Diags.def>
};

const char *tf_diag_name(tf_diag_id id) {
  return (unsigned)id < TF_DIAG_COUNT ? rows[id].name : "UNKNOWN";
}

const char *tf_diag_rule(tf_diag_id id) {
  return (unsigned)id < TF_DIAG_COUNT ? rows[id].rule : "";
}

void tf_context_set_diag_handler(tf_context *context, tf_diag_handler handler, void *user) {
  context->handler = handler;
  context->handler_user = user;
}

size_t tf_context_diagnostic_count(const tf_context *context) {
  return context->diagnostics.count;
}

const tf_diagnostic *tf_context_diagnostic(const tf_context *context, size_t index) {
  return index < context->diagnostics.count ? &context->diagnostics.items[index] : NULL;
}

size_t tf_context_error_count(const tf_context *context) {
  return context->error_count;
}

void tf_context_clear_diagnostics(tf_context *context) {
  context->diagnostics.count = 0;
  context->error_count = 0;
}

void tf_diag_report(tf_context *context, tf_loc loc, tf_diag_id id, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  size_t size = (size_t)(length < 0 ? 0 : length) + 1;
  char *message = tf_arena_alloc(&context->arena, size);
  vsnprintf(message, size, format, again);
  va_end(again);

  tf_diagnostic diagnostic = {
      .id = id, .severity = rows[id].severity, .rule = rows[id].rule, .message = message, .loc = loc};
  TF_VEC_PUSH(&context->arena, &context->diagnostics, diagnostic);
  if (diagnostic.severity == TF_SEVERITY_ERROR) context->error_count++;
  if (context->handler) context->handler(context->handler_user, &diagnostic);
}

/* The text of line `number` (from 1), without its end; length 0 if there is none. */
static const char *source_line(const tf_source *source, uint32_t number, size_t *length) {
  const char *line = source->text, *end = source->text + source->length;
  for (uint32_t n = 1; n < number && line < end; n++) {
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    line = newline ? newline + 1 : end;
  }
  const char *newline = memchr(line, '\n', (size_t)(end - line));
  *length = (size_t)((newline ? newline : end) - line);
  if (*length && line[*length - 1] == '\r') (*length)--;
  return line;
}

/* The source line and a line of carets under the marked text. Tabs are kept so that the caret stays in its column. */
static void render_snippet(tf_string *out, const tf_source *source, tf_loc loc) {
  size_t length;
  const char *line = source_line(source, loc.line, &length);
  if (!length || loc.column == 0 || loc.column > length + 1 || length > 400) return;
  tf_string_append(out, line, length);
  tf_string_puts(out, "\n");
  for (uint32_t i = 0; i + 1 < loc.column; i++) {
    unsigned char c = (unsigned char)line[i];
    if ((c & 0xC0) != 0x80) tf_string_puts(out, c == '\t' ? "\t" : " "); /* UTF-8 continuation bytes take no column */
  }
  tf_string_puts(out, "^");
  for (uint32_t i = 1; i < loc.length && loc.column - 1 + i < length; i++)
    if (((unsigned char)line[loc.column - 1 + i] & 0xC0) != 0x80) tf_string_puts(out, "~");
  tf_string_puts(out, "\n");
}

/* Length of the UTF-8 sequence at text, or 0 if there is no valid one (surrogates and overlong forms aside). */
static size_t utf8_length(const unsigned char *text) {
  size_t length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xC0) != 0x80) return 0;
  return length;
}

/* Source text may hold anything; what is shown on a terminal or parsed by a tool is printable UTF-8. */
static void make_printable(char *text) {
  for (unsigned char *c = (unsigned char *)text; *c;) {
    size_t length = utf8_length(c);
    if (length == 0 || (*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7F) *c = '?';
    c += length ? length : 1;
  }
}

const char *tf_diagnostic_render(tf_context *context, const tf_diagnostic *diagnostic) {
  static const char *const severities[] = {"error", "warning", "remark", "note"};
  tf_string out;
  tf_string_init(&out, &context->arena);
  tf_loc loc = diagnostic->loc;
  const tf_source *source = &context->sources.items[loc.file < context->sources.count ? loc.file : 0];
  if (loc.line) {
    tf_string_printf(&out, "%s:%u:%u: ", source->name, loc.line, loc.column);
  } else if (loc.file) {
    tf_string_printf(&out, "%s: ", source->name);
  }
  tf_string_printf(&out, "%s: %s", severities[diagnostic->severity], diagnostic->message);
  if (diagnostic->rule[0]) tf_string_printf(&out, " [%s]", diagnostic->rule);
  tf_string_puts(&out, "\n");
  if (loc.line) render_snippet(&out, source, loc);
  make_printable(out.text);
  return out.text;
}
