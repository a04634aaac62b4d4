/* Names of statuses. */
#include <tilefoundry/Status.h>

const char *tf_status_name(tf_status status) {
  static const char *const names[] = {
      [TF_OK] = "OK",
      [TF_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
      [TF_PARSE] = "PARSE",
      [TF_VERIFY] = "VERIFY",
      [TF_UNSUPPORTED] = "UNSUPPORTED",
      [TF_OUT_OF_MEMORY] = "OUT_OF_MEMORY",
      [TF_IO] = "IO",
      [TF_DRIVER] = "DRIVER",
      [TF_LAUNCH] = "LAUNCH",
      [TF_TRAP] = "TRAP",
      [TF_CHECKER] = "CHECKER",
  };
  unsigned index = (unsigned)status;
  return index < sizeof names / sizeof *names ? names[index] : "unknown status";
}
