/* Host functions as machine code, written in C: what their tests share. The program is Inputs/everything.json:
 *   main(x, y: (S, 512) f32, count: i16), half(p const, q), barrier(m, host: 3 u8 on the host, n), exact, loose, compiled() */
#ifndef TF_TEST_COMPILED_FIXTURE_H
#define TF_TEST_COMPILED_FIXTURE_H

#include "Fixture.h"

#undef fail /* of Check */

enum { ENTRIES = 6 };
static const tf_compiled_place place = {"c.tir", 3, 5};
static test_tensor x;

static int32_t run_nothing(tf_call *call, const tf_compiled_value *values) {
  (void)call, (void)values;
  return TF_OK;
}

static tf_status load_entries(const tf_compiled_entry *table, unsigned count, tf_program **out) {
  char *text = input_text("everything.json");
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.name = "t.ptx";
  source.image = "ptx text";
  source.image_size = 8;
  source.manifest = text;
  source.manifest_size = strlen(text);
  source.entries = table;
  source.entry_count = count;
  tf_status status = tf_program_load(rt, &source, out);
  free(text);
  return status;
}

/* A fresh device, and the program with these functions. */
static void open_with(const tf_compiled_entry *table) {
  fake_reset();
  fake_set_current(NULL);
  open_runtime();
  ck_assert_msg(load_entries(table, ENTRIES, &program) == TF_OK, "%s", tf_runtime_message(rt));
  fake.param_count = 4;
}

#endif
