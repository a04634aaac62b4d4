/* The key, part by part. */
#include "LowerToLLVM/Key.h"

#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "IR/Fingerprint.h"
#include "LowerToLLVM/BuildId.h"

#ifndef TF_VERSION
#error "the build defines TF_VERSION"
#endif

/* Of the payload in Executable.c, and of this text. */
#define LAYOUT 1

/* Every field of tf_lower_options, in its order: NUMBER, TEXT and TARGET go into the key; HOOK does not, it is a callback or what
 * belongs to one. */
#define FIELDS(NUMBER, TEXT, TARGET, HOOK)                                                                             \
  HOOK(size)                                                                                                           \
  TARGET(target)                                                                                                       \
  TEXT(entry)                                                                                                          \
  NUMBER(ptx_version)                                                                                                  \
  NUMBER(opt_level)                                                                                                    \
  NUMBER(debug_lines)                                                                                                  \
  NUMBER(contract)                                                                                                     \
  NUMBER(flush_denormals)                                                                                              \
  NUMBER(fast_math)                                                                                                    \
  NUMBER(check_div)                                                                                                    \
  NUMBER(check_bounds)                                                                                                 \
  NUMBER(host_abort_traps)                                                                                             \
  NUMBER(linear_launches)                                                                                              \
  HOOK(print_after)                                                                                                    \
  HOOK(print)                                                                                                          \
  HOOK(time)                                                                                                           \
  HOOK(user)

/* An initialiser for each: a field that the list lacks is a warning here, and warnings are errors. */
#define ZERO(FIELD) 0,
static const tf_lower_options complete __attribute__((unused)) = {FIELDS(ZERO, ZERO, ZERO, ZERO)};

static void add_text(tf_string *out, const char *name, const char *text) {
  if (text)
    tf_string_printf(out, "%s %zu:%s\n", name, strlen(text), text);
  else
    tf_string_printf(out, "%s -\n", name);
}

static void add_options(tf_string *out, const tf_lower_options *lower, const tf_executable_options *options) {
#define NUMBER(FIELD) tf_string_printf(out, #FIELD " %u\n", (unsigned)lower->FIELD);
#define TEXT(FIELD)   add_text(out, #FIELD, lower->FIELD);
#define TARGET(FIELD) add_text(out, #FIELD, lower->FIELD ? tf_target_name(lower->FIELD) : NULL);
#define HOOK(FIELD)
  FIELDS(NUMBER, TEXT, TARGET, HOOK)
  tf_string_printf(out, "host_code %u\n", (unsigned)options->host_code);
}

/* A function's address as data, which C has no cast for. */
static bool add_build(tf_string *out, const char *name, void (*function)(void)) {
  char id[TF_BUILD_ID_TEXT];
  void *address;
  memcpy(&address, &function, sizeof address);
  if (!tf_build_id(address, id)) return false;
  add_text(out, name, id);
  return true;
}

static bool add_builds(tf_string *out) {
  typedef void (*any)(void);
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  tf_string_printf(out, "layout %d\ntilefoundry %s\nllvm %u.%u.%u\n", LAYOUT, TF_VERSION, major, minor, patch);
  return add_build(out, "build", (any)tf_executable_key) && add_build(out, "llvm_build", (any)LLVMGetVersion);
}

bool tf_executable_key(const tf_module *module, const tf_lower_options *lower, const tf_executable_options *options,
                       tf_string *out) {
  if (lower->print_after || !add_builds(out)) return false;
  char *triple = LLVMGetDefaultTargetTriple();
  add_text(out, "host", triple);
  LLVMDisposeMessage(triple);
  add_options(out, lower, options);
  return tf_module_fingerprint(module, out);
}
