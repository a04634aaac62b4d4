/* Targets: rows of Targets.def. A target is the address of its row, so equal targets are equal pointers in every
 * context. */
#include "IR/Target.h"

#include <string.h>

struct tf_target {
  const char *name;
  unsigned sm;
  char suffix;
  unsigned min_ptx;
  int64_t smem_limit;
};

typedef struct target_alias {
  const char *name, *target;
} target_alias;

static const tf_target cpu_target = {"cpu", 0, 0, 0, 0};

static const tf_target rows[] = {
#define TF_TARGET(NAME, SM, SUFFIX, PTX, SMEM) {NAME, SM, SUFFIX, PTX, SMEM},
#include <tilefoundry/Targets.def>
};

static const target_alias aliases[] = {
#define TF_TARGET_ALIAS(NAME, TARGET) {NAME, TARGET},
#include <tilefoundry/Targets.def>
};

#define ROWS    (sizeof rows / sizeof *rows)
#define ALIASES (sizeof aliases / sizeof *aliases)

static const tf_target *find_row(const char *name) {
  for (size_t i = 0; i < ROWS; i++)
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  return NULL;
}

const tf_target *tf_target_get(tf_context *context, const char *name) {
  (void)context;
  if (!name) return NULL;
  if (strcmp(name, cpu_target.name) == 0) return &cpu_target;
  for (size_t i = 0; i < ALIASES; i++)
    if (strcmp(aliases[i].name, name) == 0) return find_row(aliases[i].target);
  return find_row(name);
}

const char *tf_target_known_name(unsigned index) {
  if (index < ROWS) return rows[index].name;
  return index - ROWS < ALIASES ? aliases[index - ROWS].name : NULL;
}

bool tf_ptx_version_is_known(unsigned version) {
  static const unsigned versions[] = {
#define TF_PTX_VERSION(VERSION) VERSION,
#include <tilefoundry/Targets.def>
  };
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
    if (versions[i] == version) return true;
  return false;
}

const tf_target *tf_target_default(void) {
  return find_row("sm_80");
}

bool tf_target_is_cpu(const tf_target *target) {
  return target == &cpu_target;
}

const char *tf_target_name(const tf_target *target) {
  return target ? target->name : NULL;
}

unsigned tf_target_sm(const tf_target *target) {
  return target ? target->sm : 0;
}

char tf_target_suffix(const tf_target *target) {
  return target ? target->suffix : 0;
}

unsigned tf_target_min_ptx(const tf_target *target) {
  return target ? target->min_ptx : 0;
}

int64_t tf_target_smem_limit(const tf_target *target) {
  return target ? target->smem_limit : 0;
}
