/* Machine code that is made of PTX without the driver, and kept: programs load the same with the tools, without them, with the
 * cache, and where it cannot be. */
#include "Fixture.h"

#include "CacheFolder.h"
#include "Harness.h"
#include "Runtime/Cubin.h"

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
static char log_path[300];

/* A ptxas that notes its arguments and writes a file that looks like a cubin, or fails. */
static void write_tool(const char *last_line) {
  static char path[300];
  snprintf(path, sizeof path, "%s/ptxas", folder);
  snprintf(log_path, sizeof log_path, "%s/log", folder);
  FILE *file = fopen(path, "w");
  fprintf(file,
          "#!/bin/sh\necho \"$1\" >> %s\nwhile [ \"$1\" != -o ]; do shift; done\n"
          "printf '\\177ELF made by a test' > \"$2\"\necho noise; echo noise >&2\n%s\n",
          log_path, last_line);
  fclose(file);
  chmod(path, 0755);
  setenv("TF_PTXAS", path, 1);
  setenv("TF_NVJITLINK", "/nonexistent/libnvJitLink.so", 1);
}

static void setup_program(void) {
  enter_folder();
  fake_reset();
  fake_set_current(NULL);
  fake.compute_major = 9;
  open_runtime();
  program = NULL;
}

static void teardown_program(void) {
  teardown();
  unsetenv("TF_PTXAS");
  unsetenv("TF_NVJITLINK");
  leave_folder();
}

static void load_ptx(const char *text) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.image = text;
  source.image_size = strlen(text);
  ck_assert_msg(tf_program_load(rt, &source, &program) == TF_OK, "%s", tf_runtime_message(rt));
  tf_program_unload(program);
  program = NULL;
}

static unsigned runs_of_tool(char first[64]) {
  unsigned lines = 0;
  char line[64];
  FILE *file = fopen(log_path, "r");
  for (*first = '\0'; file && fgets(line, sizeof line, file); lines++)
    if (!lines) strcpy(first, line);
  if (file) fclose(file);
  return lines;
}

static void ck_loads(unsigned runs, unsigned cubins, unsigned texts) {
  char first[64];
  ck_assert_uint_eq(runs_of_tool(first), runs);
  ck_assert_uint_eq(fake.loaded_cubins, cubins);
  ck_assert_uint_eq(fake.loaded_texts, texts);
}

START_TEST(second_time_from_the_cache) {
  char first[64];
  write_tool("exit 0");
  load_ptx(ptx);
  load_ptx(ptx);
  ck_loads(1, 2, 0);
  load_ptx(".version 7.1\n.target sm_75\n");
  ck_loads(2, 3, 0);
  write_tool("exit 0 # another version");
  load_ptx(ptx);
  ck_loads(3, 4, 0);
  runs_of_tool(first);
  ck_assert_str_eq(first, "-arch=sm_90\n"); /* the device's, not the PTX's */
}
END_TEST

START_TEST(targets_with_a_suffix) {
  char first[64];
  write_tool("exit 0");
  load_ptx(".version 8.0\n.target sm_90a\n");
  ck_loads(1, 1, 0);
  runs_of_tool(first);
  ck_assert_str_eq(first, "-arch=sm_90a\n");
}
END_TEST

START_TEST(refused_cubins) {
  uint64_t bytes;
  write_tool("exit 0");
  fake.refuse_cubins = 1;
  load_ptx(ptx);
  ck_loads(1, 0, 1);
  ck_assert_uint_eq(count_files(&bytes, NULL), 0);
  fake.refuse_cubins = 0;
  load_ptx(ptx);
  ck_loads(2, 1, 1);
  fake.refuse_cubins = 1; /* the cached one goes */
  load_ptx(ptx);
  ck_loads(2, 1, 2);
  ck_assert_uint_eq(count_files(&bytes, NULL), 0);
  ck_message("");
}
END_TEST

START_TEST(broken_tools) {
  write_tool("exit 3");
  load_ptx(ptx);
  ck_loads(1, 0, 1);
  write_tool("rm \"$2\"");
  load_ptx(ptx);
  ck_loads(2, 0, 2);
  setenv("TF_PTXAS", "/nonexistent/ptxas", 1);
  load_ptx(ptx);
  ck_loads(2, 0, 3);
  ck_message("");
}
END_TEST

START_TEST(without_a_cache) {
  write_tool("exit 0");
  setenv("TF_CACHE", _i ? "/proc/self/tf-cache" : "off", 1);
  load_ptx(ptx);
  load_ptx(ptx);
  ck_loads(2, 2, 0);
}
END_TEST

/* Nothing is left of a thousand lives of a program; the fixture counts modules and memory, AddressSanitizer the rest. */
START_TEST(thousand_loads) {
  write_tool("exit 0");
  for (int i = 0; i < 1000; i++)
    load_ptx(ptx);
  ck_loads(1, 1000, 0);
}
END_TEST

/* The real tools, where they are: machine code for the architecture that was asked for. */
START_TEST(real_tools) {
  tf_cubin cubin;
  setenv(_i ? "TF_NVJITLINK" : "TF_PTXAS", "/nonexistent/tool", 1);
  unsetenv(_i ? "TF_PTXAS" : "TF_NVJITLINK");
  setenv("TF_CACHE", "off", 1);
  if (tf_cubin_of_ptx(ptx, 90, &cubin)) {
    const unsigned char *elf = cubin.bytes;
    ck_assert_uint_gt(cubin.size, 64);
    ck_assert(memcmp(elf, "\177ELF", 4) == 0 && elf[18] == 190); /* e_machine: CUDA */
    tf_cubin_close(&cubin, true);
  }
  ck_assert(!tf_cubin_of_ptx(".version 7.0\n.target sm_75\n.visible .entry k() { nonsense; }\n", 90, &cubin));
  ck_assert(!tf_cubin_of_ptx("no PTX at all", 90, &cubin));
}
END_TEST

int main(void) {
  TCase *programs = tcase_create("programs");
  tcase_add_checked_fixture(programs, setup_program, teardown_program);
  tcase_set_timeout(programs, 60);
  tcase_add_test(programs, second_time_from_the_cache);
  tcase_add_test(programs, targets_with_a_suffix);
  tcase_add_test(programs, refused_cubins);
  tcase_add_test(programs, broken_tools);
  tcase_add_loop_test(programs, without_a_cache, 0, 2);
  tcase_add_test(programs, thousand_loads);
  tcase_add_loop_test(programs, real_tools, 0, 2);
  return run_case("cubin", programs);
}
