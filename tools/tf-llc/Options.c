#include "Options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

/* argp looks for this symbol; the build hides symbols unless told otherwise. */
__attribute__((visibility("default"))) const char *argp_program_version = "tf-llc (TileFoundry) " TF_VERSION;

enum {
  KEY_EMIT = 256,
  KEY_CPU,
  KEY_PTX_VERSION,
  KEY_ENTRY,
  KEY_VERIFY_ONLY,
  KEY_VERIFY_DIAGNOSTICS,
  KEY_SPLIT,
  KEY_PRINT_AFTER,
  KEY_PRINT_OPS,
  KEY_TIME
};

static const struct argp_option table[] = {
    {"emit", KEY_EMIT, "KIND", 0, "tir, llvm, ptx (the default), cubin or manifest", 1},
    {NULL, 'o', "FILE", 0, "write to FILE; - is stdout, the default", 1},
    {NULL, 'm', "cpu=NAME", 0, "target, as sm_80 or nvidia.h200_sxm; overrides the source's", 1},
    {"ptx-version", KEY_PTX_VERSION, "X.Y", 0, "least version of the PTX ISA", 1},
    {"entry", KEY_ENTRY, "NAME", 0, "the module's entry, if it names none", 1},
    {NULL, 'D', "NAME=VALUE", 0, "override a static number of the module", 1},
    {NULL, 'O', "LEVEL", 0, "LLVM's pipeline: 0, 1, 2 or 3 (the default)", 1},
    {NULL, 'g', NULL, 0, "lines of the source in the PTX", 1},
    {NULL, 'f', "FLAG", 0,
     "fp-contract=off|fast, denormal=ieee|ftz, fast-math, check=div,bounds, host-abort=error|trap", 1},
    {"verify-only", KEY_VERIFY_ONLY, NULL, 0, "parse and verify, write nothing", 2},
    {"verify-diagnostics", KEY_VERIFY_DIAGNOSTICS, NULL, 0,
     "compare the diagnostics with the source's `# expected-error {{...}}` comments (also -warning, -remark, -note; "
     "@+1, @-1)",
     2},
    {"split-input-file", KEY_SPLIT, NULL, 0, "treat the parts between lines `# -----` as files of their own", 2},
    {"print-after", KEY_PRINT_AFTER, "PASS", 0, "show the output of parse, lower, optimize, emit or all on stderr", 2},
    {"print-ops", KEY_PRINT_OPS, "FORM", 0, "describe all ops and end: list or markdown", 2},
    {"time-passes", KEY_TIME, NULL, 0, "show the time of each pass on stderr", 2},
    {0}};

static void set_emit(struct argp_state *state, llc_options *options, const char *arg) {
  static const char *const names[] = {"tir", "llvm", "ptx", "cubin", "manifest"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(arg, names[i]) == 0) {
      options->emit = (llc_emit)i;
      return;
    }
  argp_error(state, "--emit=%s: expected tir, llvm, ptx, cubin or manifest", arg);
}

static void set_ptx_version(struct argp_state *state, llc_options *options, const char *arg) {
  char *end;
  unsigned long major = strtoul(arg, &end, 10), minor = *end == '.' ? strtoul(end + 1, &end, 10) : 0;
  unsigned long version = major * 10 + minor;
  if (*end || end == arg || minor > 9 || version < 60 || version > 90)
    argp_error(state, "--ptx-version=%s: expected a version from 6.0 to 9.0", arg);
  options->lower.ptx_version = (unsigned)version;
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

static void set_checks(struct argp_state *state, llc_options *options, const char *list) {
  while (*list) {
    size_t length = strcspn(list, ",");
    if (strncmp(list, "div", length) == 0 && length == 3)
      options->lower.check_div = true;
    else if (strncmp(list, "bounds", length) == 0 && length == 6)
      options->lower.check_bounds = true;
    else
      argp_error(state, "-fcheck=%s: expected div, bounds, or both with a comma between", list);
    list += length + (list[length] == ',');
  }
}

static void set_flag(struct argp_state *state, llc_options *options, const char *arg) {
  tf_lower_options *lower = &options->lower;
  if (strcmp(arg, "fp-contract=off") == 0 || strcmp(arg, "fp-contract=fast") == 0)
    lower->contract = strcmp(arg, "fp-contract=fast") == 0;
  else if (strcmp(arg, "denormal=ieee") == 0 || strcmp(arg, "denormal=ftz") == 0)
    lower->flush_denormals = strcmp(arg, "denormal=ftz") == 0;
  else if (strcmp(arg, "fast-math") == 0)
    lower->fast_math = true;
  else if (strncmp(arg, "check=", 6) == 0)
    set_checks(state, options, arg + 6);
  else if (strcmp(arg, "host-abort=error") == 0 || strcmp(arg, "host-abort=trap") == 0)
    lower->host_abort_traps = strcmp(arg, "host-abort=trap") == 0;
  else
    argp_error(state, "unknown flag -f%s", arg);
}

static void set_cpu(struct argp_state *state, llc_options *options, const char *arg) {
  if (strncmp(arg, "cpu=", 4) != 0) argp_error(state, "unknown option -m%s; did you mean -mcpu=sm_80?", arg);
  options->cpu = arg + 4;
}

static void set_level(struct argp_state *state, llc_options *options, const char *arg) {
  if (strlen(arg) != 1 || *arg < '0' || *arg > '3') argp_error(state, "-O%s: expected 0, 1, 2 or 3", arg);
  options->lower.opt_level = (unsigned)(*arg - '0');
}

static void set_print_ops(struct argp_state *state, llc_options *options, const char *arg) {
  if (strcmp(arg, "list") != 0 && strcmp(arg, "markdown") != 0)
    argp_error(state, "--print-ops=%s: expected list or markdown", arg);
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
    options->lower.print_after = arg;
    return 0;
  case KEY_PRINT_OPS:
    set_print_ops(state, options, arg);
    return 0;
  case KEY_TIME:
    options->time_passes = true;
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
    return parse_mode(key, arg, state, options) == 0 ? 0 : parse_file(key, arg, state, options);
  }
}

void llc_options_parse(int argc, char **argv, llc_options *out) {
  static const char doc[] = "Compiles TileFoundry's tile IR (.tir) to PTX.\v"
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
