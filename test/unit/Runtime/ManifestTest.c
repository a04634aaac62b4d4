/* The manifest reader: a manifest with everything in it comes out as written; each kind of fault is refused with its
 * place. That reader and schema agree is another test (manifest-schema), with every member of the document damaged. */
#include "Harness.h"
#include "Inputs.h"

#include "Runtime/Dims.h"
#include "Runtime/Manifest.h"

static char message[512];

static tf_status read_text(const char *text, const tf_manifest **out) {
  message[0] = '\0';
  return tf_manifest_read("m.json", text, strlen(text), out, message, sizeof message);
}

static const tf_manifest *read_everything(void) {
  const tf_manifest *m = NULL;
  char *text = input_text("everything.json");
  ck_assert_msg(read_text(text, &m) == TF_OK, "%s", message);
  free(text);
  return m;
}

static int64_t eval(const tf_mexpr *e, const int64_t *dims) {
  const tf_menv env = {.dims = dims};
  int64_t value = -1;
  ck_assert_ptr_null(tf_mexpr_eval(e, &env, &value));
  return value;
}

START_TEST(header_and_kernels) {
  const tf_manifest *m = read_everything();
  ck_assert_str_eq(m->module, "everything");
  ck_assert_str_eq(m->target, "sm_90a");
  ck_assert_str_eq(m->ptx_version, "8.0");
  ck_assert_uint_eq(m->dim_count, 2);
  ck_assert_str_eq(m->dims[1].name, "S");
  ck_assert_int_eq(m->dims[1].hi, 65536);
  ck_assert_uint_eq(m->kernel_count, 2);
  const tf_mkernel *wide = &m->kernels[1];
  ck_assert_str_eq(wide->signature.name, "wide");
  ck_assert_str_eq(wide->ptx_name, "wide_1");
  ck_assert_uint_eq(wide->signature.param_count, 6);
  ck_assert_uint_eq(wide->signature.declared_count, 3);
  ck_assert_ptr_null(wide->grid_size);
  ck_assert_ptr_null(wide->default_block);
  ck_assert(wide->cooperative && wide->has_cluster && wide->has_required_block);
  ck_assert_int_eq(wide->cluster[0], 2);
  ck_assert_int_eq(wide->required_block[1], 4);
  ck_assert(wide->linear_grid);
  ck_assert_int_eq(wide->grid_barrier_bytes, 8);
  const int64_t dims[] = {100, 7};
  ck_assert_int_eq(eval(&wide->dynamic_bytes, dims), 1224);
  const tf_mkernel *scale = &m->kernels[0];
  ck_assert_int_eq(eval(scale->grid_size, dims), 7);
  ck_assert_int_eq(eval(&scale->default_block[0], dims), 128);
  ck_assert_int_eq(scale->max_block_threads, 128);
  ck_assert_int_eq(scale->static_bytes, 512);
  ck_assert_str_eq(scale->buffers[0].name, "tile");
  ck_assert_int_eq(scale->buffers[0].loc.line, 9);
  ck_assert_uint_eq(scale->abort_count, 2);
  ck_assert_str_eq(scale->aborts[0].message, "negative length");
  ck_assert_int_eq(scale->aborts[1].kind, TF_ABORT_DIV);
  ck_assert_ptr_null(scale->aborts[1].loc.file);
  tf_manifest_free(m);
}
END_TEST

START_TEST(parameters_and_solving) {
  const tf_manifest *m = read_everything();
  const tf_msignature *s = &m->kernels[1].signature;
  ck_assert_int_eq(s->params[0].kind, TF_MPARAM_TENSOR);
  ck_assert_int_eq(s->params[0].element, TF_ELEMENT_BF16);
  ck_assert_uint_eq(s->params[0].rank, 2);
  const int64_t dims[] = {20, 1};
  ck_assert_int_eq(eval(&s->params[0].shape[0], dims), 80);
  ck_assert_int_eq(eval(&s->params[0].shape[1], dims), 3);
  ck_assert_int_eq(eval(&s->params[0].strides[0], dims), 40);
  ck_assert_uint_eq(s->params[4].of, 0);
  ck_assert_uint_eq(s->params[4].axis, 1);
  ck_assert_int_eq(s->params[5].kind, TF_MPARAM_GRID_BARRIER);
  ck_assert_uint_eq(s->solve_count, 1);
  ck_assert_uint_eq(s->solves[0].dim, 0);
  ck_assert_int_eq(s->solves[0].factor, 4);
  ck_assert(!s->has_const && m->kernels[0].signature.has_const);
  tf_manifest_free(m);
}
END_TEST

START_TEST(entries) {
  const tf_manifest *m = read_everything();
  ck_assert_uint_eq(m->entry_count, 6);
  ck_assert_ptr_eq(m->default_entry, &m->entries[0]);
  const tf_mstmt *d = m->entries[0].body;
  ck_assert_int_eq(d->kind, TF_MSTMT_DISPATCH);
  ck_assert_uint_eq(d->count, 2);
  ck_assert_int_eq(d->cases[1].lo, 32);
  ck_assert_int_eq(d->body->kind, TF_MSTMT_ABORT);
  ck_assert_str_eq(d->body->text, "no variant for this S");
  const tf_mstmt *sequence = &d->cases[0].body;
  ck_assert_int_eq(sequence->kind, TF_MSTMT_SEQUENCE);
  ck_assert_int_eq(sequence->body[0].args[1].kind, TF_MARG_FLOAT);
  ck_assert_double_eq(sequence->body[0].args[1].number, 3.0);
  ck_assert_int_eq(sequence->body[0].loc.line, 30);
  ck_assert_int_eq(sequence->body[1].kind, TF_MSTMT_CALL);
  ck_assert_uint_eq(sequence->body[1].callee, 1);
  ck_assert_int_eq(d->cases[1].body.args[0].kind, TF_MARG_VIEW);
  ck_assert_uint_eq(d->cases[1].body.args[0].rank, 2);
  ck_assert(d->cases[1].body.programmatic_stream_serialization);
  ck_assert(m->entries[2].signature.params[1].host);
  ck_assert(m->entries[3].body->same_signature);  /* exact */
  ck_assert(!m->entries[4].body->same_signature); /* loose: only the kernel's first parameter is a const_tensor */
  ck_assert(!m->entries[1].body->same_signature); /* half: brings a number */
  ck_assert_ptr_null(m->entries[5].body);
  tf_manifest_free(m);
}
END_TEST

static const struct {
  const char *from, *to, *says;
} faults[] = {
    {"\"version\": 1", "\"version\": 2", "m.json: version: this runtime reads version 1"},
    {"\"version\": 1", "\"version\": \"1\"", "m.json: version: expected an integer"},
    {"\"version\": 1,", "\"version\": 1, \"extra\": 0,", "m.json: unknown key 'extra'"},
    {"\"module\": \"everything\",", "", "m.json: the key 'module' is missing"},
    {"\"sm_90a\"", "\"sm_9x\"", "m.json: target: expected a PTX target"},
    {"\"sm_90a\"", "\"\"", "m.json: target: the string is empty"},
    {"\"8.0\"", "\"8\"", "m.json: ptx_version: expected a PTX version"},
    {"\"name\": \"K\", \"lo\"", "\"name\": \"S\", \"lo\"", "m.json: dims[1].name: two dims are called 'S'"},
    {"\"lo\": 0", "\"lo\": 0.5", "m.json: dims[0].lo: expected an integer"},
    {"\"lo\": 0", "\"lo\": 99999999999999999999", "too big integer"},
    {"\"const_tensor\"", "\"ref\"", "m.json: kernels[0].parameters[0].kind: 'ref' is none of the values"},
    {"\"dtype\": \"f32\"", "\"dtype\": \"f33\"", "m.json: kernels[0].parameters[0].dtype: unknown dtype 'f33'"},
    {"{\"var\": \"S\"}, 512", "{\"var\": \"T\"}, 512", "parameters[0].shape[0].var: no dim is called 'T'"},
    {"{\"var\": \"S\"}, 512", "\"S\", 512", "parameters[0].shape[0]: expected an integer, {\"var\"}"},
    {"[{\"var\": \"S\"}, 512]", "[]", "parameters[0].shape: expected at least 1 elements, got 0"},
    {"\"alignment\": 16", "\"alignment\": 24", "parameters[0].alignment: the alignment is no power of two"},
    {"\"alignment\": 16", "\"alignment\": 0", "parameters[0].alignment: 0 is less than 1"},
    {"\"gmem\"", "\"smem\"", "parameters[0].storage: 'smem' is none of the values"},
    {"\"name\": \"y\"", "\"name\": \"x\"", "kernels[0].parameters[2]: two parameters are called 'x'"},
    {"\"of\": \"x\", \"axis\": 0", "\"of\": \"a\", \"axis\": 0",
     "parameters[3].axis: the parameter 'a' has no such axis"},
    {"\"of\": \"x\", \"axis\": 0", "\"of\": \"x\", \"axis\": 2",
     "parameters[3].axis: the parameter 'x' has no such axis"},
    {"\"of\": \"x\", \"axis\": 0", "\"of\": \"z\", \"axis\": 0", "parameters[3].of: no parameter is called 'z'"},
    {"\"dtype\": \"i32\", \"of\"", "\"dtype\": \"i64\", \"of\"", "parameters[3].dtype: a hidden shape is an i32"},
    {"\"grid_size\": {\"var\": \"S\"}", "\"grid_size\": {\"var\": \"K\"}",
     "grid_size.var: the dim 'K' is in no tensor axis of 'scale'"},
    {"\"args\": [4, {\"var\": \"K\"}]", "\"args\": [-4, {\"var\": \"K\"}]",
     "kernels[1].parameters[0]: the dim 'K' is in no tensor axis"},
    {"\"ceil_div\"", "\"pow\"", "shape[1].op: unknown operator 'pow'"},
    {"[{\"var\": \"K\"}, 8]", "[{\"var\": \"K\"}, 8, 1]", "shape[1].args: expected at most 2 elements, got 3"},
    {"[{\"op\": \"mul\", \"args\": [2, {\"var\": \"K\"}]}, 1]", "[1]", "strides: 1 strides for 2 axes"},
    {"\"default_grid\": [{\"var\": \"S\"}, 1, 1]", "\"default_grid\": [1, 1]",
     "default_grid: expected at least 3 elements"},
    {"\"required_block\": [32, 4, 1]", "\"required_block\": [32, 4, 0]", "required_block[2]: 0 is less than 1"},
    {"\"cooperative\": false", "\"cooperative\": 0", "kernels[0].cooperative: expected true or false"},
    {"\"grid_barrier_bytes\": 0", "\"grid_barrier_bytes\": 8",
     "kernels[0].grid_barrier_bytes: there is no grid_barrier parameter"},
    {"\"grid_barrier_bytes\": 8", "\"grid_barrier_bytes\": 0", "a grid_barrier parameter with no bytes"},
    {"\"cooperative\": true", "\"cooperative\": false", "a kernel with a grid barrier must be cooperative"},
    {"\"kind\": \"div\"", "\"kind\": \"mul\"", "abort_sites[1].kind: 'mul' is none"},
    {"\"name\": \"wide\"", "\"name\": \"scale\"", "kernels[1]: two kernels are called 'scale'"},
    {"\"line\": 9", "\"line\": 0", "shared.buffers[0].loc.line: 0 is less than 1"},
    {"\"output_count\": 1", "\"output_count\": 4", "entries[0].output_count: more outputs than parameters"},
    {"\"kernel\": \"scale\"", "\"kernel\": \"scala\"", "cases[0].body.body[0].kernel: no kernel is called 'scala'"},
    {"\"entry\": \"half\"", "\"entry\": \"main\"", "'main' takes 3 arguments, got 2"},
    {"{\"float\": \"0x1.8p1\"}", "{\"float\": \"1,5\"}", "args[1].float: '1,5' is no number"},
    {"{\"float\": \"0x1.8p1\"}", "{\"param\": \"x\"}", "args[1]: 'a' takes a scalar"},
    {"{\"float\": \"0x1.8p1\"}", "{\"param\": \"count\"}", "args[1]: 'count' is i16, 'a' takes f32"},
    {"{\"float\": \"0x1.8p1\"}", "{\"text\": \"1\"}", "args[1]: expected {\"param\"}"},
    {"\"args\": [{\"param\": \"x\"}, {", "\"args\": [{\"int\": 1}, {", "args[0]: 'x' takes a tensor"},
    {"\"args\": [{\"param\": \"x\"}, {", "\"args\": [{\"param\": \"w\"}, {",
     "args[0].param: no parameter is called 'w'"},
    {"\"shape\": [{\"op\": \"floor_div\", \"args\": [{\"var\": \"S\"}, 2]}, 512]}", "\"shape\": [512]}",
     "'x' has 2 axes"},
    {"{\"scalar\": \"count\"}, 64", "{\"scalar\": \"x\"}, 64", "'x' is no integer scalar"},
    {"\"dynamic_bytes\": 0", "\"dynamic_bytes\": {\"scalar\": \"a\"}", "known only in the body of an entry"},
    {"\"subject\": {\"shape_of\": \"x\", \"axis\": 0}", "\"subject\": {\"shape_of\": \"count\", \"axis\": 0}",
     "'count' has no such axis"},
    {"\"stmt\": \"abort\"", "\"stmt\": \"exit\"", "fallback.stmt: 'exit' is none"},
    {"\"stmt\": \"abort\"", "\"smtm\": \"abort\"", "fallback: expected a statement"},
    {"\"name\": \"half\"", "\"name\": \"main\"", "entries[1]: two entries are called 'main'"},
    {"\"args\": [{\"param\": \"m\"}", "\"args\": [{\"param\": \"host\"}", "'host' is u8, 'm' takes bf16"},
    {"\"default_entry\": \"main\"", "\"default_entry\": \"maim\"", "default_entry: no entry is called 'maim'"},
    {"\"default_entry\": \"main\"", "\"default_entry\": 1", "default_entry: expected a string"},
    {"\"default_entry\": \"main\"", "\"default_entry\": \"main\" \"", "m.json:"},
    {"\"module\": \"everything\",", "\"module\": \"a\", \"module\": \"b\",", "duplicate object key"},
};

START_TEST(refused) {
  char *text = input_text("everything.json"), *bad = replaced(text, faults[_i].from, faults[_i].to);
  const tf_manifest *m = NULL;
  ck_assert_msg(read_text(bad, &m) == TF_PARSE, "%s -> %s was accepted", faults[_i].from, faults[_i].to);
  ck_assert_msg(strstr(message, faults[_i].says) != NULL, "%s\n  wanted: %s", message, faults[_i].says);
  ck_assert_ptr_null(m);
  free(text);
  free(bad);
}
END_TEST

START_TEST(call_cycle) {
  char *text = input_text("everything.json");
  char *bad = replaced(text,
                       "{\"stmt\": \"launch\", \"kernel\": \"scale\", \"grid\": [{\"var\": \"S\"}, 1, 1], \"block\": "
                       "[128, 1, 1], \"cluster\": null, \"dynamic_smem\": 16,\n               \"cooperative\": false, "
                       "\"programmatic_stream_serialization\": false,\n               \"args\": [{\"param\": \"p\"}, "
                       "{\"float\": \"0.5\"}, {\"param\": \"q\"}], \"loc\": null}",
                       "{\"stmt\": \"call\", \"entry\": \"main\", \"args\": [{\"param\": \"p\"}, {\"param\": \"q\"}, "
                       "{\"int\": 3}], \"loc\": null}");
  const tf_manifest *m = NULL;
  ck_assert_int_eq(read_text(bad, &m), TF_PARSE);
  ck_assert_str_eq(message, "m.json: entries[0]: the calls of the entry form a cycle");
  free(text);
  free(bad);
}
END_TEST

START_TEST(broken_json_is_located) {
  const tf_manifest *m = NULL;
  ck_assert_int_eq(read_text("{\n  \"version\": 1,\n  oops\n}", &m), TF_PARSE);
  ck_assert_msg(strncmp(message, "m.json:3:", 9) == 0, "%s", message);
  ck_assert_int_eq(read_text("", &m), TF_PARSE);
  ck_assert_int_eq(read_text("[]", &m), TF_PARSE);
  ck_assert_int_eq(read_text("17", &m), TF_PARSE);
}
END_TEST

/* Every prefix of the document is an error, none is a crash or a leak. */
START_TEST(truncated) {
  char *text = input_text("everything.json");
  size_t size = strlen(text);
  while (text[size - 1] == '\n')
    size--;
  for (size_t n = 0; n < size; n += 7) {
    const tf_manifest *m = NULL;
    ck_assert_int_eq(tf_manifest_read("m", text, n, &m, message, sizeof message), TF_PARSE);
  }
  free(text);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("manifest");
  tcase_add_test(c, header_and_kernels);
  tcase_add_test(c, parameters_and_solving);
  tcase_add_test(c, entries);
  tcase_add_loop_test(c, refused, 0, sizeof faults / sizeof faults[0]);
  tcase_add_test(c, call_cycle);
  tcase_add_test(c, broken_json_is_located);
  tcase_add_test(c, truncated);
  return run_case("manifest", c);
}
