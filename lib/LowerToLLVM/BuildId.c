/* Walking the loaded objects and their notes. */
#include "LowerToLLVM/BuildId.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct search {
  uintptr_t address;
  char *text;
  bool found;
} search;

static size_t padded(size_t size) {
  return (size + 3) & ~(size_t)3;
}

static void write_id(const unsigned char *id, size_t size, char *text) {
  for (size_t i = 0; i < size; i++)
    snprintf(text + 2 * i, 3, "%02x", id[i]);
}

/* Notes follow each other; one that does not fit into the segment ends the walk. */
static bool find_note(const unsigned char *at, size_t left, char *text) {
  ElfW(Nhdr) note;
  while (left >= sizeof note) {
    memcpy(&note, at, sizeof note);
    size_t name = padded(note.n_namesz), size = padded(note.n_descsz);
    if (name > left - sizeof note || size > left - sizeof note - name) return false;
    const unsigned char *desc = at + sizeof note + name;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at + sizeof note, "GNU", 4) == 0) {
      if (note.n_descsz == 0 || 2 * (size_t)note.n_descsz >= TF_BUILD_ID_TEXT) return false;
      write_id(desc, note.n_descsz, text);
      return true;
    }
    at = desc + size;
    left -= sizeof note + name + size;
  }
  return false;
}

static bool holds(const struct dl_phdr_info *object, uintptr_t address) {
  for (size_t i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && address - (object->dlpi_addr + segment->p_vaddr) < segment->p_memsz) return true;
  }
  return false;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *user) {
  search *s = user;
  (void)size;
  if (!holds(object, s->address)) return 0;
  for (size_t i = 0; i < object->dlpi_phnum && !s->found; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type == PT_NOTE)
      s->found = find_note((const unsigned char *)(object->dlpi_addr + segment->p_vaddr), segment->p_memsz, s->text);
  }
  return 1;
}

bool tf_build_id(const void *address, char text[TF_BUILD_ID_TEXT]) {
  search s = {.address = (uintptr_t)address, .text = text};
  dl_iterate_phdr(look_at, &s);
  return s.found;
}
