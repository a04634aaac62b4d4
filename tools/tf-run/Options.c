/* argp's tables and the parsing of values. Tolerances written behind an --expect belong to it, those before the first
 * one are the default of all. */
#include "Options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef TF_VERSION
#error "the build defines TF_VERSION"
#endif

enum {
  KEY_DEVICE = 0x100,
  KEY_ENTRY,
  KEY_KERNEL,
  KEY_GRID,
  KEY_BLOCK,
  KEY_CLUSTER,
  KEY_SMEM,
  KEY_COOPERATIVE,
  KEY_MCPU,
  KEY_DIM,
  KEY_ARG,
  KEY_TYPE,
  KEY_OUT,
  KEY_PRINT,
  KEY_EXPECT,
  KEY_RTOL,
  KEY_ATOL,
  KEY_RAW,
  KEY_CHECK,
  KEY_COUNTERS,
  KEY_REPEAT,
  KEY_SEED,
  KEY_ADVERSARIAL,
  KEY_BUDGET,
  KEY_MANIFEST
};

static const struct argp_option options[] = {
    {"device", KEY_DEVICE, "DEVICE", 0,
     "auto (default: a CUDA device if there is one, else the simulated one), cuda[:N], sim[:sm_90]", 1},
    {"mcpu", KEY_MCPU, "sm_N", 0, "Target of a .tir (also written -mcpu=sm_N); default: the file's", 1},
    {NULL, 'm', "cpu=sm_N", OPTION_HIDDEN, NULL, 1},
    {"define", 'D', "NAME=VALUE", 0, "Override a module-level static number of a .tir", 1},
    {"manifest", KEY_MANIFEST, "FILE.json", 0, "Manifest of a .ptx, as tf-llc --emit=manifest writes it", 1},
    {"entry", KEY_ENTRY, "NAME", 0, "Host function to call; default: the module's entry", 2},
    {"kernel", KEY_KERNEL, "NAME", 0, "Launch this kernel directly", 2},
    {"grid", KEY_GRID, "X[,Y,Z]", 0, "Grid of --kernel, in CTAs", 2},
    {"block", KEY_BLOCK, "X[,Y,Z]", 0, "Block of --kernel, in threads", 2},
    {"cluster", KEY_CLUSTER, "X[,Y,Z]", 0, "Cluster of --kernel, in CTAs", 2},
    {"smem", KEY_SMEM, "BYTES", 0, "Dynamic shared memory of --kernel", 2},
    {"cooperative", KEY_COOPERATIVE, NULL, 0, "Launch --kernel cooperatively", 2},
    {"arg", KEY_ARG, "NAME=VALUE", 0,
     "Argument: @FILE.npy, a number, zeros, fill:V or random:SEED. For a .ptx without manifest NAME may be the "
     "parameter's number. Parameters without --arg are allocated and poisoned",
     3},
    {"dim", KEY_DIM, "NAME=N", 0, "Value of a DimVar that no array gives", 3},
    {"type", KEY_TYPE, "NAME=DTYPE[N,N]", 0,
     "Element type and shape of a pointer parameter of a .ptx, where no array gives them; e.g. out=f32[37,512]", 3},
    {"out", KEY_OUT, "NAME=FILE.npy", 0, "Write a parameter's array after the run", 4},
    {"print", KEY_PRINT, "NAME", 0, "Print a parameter's array after the run", 4},
    {"raw", KEY_RAW, NULL, 0, "--out writes bf16, fp8 and tf32 as unsigned bits, not as float32", 4},
    {"expect", KEY_EXPECT, "NAME=@REF.npy", 0, "Compare a parameter's array with a reference after the run", 5},
    {"rtol", KEY_RTOL, "R", 0, "Relative tolerance of the --expect before it, or of all (default 1e-5)", 5},
    {"atol", KEY_ATOL, "A", 0, "Absolute tolerance of the --expect before it, or of all (default 1e-8)", 5},
    {"check", KEY_CHECK, "LIST", 0,
     "Checkers of the simulated device: none (default), all, or a list of mem, init, race, sync, hang", 6},
    {"adversarial", KEY_ADVERSARIAL, NULL, 0,
     "The simulated device is as unkind as the ISA allows: late copies, noise in fresh memory, perturbed approximations", 6},
    {"counters", KEY_COUNTERS, "json", OPTION_ARG_OPTIONAL, "Print the simulated device's counters", 6},
    {"seed", KEY_SEED, "N", 0, "Shuffle the order of lanes, warps and CTAs on the simulated device", 6},
    {"budget", KEY_BUDGET, "N", 0, "Stop a launch on the simulated device after N warp instructions", 6},
    {"repeat", KEY_REPEAT, "N", 0, "Run N times and print the times; arguments are not reset in between", 6},
    {0},
};

static const char documentation[] =
    "Run an entry of FILE.tir, or a kernel of FILE.ptx, on NumPy arrays: on a CUDA device if there is one, else on the "
    "simulated device. '-' reads the program from standard input.\v"
    "Exit status: 0 all went well, 1 the input is at fault, the run failed or a result is out of tolerance, 2 wrong "
    "usage.\n\n"
    "bf16, fp8 and tf32 travel as float32 arrays, rounded on the way in and exact on the way out; uint16 or uint8 "
    "(tf32: uint32) arrays are taken as bits.";

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static unsigned long long number(struct argp_state *state, const char *what, const char *text,
                                 unsigned long long most) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 0);
  if (end == text || *end || errno || *text == '-' || value > most)
    argp_error(state, "%s: '%s' is no number from 0 to %llu", what, text, most);
  return value;
}

static double tolerance(struct argp_state *state, const char *what, const char *text) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !(value >= 0)) argp_error(state, "%s: '%s' is no tolerance", what, text);
  return value;
}

/* X[,Y[,Z]], padded with 1. */
static void extents(struct argp_state *state, const char *what, char *text, unsigned out[3]) {
  char *rest = text;
  unsigned count = 0;
  for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
    if (count == 3) argp_error(state, "%s: more than three extents", what);
    out[count++] = (unsigned)number(state, what, item, UINT32_MAX);
  }
  while (count < 3)
    out[count++] = 1;
}

static void pair(struct argp_state *state, const char *what, char *text, tf_run_list *list) {
  char *equals = strchr(text, '=');
  if (!equals || equals == text) argp_error(state, "%s: '%s' is not of the form NAME=VALUE", what, text);
  if (list->count == TF_RUN_MAX_LIST) argp_error(state, "%s: given more than %d times", what, TF_RUN_MAX_LIST);
  *equals = '\0';
  list->items[list->count++] = (tf_run_pair){text, equals + 1};
}

static void name_only(struct argp_state *state, const char *what, char *text, tf_run_list *list) {
  if (list->count == TF_RUN_MAX_LIST) argp_error(state, "%s: given more than %d times", what, TF_RUN_MAX_LIST);
  list->items[list->count++] = (tf_run_pair){text, NULL};
}

static void expect(struct argp_state *state, char *text, tf_run_options *o) {
  pair(state, "--expect", text, &o->expects);
  if (o->expects.items[o->expects.count - 1].value[0] != '@')
    argp_error(state, "--expect: the reference is a file: NAME=@REF.npy");
  o->expect_tolerance[o->expects.count - 1] = o->tolerance;
}

static tf_run_tolerance *current_tolerance(tf_run_options *o) {
  return o->expects.count ? &o->expect_tolerance[o->expects.count - 1] : &o->tolerance;
}

/* ---- argp -------------------------------------------------------------------------------------------------------- */

static error_t parse_launch(int key, char *arg, struct argp_state *state, tf_run_options *o) {
  switch (key) {
  case KEY_ENTRY:
    o->entry = arg;
    return 0;
  case KEY_KERNEL:
    o->kernel = arg;
    return 0;
  case KEY_GRID:
    extents(state, "--grid", arg, o->grid);
    return 0;
  case KEY_BLOCK:
    extents(state, "--block", arg, o->block);
    return 0;
  case KEY_CLUSTER:
    extents(state, "--cluster", arg, o->cluster);
    return 0;
  case KEY_SMEM:
    o->smem = (size_t)number(state, "--smem", arg, UINT32_MAX);
    return 0;
  case KEY_COOPERATIVE:
    o->cooperative = true;
    return 0;
  case KEY_DIM:
    pair(state, "--dim", arg, &o->dims);
    return 0;
  case KEY_ARG:
    pair(state, "--arg", arg, &o->args);
    return 0;
  case KEY_TYPE:
    pair(state, "--type", arg, &o->types);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_results(int key, char *arg, struct argp_state *state, tf_run_options *o) {
  switch (key) {
  case KEY_OUT:
    pair(state, "--out", arg, &o->outs);
    return 0;
  case KEY_PRINT:
    name_only(state, "--print", arg, &o->prints);
    return 0;
  case KEY_EXPECT:
    expect(state, arg, o);
    return 0;
  case KEY_RTOL:
    current_tolerance(o)->rtol = tolerance(state, "--rtol", arg);
    return 0;
  case KEY_ATOL:
    current_tolerance(o)->atol = tolerance(state, "--atol", arg);
    return 0;
  case KEY_RAW:
    o->raw = true;
    return 0;
  case KEY_CHECK:
    o->checks = arg;
    return 0;
  case KEY_ADVERSARIAL:
    o->adversarial = true;
    return 0;
  case KEY_SEED:
    o->seed = number(state, "--seed", arg, UINT64_MAX);
    return 0;
  case KEY_BUDGET:
    o->budget = number(state, "--budget", arg, UINT64_MAX);
    return 0;
  case KEY_REPEAT:
    o->repeat = (unsigned)number(state, "--repeat", arg, 1000000000);
    return 0;
  case KEY_COUNTERS:
    if (arg && strcmp(arg, "json") != 0) argp_error(state, "--counters: '%s' is no format; there is json", arg);
    o->counters = true;
    o->counters_json = arg != NULL;
    return 0;
  default:
    return parse_launch(key, arg, state, o);
  }
}

/* sm_N, with a suffix or without; whether there is such a target is the compiler's knowledge. */
static void target(struct argp_state *state, const char *text, tf_run_options *o) {
  size_t digits = strncmp(text, "sm_", 3) == 0 ? strspn(text + 3, "0123456789") : 0;
  const char *suffix = digits ? text + 3 + digits : "?";
  if (*suffix && strcmp(suffix, "a") != 0 && strcmp(suffix, "f") != 0)
    argp_error(state, "-mcpu: '%s' is no target such as sm_80 or sm_90a", text);
  o->target = text;
}

static void check_usage(struct argp_state *state, const tf_run_options *o) {
  if (!o->file) argp_usage(state);
  if (o->entry && o->kernel) argp_error(state, "--entry and --kernel exclude each other");
  bool launch = o->grid[0] || o->grid[1] || o->grid[2] || o->block[0] || o->block[1] || o->block[2] || o->cluster[0] ||
                o->smem || o->cooperative;
  if (launch && !o->kernel) argp_error(state, "--grid, --block, --cluster, --smem and --cooperative go with --kernel");
  if (o->repeat == 0) argp_error(state, "--repeat: at least once");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  tf_run_options *o = state->input;
  switch (key) {
  case KEY_DEVICE:
    o->device = arg;
    return 0;
  case KEY_MCPU:
    target(state, arg, o);
    return 0;
  case KEY_MANIFEST:
    o->manifest = arg;
    return 0;
  case 'D':
    pair(state, "-D", arg, &o->defines);
    return 0;
  case 'm':
    if (strncmp(arg, "cpu=", 4) != 0) argp_error(state, "-m%s: write -mcpu=sm_N", arg);
    target(state, arg + 4, o);
    return 0;
  case ARGP_KEY_ARG:
    if (o->file) argp_error(state, "one FILE only, '%s' is a second", arg);
    o->file = arg;
    return 0;
  case ARGP_KEY_END:
    check_usage(state, o);
    return 0;
  default:
    return parse_results(key, arg, state, o);
  }
}

/* argp looks for this symbol; the build hides symbols unless told otherwise. */
__attribute__((visibility("default"))) const char *argp_program_version = "tf-run (TileFoundry) " TF_VERSION;

void tf_run_options_parse(int argc, char **argv, tf_run_options *out) {
  static const struct argp argp = {options, parse, "FILE.tir|FILE.ptx|-", documentation, NULL, NULL, NULL};
  memset(out, 0, sizeof *out);
  out->device = "auto";
  out->checks = "none";
  out->repeat = 1;
  out->tolerance = (tf_run_tolerance){.rtol = 1e-5, .atol = 1e-8};
  argp_err_exit_status = 2;
  argp_parse(&argp, argc, argv, 0, NULL, out);
}
