#include "Source.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_stream(FILE *file, size_t *size) {
  size_t used = 0, room = 1 << 16;
  char *text = malloc(room);
  while (text) {
    used += fread(text + used, 1, room - used - 1, file);
    if (used < room - 1) break;
    char *grown = realloc(text, room *= 2);
    if (!grown) free(text);
    text = grown;
  }
  if (!text || ferror(file)) {
    free(text);
    return NULL;
  }
  text[used] = '\0';
  *size = used;
  return text;
}

char *tf_run_read_file(const char *path, size_t *size) {
  bool standard = strcmp(path, "-") == 0;
  errno = 0;
  FILE *file = standard ? stdin : fopen(path, "rb");
  char *text = file ? read_stream(file, size) : NULL;
  if (!text)
    fprintf(stderr, "%s: error: cannot be read: %s\n", standard ? "<stdin>" : path, strerror(errno ? errno : ENOMEM));
  if (file && !standard) fclose(file);
  return text;
}

/* ---- PTX text ---------------------------------------------------------------------------------------------------- */

/* The next token after white space and comments: an identifier with dots, or one character. Returns its end; *start is
 * its beginning, at the end of the text both are the terminating NUL. */
static const char *next_token(const char *at, const char **start) {
  for (;;) {
    while (isspace((unsigned char)*at))
      at++;
    if (at[0] == '/' && at[1] == '/') {
      at += strcspn(at, "\n");
    } else if (at[0] == '/' && at[1] == '*') {
      const char *close = strstr(at + 2, "*/");
      at = close ? close + 2 : at + strlen(at);
    } else {
      break;
    }
  }
  *start = at;
  if (!*at) return at;
  const char *end = at;
  while (isalnum((unsigned char)*end) || (*end && strchr("_.$%", *end)))
    end++;
  return end == at ? at + 1 : end;
}

static bool token_is(const char *start, const char *end, const char *text) {
  return (size_t)(end - start) == strlen(text) && memcmp(start, text, strlen(text)) == 0;
}

static void copy_token(const char *start, const char *end, char *out, size_t size) {
  snprintf(out, size, "%.*s", (int)(end - start), start);
}

/* `.param .u64 .ptr .global .align 16 name` or `.param .align 8 .b8 name[24]`, behind the `.param`. */
static const char *parse_param(const char *at, tf_run_ptx_param *out) {
  static const char *const types[] = {"u8", "u16", "u32", "u64", "s8",  "s16", "s32", "s64",
                                      "b8", "b16", "b32", "b64", "f16", "f32", "f64", "pred"};
  *out = (tf_run_ptx_param){.count = 1};
  const char *start, *end = next_token(at, &start);
  for (; *start && *start != ',' && *start != ')'; at = end, end = next_token(at, &start)) {
    char text[128];
    copy_token(start, end, text, sizeof text);
    for (unsigned i = 0; text[0] == '.' && i < sizeof types / sizeof types[0]; i++)
      if (strcmp(text + 1, types[i]) == 0) snprintf(out->type, sizeof out->type, "%s", types[i]);
    if (text[0] == '[') out->count = strtoul(end, NULL, 0);
    if (isalpha((unsigned char)text[0]) || strchr("_$%", text[0])) snprintf(out->name, sizeof out->name, "%s", text);
  }
  return at;
}

static int parse_params(const char *at, tf_run_ptx_param *out, int most) {
  int count = 0;
  const char *start, *end = next_token(at, &start);
  if (!token_is(start, end, "(")) return 0;
  while (*start && !token_is(start, end, ")")) {
    if (token_is(start, end, ".param")) {
      tf_run_ptx_param param;
      end = parse_param(end, &param);
      if (count < most) out[count] = param;
      count++;
    }
    end = next_token(end, &start);
  }
  return count;
}

int tf_run_ptx_params(const char *ptx, const char *name, char *found, tf_run_ptx_param *out, int most) {
  const char *start, *end = next_token(ptx, &start);
  while (*start) {
    bool entry = token_is(start, end, ".entry");
    end = next_token(end, &start);
    if (!entry || (name && !token_is(start, end, name))) continue;
    if (found) copy_token(start, end, found, 128);
    return parse_params(end, out, most);
  }
  return -1;
}

/* The operand of the first `.target`. */
static void find_target(const char *ptx, char *out, size_t size) {
  const char *start, *end = next_token(ptx, &start);
  *out = '\0';
  while (*start && !*out) {
    bool target = token_is(start, end, ".target");
    end = next_token(end, &start);
    if (target) copy_token(start, end, out, size);
  }
}

/* PTX begins with .version; TIR cannot. */
static bool looks_like_ptx(const char *text) {
  const char *start, *end = next_token(text, &start);
  return token_is(start, end, ".version");
}

static bool ends_with(const char *text, const char *tail) {
  size_t n = strlen(text), m = strlen(tail);
  return n >= m && strcmp(text + n - m, tail) == 0;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static bool load_ptx(const tf_run_options *options, tf_run_source *source, char *text, size_t size) {
  source->ptx = source->texts[0] = text;
  source->ptx_size = size;
  size_t manifest_size;
  if (options->manifest) source->manifest = source->texts[1] = tf_run_read_file(options->manifest, &manifest_size);
  return !options->manifest || source->manifest;
}

static bool load_tir(const tf_run_options *options, tf_run_source *source, char *text, size_t size) {
#if TF_RUN_COMPILER
  bool done = tf_run_compile(options, text, size, source);
#else
  bool done = false;
  (void)options, (void)size;
  fprintf(stderr, "%s: error: this tf-run was built without the compiler and runs .ptx only\n", source->name);
#endif
  free(text);
  return done;
}

bool tf_run_source_load(const tf_run_options *options, tf_run_source *out) {
  tf_run_source source = {.name = strcmp(options->file, "-") == 0 ? "<stdin>" : options->file};
  size_t size;
  char *text = tf_run_read_file(options->file, &size);
  if (!text) return false;
  bool ptx = ends_with(options->file, ".ptx") || (!ends_with(options->file, ".tir") && looks_like_ptx(text));
  if (!ptx && options->manifest) fprintf(stderr, "tf-run: note: --manifest is for a .ptx; a .tir brings its own\n");
  bool done = ptx ? load_ptx(options, &source, text, size) : load_tir(options, &source, text, size);
  if (done) find_target(source.ptx, source.target, sizeof source.target);
  if (done)
    *out = source;
  else
    tf_run_source_free(&source);
  return done;
}

void tf_run_source_free(tf_run_source *source) {
#if TF_RUN_COMPILER
  tf_run_free_executable(source);
#endif
  free(source->texts[0]);
  free(source->texts[1]);
  memset(source, 0, sizeof *source);
}
