/* The build id of running code against the section of the file that it was loaded from. */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Harness.h"
#include "LowerToLLVM/BuildId.h"

/* The section .note.gnu.build-id, by the section headers: a header of 12 bytes, "GNU", the id. */
static void id_of_file(const char *path, char text[TF_BUILD_ID_TEXT]) {
  static unsigned char file[64 << 20];
  FILE *stream = fopen(path, "rb");
  ck_assert_ptr_nonnull(stream);
  size_t size = fread(file, 1, sizeof file, stream);
  fclose(stream);
  ck_assert_uint_lt(size, sizeof file);
  const ElfW(Ehdr) *head = (const void *)file;
  const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
  const char *names = (const char *)file + sections[head->e_shstrndx].sh_offset;
  *text = '\0';
  for (unsigned i = 0; i < head->e_shnum; i++)
    if (strcmp(names + sections[i].sh_name, ".note.gnu.build-id") == 0)
      for (size_t k = 16; k < sections[i].sh_size; k++)
        sprintf(text + 2 * (k - 16), "%02x", file[sections[i].sh_offset + k]);
}

START_TEST(of_this_program) {
  char wanted[TF_BUILD_ID_TEXT], got[TF_BUILD_ID_TEXT];
  static const int constant = 1;
  id_of_file("/proc/self/exe", wanted);
  ck_assert_uint_ge(strlen(wanted), 16);
  ck_assert(tf_build_id(&constant, got));
  ck_assert_str_eq(got, wanted);
  void (*function)(const char *, char *) = id_of_file;
  const void *address;
  memcpy(&address, &function, sizeof address);
  ck_assert(tf_build_id(address, got));
  ck_assert_str_eq(got, wanted);
}
END_TEST

START_TEST(of_other_objects) {
  char own[TF_BUILD_ID_TEXT], other[TF_BUILD_ID_TEXT];
  static const int constant = 1;
  void *heap = calloc(1, 100);
  ck_assert(!tf_build_id(heap, other) && !tf_build_id(&own, other) && !tf_build_id(NULL, other));
  free(heap);
  ck_assert(tf_build_id(&constant, own));
  if (tf_build_id(stdout, other)) ck_assert_str_ne(own, other); /* of the C library, where it has one */
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("notes");
  tcase_add_test(tests, of_this_program);
  tcase_add_test(tests, of_other_objects);
  return run_case("build-id", tests);
}
