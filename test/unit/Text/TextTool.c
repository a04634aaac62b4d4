/* What the text stage makes of a file, for the scripts of this folder:
 *
 *   text-tool tokens FILE        one token a line
 *   text-tool ast FILE           the syntax tree, one statement a line
 *   text-tool eval FILE          each line's value as a compile-time expression, or "error"
 *   text-tool print FILE         canonical text
 *   text-tool roundtrip FILE…    parse, print, parse, print: equal modules and equal texts
 *   text-tool time FILE          seconds for parsing and printing
 *
 * Diagnostics go to stderr; the status is 1 if there was an error. */
#include <tilefoundry/Text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "IR/Text/ParseLiteral.h"
#include "IR/Text/Static.h"
#include "IR/Text/Elaborate.h"
#include "Support/Context.h"
#include "SyntaxDump.h"

static char *read_file(const char *path, size_t *length) {
  FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
  if (!file) return NULL;
  size_t capacity = 1 << 16;
  char *text = malloc(capacity);
  *length = 0;
  while (text && !feof(file) && !ferror(file)) {
    if (*length + 1 == capacity) text = realloc(text, capacity *= 2);
    *length += fread(text + *length, 1, capacity - *length - 1, file);
  }
  text[*length] = '\0';
  if (file != stdin) fclose(file);
  return text;
}

static void show(void *user, const tf_diagnostic *diagnostic) {
  fputs(tf_diagnostic_render(user, diagnostic), stderr);
}

static tf_context *new_context(void) {
  tf_context *context;
  if (tf_context_create(&context) != TF_OK) exit(2);
  tf_context_set_diag_handler(context, show, context);
  return context;
}

static int tokens(tf_context *context, const char *path, const char *text, size_t length) {
  static const char *const kinds[] = {"END",     "ERROR", "NEWLINE", "INDENT", "DEDENT", "NAME",
                                      "KEYWORD", "INT",   "FLOAT",   "STRING", "OP"};
  tf_tokens all = tf_lex(context, tf_context_add_source(context, path, text, length), &context->arena);
  for (size_t i = 0; i < all.count; i++) {
    const tf_token *t = &all.items[i];
    printf("%s %u %u ", kinds[t->kind], t->line, t->column);
    bool spelled = t->kind >= TF_TOKEN_NAME;
    for (uint32_t at = t->start; spelled && at < t->end; at++) {
      if (text[at] == '\n' || text[at] == '\r' || text[at] == '\\')
        printf("\\x%02x", (unsigned char)text[at]);
      else
        putchar(text[at]);
    }
    putchar('\n');
  }
  return 0;
}

static int ast(tf_context *context, const char *path, const char *text, size_t length) {
  tf_block_syntax file = tf_parse_syntax(context, tf_context_add_source(context, path, text, length), &context->arena);
  for (unsigned i = 0; i < file.count; i++) {
    syntax_dump(stdout, file.items[i]);
    putchar('\n');
  }
  return 0;
}

static void eval_line(tf_context *context, const char *line, size_t length) {
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  tf_elab e = {.context = context, .scratch = &context->arena, .options = &options};
  tf_scope_init(&e);
  const tf_node *node =
      tf_parse_expression(context, tf_context_add_source(context, "line", line, length), &context->arena);
  tf_value value = node ? tf_eval(&e, node) : TF_VALUE_OF_ERROR;
  puts(value.kind == TF_VALUE_ERROR ? "error" : tf_value_print(context, &value));
}

static int eval(tf_context *context, const char *text) {
  tf_context_set_diag_handler(context, NULL, NULL);
  while (*text) {
    size_t length = strcspn(text, "\n");
    eval_line(context, text, length);
    text += length + (text[length] == '\n');
  }
  tf_context_clear_diagnostics(context);
  return 0;
}

static int print(tf_context *context, const char *path, const char *text, size_t length) {
  const tf_module *module;
  const char *out;
  if (tf_parse(context, path, text, length, NULL, &module) != TF_OK || tf_print(module, &out) != TF_OK) return 1;
  fputs(out, stdout);
  return 0;
}

static int fail(const char *path, const char *why) {
  fprintf(stderr, "%s: %s\n", path, why);
  return 1;
}

static int roundtrip(tf_context *context, const char *path, const char *text, size_t length) {
  const tf_module *first, *second;
  const char *once, *twice;
  if (tf_parse(context, path, text, length, NULL, &first) != TF_OK) return fail(path, "does not parse");
  if (tf_print(first, &once) != TF_OK) return fail(path, "does not print");
  if (tf_parse(context, "printed", once, strlen(once), NULL, &second) != TF_OK)
    return fail(path, "the printed text does not parse");
  if (tf_print(second, &twice) != TF_OK) return fail(path, "does not print again");
  if (strcmp(once, twice) != 0) {
    fprintf(stderr, "---- once\n%s---- twice\n%s", once, twice);
    return fail(path, "prints differently the second time");
  }
  return tf_module_equal(first, second) ? 0 : fail(path, "reads back as another module");
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int timed(tf_context *context, const char *path, const char *text, size_t length) {
  const tf_module *module;
  const char *out;
  double start = now();
  if (tf_parse(context, path, text, length, NULL, &module) != TF_OK) return 1;
  double parsed = now();
  if (tf_print(module, &out) != TF_OK) return 1;
  printf("parse %.3f print %.3f\n", parsed - start, now() - parsed);
  return 0;
}

static int run(const char *command, const char *path) {
  size_t length;
  char *text = read_file(path, &length);
  if (!text) return fail(path, "cannot be read");
  tf_context *context = new_context();
  int status = 2;
  if (strcmp(command, "tokens") == 0) status = tokens(context, path, text, length);
  if (strcmp(command, "ast") == 0) status = ast(context, path, text, length);
  if (strcmp(command, "eval") == 0) status = eval(context, text);
  if (strcmp(command, "print") == 0) status = print(context, path, text, length);
  if (strcmp(command, "roundtrip") == 0) status = roundtrip(context, path, text, length);
  if (strcmp(command, "time") == 0) status = timed(context, path, text, length);
  if (status == 0 && tf_context_error_count(context)) status = 1;
  tf_context_destroy(context);
  free(text);
  return status;
}

int main(int argc, char **argv) {
  int status = argc < 3 ? 2 : 0;
  for (int i = 2; i < argc; i++) {
    int one = run(argv[1], argv[i]);
    if (one > status) status = one;
  }
  return status;
}
