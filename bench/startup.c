/* Start-up of the simulated device alone: a process that opens it, loads the PTX text of argv[1], runs its first kernel once
 * and ends. bench/sim.py measures it. */
#include "Sim/Sim.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  static char text[1 << 20];
  FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!file) return 2;
  size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  tf_sim_device *device;
  tf_sim_module *module;
  tf_sim_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
  if (tf_sim_device_create("sm_80", &(tf_sim_options){0}, &device) != TF_OK) return 1;
  if (tf_sim_module_load(device, text, size, NULL, 0, &module) != TF_OK) return 1;
  if (tf_sim_launch(tf_sim_module_entry(module, 0), &config, NULL, 0, NULL) != TF_OK) return 1;
  tf_sim_device_destroy(device);
  return 0;
}
