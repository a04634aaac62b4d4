#include "Options.h"

#include <argp.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* argp looks for this symbol; the build hides symbols unless told otherwise. */
__attribute__((visibility("default"))) const char *argp_program_version = "tf-llc (TileFoundry) " TF_VERSION;

enum {
  KEY_EMIT = 256,
  KEY_CPU,
  KEY_PTX_VERSION,
  KEY_ENTRY,
  KEY_PREFIX,
  KEY_NO_CUBIN,
  KEY_VERIFY_ONLY,
  KEY_VERIFY_DIAGNOSTICS,
  KEY_SPLIT,
  KEY_PRINT_AFTER,
  KEY_PRINT_OPS,
  KEY_TIME
};

static const struct argp_option table[] = {
    {"emit", KEY_EMIT, "KIND", 0, "tir, llvm, ptx (the default), cubin, manifest, obj or header", 1},
    {NULL, 'o', "FILE", 0, "write to FILE; - is stdout, the default", 1},
    {NULL, 'm', "cpu=NAME", 0, "target, as sm_80 or nvidia.h200_sxm; overrides the source's", 1},
    {"ptx-version", KEY_PTX_VERSION, "X.Y", 0, "least version of the PTX ISA", 1},
    {"entry", KEY_ENTRY, "NAME", 0, "the module's entry, if it names none", 1},
    {"prefix", KEY_PREFIX, "TEXT", 0, "in front of the names of functions in objects and headers", 1},
    {"no-cubin", KEY_NO_CUBIN, NULL, 0, "objects carry the kernels as PTX only", 1},
    {NULL, 'D', "NAME=VALUE", 0, "override a static number of the module", 1},
    {NULL, 'O', "LEVEL", 0, "LLVM's pipeline: 0, 1, 2 or 3 (the default)", 1},
    {NULL, 'g', NULL, 0, "lines of the source in the PTX", 1},
    {NULL, 'f', "FLAG", 0,
     "fp-contract=off|fast, denormal=ieee|ftz, fast-math, check=div,bounds, host-abort=error|trap, launch=any|linear",
     1},
    {"verify-only", KEY_VERIFY_ONLY, NULL, 0, "parse and verify, write nothing", 2},
    {"verify-diagnostics", KEY_VERIFY_DIAGNOSTICS, NULL, 0,
     "compare the diagnostics with the source's `# expected-error {{...}}` comments (also -warning, -remark, -note; "
     "@+1, @-1)",
     2},
    {"split-input-file", KEY_SPLIT, NULL, 0, "treat the parts between lines `# -----` as files of their own", 2},
    {"print-after", KEY_PRINT_AFTER, "PASS", 0,
     "show the output of parse, lower, optimize, emit, host or all on stderr", 2},
    {"print-ops", KEY_PRINT_OPS, "FORM", 0, "describe all ops and end: list or markdown", 2},
    {"time-passes", KEY_TIME, NULL, 0, "show the time of each pass on stderr", 2},
    {0}};

/* ---- Names ---- */
/* "a, b or c" of the names up to the null. */
static void list_names(const char *const *names, char *out, size_t size) {
  size_t used = 0;
  *out = 0;
  for (size_t i = 0; names[i] && used < size; i++) {
    const char *before = i == 0 ? "" : names[i + 1] ? ", " : " or ";
    used += (size_t)snprintf(out + used, size - used, "%s%s", before, names[i]);
  }
}

/* The number of the name among those up to the null; one of them, or the end of the program. */
static unsigned choose(struct argp_state *state, const char *option, const char *arg, const char *const *names) {
  char list[1024];
  for (unsigned i = 0; names[i]; i++)
    if (strcmp(arg, names[i]) == 0) return i;
  list_names(names, list, sizeof list);
  argp_error(state, "%s%s: expected %s", option, arg, list);
  return 0;
}

static void set_emit(struct argp_state *state, llc_options *options, const char *arg) {
  static const char *const names[] = {"tir", "llvm", "ptx", "cubin", "manifest", "obj", "header", NULL};
  options->emit = (llc_emit)choose(state, "--emit=", arg, names);
}

static void set_print_after(struct argp_state *state, llc_options *options, const char *arg) {
  static const struct {
    const char *name;
    bool shows;
  } passes[] = {
#define TF_PASS(ENUM, NAME, OWN, SHOWS) {NAME, SHOWS},
#include <tilefoundry/Passes.def>
  };
  const char *names[sizeof passes / sizeof *passes + 2];
  unsigned count = 0;
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    if (passes[i].shows) names[count++] = passes[i].name;
  names[count++] = "all";
  names[count] = NULL;
  choose(state, "--print-after=", arg, names);
  options->lower.print_after = arg;
}

static void set_ptx_version(struct argp_state *state, llc_options *options, const char *arg) {
  static const unsigned versions[] = {
#define TF_PTX_VERSION(VERSION) VERSION,
#include <tilefoundry/Targets.def>
  };
  enum { COUNT = sizeof versions / sizeof *versions };
  char texts[COUNT][8];
  const char *names[COUNT + 1] = {NULL};
  for (unsigned i = 0; i < COUNT; i++) {
    snprintf(texts[i], sizeof texts[i], "%u.%u", versions[i] / 10 % 10, versions[i] % 10);
    names[i] = texts[i];
  }
  options->lower.ptx_version = versions[choose(state, "--ptx-version=", arg, names)];
}

/* Names of targets are looked up where there is a context; these are for the message. */
static void set_cpu(struct argp_state *state, llc_options *options, const char *arg) {
  static const char *const names[] = {
#define TF_TARGET(NAME, SM, SUFFIX, PTX, SMEM) NAME,
#define TF_TARGET_ALIAS(NAME, TARGET)          NAME,
#include <tilefoundry/Targets.def>
      NULL};
  if (strncmp(arg, "cpu=", 4) != 0) argp_error(state, "unknown option -m%s; did you mean -mcpu=sm_80?", arg);
  choose(state, "-mcpu=", arg + 4, names);
  options->cpu = arg + 4;
}

static void add_define(struct argp_state *state, llc_options *options, const char *arg) {
  const char *equals = strchr(arg, '=');
  if (!equals || equals == arg) argp_error(state, "-D %s: expected NAME=VALUE", arg);
  if (options->define_count == options->define_capacity) {
    options->define_capacity = 2 * options->define_capacity + 4;
    options->defines = realloc(options->defines, options->define_capacity * sizeof *options->defines);
    if (!options->defines) argp_failure(state, 2, 0, "out of memory");
  }
  options->defines[options->define_count++] =
      (tf_define){.name = strndup(arg, (size_t)(equals - arg)), .value = equals + 1};
}

/* ---- Flags ---- */
static void set_checks(struct argp_state *state, llc_options *options, const char *list) {
  static const char *const names[] = {"div", "bounds", NULL};
  char *copy = strdup(list), *rest = copy;
  if (!copy) argp_failure(state, 2, 0, "out of memory");
  for (const char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
    bool *const switches[] = {&options->lower.check_div, &options->lower.check_bounds};
    *switches[choose(state, "-fcheck=", name, names)] = true;
  }
  free(copy);
}

static void set_flag(struct argp_state *state, llc_options *options, const char *arg) {
  static const char *const names[] = {"fp-contract=off",
                                      "fp-contract=fast",
                                      "denormal=ieee",
                                      "denormal=ftz",
                                      "host-abort=error",
                                      "host-abort=trap",
                                      "launch=any",
                                      "launch=linear",
                                      "fast-math",
                                      "check=div,bounds",
                                      NULL};
  tf_lower_options *lower = &options->lower;
  if (strncmp(arg, "check=", 6) == 0) {
    set_checks(state, options, arg + 6);
    return;
  }
  bool *const switches[] = {&lower->contract, &lower->flush_denormals, &lower->host_abort_traps,
                            &lower->linear_launches};
  unsigned which = choose(state, "-f", arg, names);
  if (which < 2 * sizeof switches / sizeof *switches)
    *switches[which / 2] = which % 2;
  else
    lower->fast_math = true;
}

static void set_prefix(struct argp_state *state, llc_options *options, const char *arg) {
  bool plain = !isdigit((unsigned char)*arg);
  for (const char *at = arg; *at && plain; at++)
    plain = isalnum((unsigned char)*at) || *at == '_';
  if (!plain) argp_error(state, "--prefix=%s: expected letters, digits and underscores, no digit first", arg);
  options->prefix = arg;
}

static void set_level(struct argp_state *state, llc_options *options, const char *arg) {
  if (strlen(arg) != 1 || *arg < '0' || *arg > '3') argp_error(state, "-O%s: expected 0, 1, 2 or 3", arg);
  options->lower.opt_level = (unsigned)(*arg - '0');
}

static void set_print_ops(struct argp_state *state, llc_options *options, const char *arg) {
  static const char *const names[] = {"list", "markdown", NULL};
  choose(state, "--print-ops=", arg, names);
  options->print_ops = arg;
}

static error_t parse_mode(int key, char *arg, struct argp_state *state, llc_options *options) {
  switch (key) {
  case KEY_VERIFY_ONLY:
    options->verify_only = true;
    return 0;
  case KEY_VERIFY_DIAGNOSTICS:
    options->verify_diagnostics = true;
    return 0;
  case KEY_SPLIT:
    options->split_input = true;
    return 0;
  case KEY_PRINT_AFTER:
    set_print_after(state, options, arg);
    return 0;
  case KEY_PRINT_OPS:
    set_print_ops(state, options, arg);
    return 0;
  case KEY_TIME:
    options->times.wanted = true;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_object(int key, char *arg, struct argp_state *state, llc_options *options) {
  switch (key) {
  case KEY_PREFIX:
    set_prefix(state, options, arg);
    return 0;
  case KEY_NO_CUBIN:
    options->no_cubin = true;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_file(int key, char *arg, struct argp_state *state, llc_options *options) {
  if (key == ARGP_KEY_ARG) {
    if (options->input) argp_error(state, "one input file, please: '%s' and '%s'", options->input, arg);
    options->input = arg;
    return 0;
  }
  if (key != ARGP_KEY_END) return ARGP_ERR_UNKNOWN;
  if (!options->input && !options->print_ops) argp_error(state, "no input file; - reads stdin");
  if (options->lower.entry && (options->emit == LLC_EMIT_TIR || options->verify_only))
    argp_error(state, "--entry=%s: nothing but llvm, ptx, cubin and manifest has an entry", options->lower.entry);
  return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  llc_options *options = state->input;
  switch (key) {
  case KEY_EMIT:
    set_emit(state, options, arg);
    return 0;
  case 'o':
    options->output = arg;
    return 0;
  case 'm':
    set_cpu(state, options, arg);
    return 0;
  case KEY_PTX_VERSION:
    set_ptx_version(state, options, arg);
    return 0;
  case KEY_ENTRY:
    options->lower.entry = arg;
    return 0;
  case 'D':
    add_define(state, options, arg);
    return 0;
  case 'O':
    set_level(state, options, arg);
    return 0;
  case 'g':
    options->lower.debug_lines = true;
    return 0;
  case 'f':
    set_flag(state, options, arg);
    return 0;
  default:
    if (parse_mode(key, arg, state, options) == 0 || parse_object(key, arg, state, options) == 0) return 0;
    return parse_file(key, arg, state, options);
  }
}

void llc_options_parse(int argc, char **argv, llc_options *out) {
  static const char doc[] = "Compiles TileFoundry's tile IR (.tir) to PTX, objects and more.\v"
                            "Exit status: 0 fine, 1 the input is at fault, 2 the command line is.";
  static const struct argp argp = {table, parse_option, "FILE.tir|-", doc, NULL, NULL, NULL};
  *out = (llc_options){.emit = LLC_EMIT_PTX, .lower = TF_LOWER_OPTIONS_INIT};
  argp_err_exit_status = 2;
  argp_parse(&argp, argc, argv, 0, NULL, out);
}

void llc_options_release(llc_options *options) {
  for (size_t i = 0; i < options->define_count; i++)
    free((char *)(uintptr_t)options->defines[i].name);
  free(options->defines);
}
