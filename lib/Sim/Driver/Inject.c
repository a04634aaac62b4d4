/* Calls that are made to fail, for testing hosts.
 *
 * A list of rules, separated by commas:      [NAME:]N[+][=CODE]
 *
 *   17                                         the 17th call fails with CUDA_ERROR_UNKNOWN
 *   cuMemAlloc:2=CUDA_ERROR_OUT_OF_MEMORY      the second allocation does, with this error; numbers are fine, too
 *   cuLaunchKernel:1+=719                      all launches fail
 *
 * A call that fails so has no other effect, except that an error which ends a context ends the current one. Names are those
 * that programs write or those of symbols. Calls are counted from 1 on, from the opening of the table or from when rules
 * were last set; those that only tell names and texts of errors count and fail by name only. */
#include "Sim/Driver/State.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[][2] = {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) {#member, #symbol},
#include "Runtime/DriverAPI.def"
};

static bool tells_only(tf_sim_call call) {
  return call == TF_SIM_CALL_cuGetErrorName || call == TF_SIM_CALL_cuGetErrorString;
}

static int find_call(const char *name, size_t length) {
  for (int i = 0; i < TF_SIM_CALL_COUNT; i++)
    for (int k = 0; k < 2; k++)
      if (strlen(names[i][k]) == length && strncmp(names[i][k], name, length) == 0) return i;
  return -1;
}

CUresult tf_sim_inject(tf_sim_call call) {
  tf_sim_state *s = tf_sim_now();
  unsigned long long by_name = __atomic_add_fetch(&s->calls[call], 1, __ATOMIC_RELAXED), any = 0;
  if (!tells_only(call)) any = __atomic_add_fetch(&s->calls[TF_SIM_CALL_COUNT], 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < s->rule_count; i++) {
    const tf_sim_rule *rule = &s->rules[i];
    unsigned long long n = rule->call < 0 ? any : rule->call == (int)call ? by_name : 0;
    if (n != rule->n && !(rule->onward && n > rule->n)) continue;
    CUcontext c = tf_sim_context();
    if (c && tf_cuda_is_device_fault(rule->result)) c->sticky = rule->result;
    return rule->result;
  }
  return CUDA_SUCCESS;
}

/* One rule; where the text is at fault, or null. */
static const char *parse(const char *text, size_t length, tf_sim_rule *out) {
  char rule[128], *end;
  if (length >= sizeof rule) return "a rule is [NAME:]N[+][=CODE]";
  memcpy(rule, text, length);
  rule[length] = '\0';
  *out = (tf_sim_rule){.call = -1, .result = CUDA_ERROR_UNKNOWN};
  char *equals = strchr(rule, '='), *colon = strchr(rule, ':');
  if (equals) *equals = '\0';
  if (equals && !tf_sim_result_of(equals + 1, &out->result)) return "no such error";
  if (out->result == CUDA_SUCCESS) return "a call that succeeds is no failure";
  if (colon && (out->call = find_call(rule, (size_t)(colon - rule))) < 0) return "the driver has no such function";
  char *number = colon ? colon + 1 : rule;
  out->n = strtoull(number, &end, 10);
  out->onward = end != number && *end == '+';
  if (*number < '1' || *number > '9' || end[out->onward]) return "the number of a call is 1 or more";
  return NULL;
}

tf_status tf_sim_driver_fail_calls(const tf_driver *driver, const char *rules, char *message, size_t message_size) {
  tf_sim_state *s = driver->state;
  tf_sim_rule list[TF_SIM_RULES];
  unsigned count = 0;
  for (const char *at = rules; at && *at;) {
    size_t length = strcspn(at, ",");
    const char *fault = count == TF_SIM_RULES ? "too many rules" : parse(at, length, &list[count++]);
    if (fault) {
      if (message && message_size) (void)snprintf(message, message_size, "'%.*s': %s", (int)length, at, fault);
      return TF_INVALID_ARGUMENT;
    }
    at += length + (at[length] == ',');
  }
  memcpy(s->rules, list, count * sizeof *list);
  s->rule_count = count;
  memset(s->calls, 0, sizeof s->calls);
  return TF_OK;
}

unsigned long long tf_sim_driver_calls(const tf_driver *driver, const char *name) {
  const tf_sim_state *s = driver->state;
  int call = name ? find_call(name, strlen(name)) : TF_SIM_CALL_COUNT;
  return call < 0 ? 0 : __atomic_load_n(&s->calls[call], __ATOMIC_RELAXED);
}
