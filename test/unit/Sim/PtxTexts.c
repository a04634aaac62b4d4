/* A file per text, named after a hash of it: the same text again is the same file. */
#include "PtxTexts.h"

#include "Sim/Sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tf_status __real_tf_sim_module_load(tf_sim_device *device, const char *text, size_t length, char *message,
                                    size_t message_size, tf_sim_module **out);
tf_status __wrap_tf_sim_module_load(tf_sim_device *device, const char *text, size_t length, char *message,
                                    size_t message_size, tf_sim_module **out);

static void save(const char *text, size_t length, const char *suffix) {
  const char *folder = getenv("TF_SIM_PTX");
  if (!folder) return;
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/%016llx.%s", folder, (unsigned long long)hash, suffix);
  FILE *f = fopen(path, "wb");
  if (!f) return;
  (void)fwrite(text, 1, length, f);
  (void)fclose(f);
}

void ptx_refused(const char *text) {
  save(text, strlen(text), "bad");
}
void ptx_accepted(const char *text) {
  save(text, strlen(text), "ptx");
}

tf_status __wrap_tf_sim_module_load(tf_sim_device *device, const char *text, size_t length, char *message,
                                    size_t message_size, tf_sim_module **out) {
  tf_status status = __real_tf_sim_module_load(device, text, length, message, message_size, out);
  if (status == TF_OK) save(text, length, "ptx");
  return status;
}
