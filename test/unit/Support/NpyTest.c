/* .npy files written here byte by byte, not by the code under test: what must be read, and what must be refused, where
 * and why. Files of the real NumPy are exchanged in test/lit/Host. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "Harness.h"
#include "Support/Npy.h"

static char message[256];

typedef struct file {
  unsigned char bytes[1024];
  size_t size;
} file;

static void put(file *f, const void *bytes, size_t size) {
  ck_assert_uint_le(f->size + size, sizeof f->bytes);
  memcpy(f->bytes + f->size, bytes, size);
  f->size += size;
}

/* A file of the given version with `header` as its dict and `data` behind it. */
static file make(int major, const char *header, const void *data, size_t data_size) {
  file f = {.size = 0};
  size_t n = strlen(header);
  unsigned char prefix[12] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, 0, (unsigned char)n, (unsigned char)(n >> 8), 0, 0};
  put(&f, prefix, major == 1 ? 10 : 12);
  put(&f, header, n);
  put(&f, data, data_size);
  return f;
}

static tf_status parse(const file *f, tf_npy *out) {
  message[0] = '\0';
  return tf_npy_parse("a.npy", f->bytes, f->size, out, message, sizeof message);
}

static const unsigned char little[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

START_TEST(versions_1_to_3) {
  file f = make(_i, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", little, 12);
  tf_npy a;
  ck_assert_msg(parse(&f, &a) == TF_OK, "%s", message);
  ck_assert_int_eq(a.kind, 'i');
  ck_assert_uint_eq(a.item_bytes, 2);
  ck_assert_uint_eq(a.rank, 2);
  ck_assert_int_eq(a.shape[0], 2);
  ck_assert_int_eq(a.shape[1], 3);
  ck_assert_uint_eq(a.count, 6);
  const int16_t want[] = {0x0201, 0x0403, 0x0605, 0x0807, 0x0a09, 0x0c0b};
  ck_assert_mem_eq(a.data, want, sizeof want);
  tf_npy_free(&a);
  ck_assert_ptr_null(a.data);
}
END_TEST

START_TEST(big_endian_is_swapped) {
  file f = make(1, "{'descr': '>u4', 'fortran_order': False, 'shape': (3,), }\n", little, 12);
  tf_npy a;
  ck_assert_int_eq(parse(&f, &a), TF_OK);
  const uint32_t want[] = {0x01020304, 0x05060708, 0x090a0b0c};
  ck_assert_mem_eq(a.data, want, sizeof want);
  tf_npy_free(&a);
}
END_TEST

static const struct {
  const char *header;
  size_t bytes, count;
} readable[] = {
    {"{'descr': '|b1', 'fortran_order': False, 'shape': (12,)}", 12, 12},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (12,)}", 12, 12},
    {"{'descr': '<f2', 'fortran_order': False, 'shape': (6,)}", 12, 6},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 12, 3},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", 8, 1},
    {"{'descr': '=i8', 'fortran_order': False, 'shape': (1, 1)}", 8, 1},
    {"{'descr': '<u2', 'fortran_order': False, 'shape': (0, 9223372036854775807)}", 0, 0},
    {"{'descr': '<u2', 'fortran_order': True, 'shape': (3,)}", 6, 3}, /* one axis: both orders are the same */
    {"{\"shape\":(2L,1L,),\"fortran_order\":False,\"descr\":\"<f4\"}  \n", 8, 2},
};

START_TEST(reads) {
  file f = make(1, readable[_i].header, little, readable[_i].bytes);
  tf_npy a;
  ck_assert_msg(parse(&f, &a) == TF_OK, "%s: %s", readable[_i].header, message);
  ck_assert_uint_eq(a.count, readable[_i].count);
  ck_assert_ptr_nonnull(a.data);
  ck_assert_mem_eq(a.data, little, readable[_i].bytes);
  tf_npy_free(&a);
}
END_TEST

static const struct {
  tf_status status;
  const char *header;
  size_t bytes;
  const char *says;
} refused[] = {
    {TF_UNSUPPORTED, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 1)}", 12,
     "byte 10: the array is in Fortran order"},
    {TF_UNSUPPORTED, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, "dtype '<c8'"},
    {TF_UNSUPPORTED, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, "dtype '|O'"},
    {TF_UNSUPPORTED, "{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", 4, "dtype '<U1'"},
    {TF_UNSUPPORTED, "{'descr': '<f1', 'fortran_order': False, 'shape': (1,)}", 1, "dtype '<f1'"},
    {TF_UNSUPPORTED, "{'descr': '<f16', 'fortran_order': False, 'shape': (0,)}", 0, "dtype '<f16'"},
    {TF_UNSUPPORTED, "{'descr': '', 'fortran_order': False, 'shape': (0,)}", 0, "dtype ''"},
    {TF_UNSUPPORTED, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4,
     "byte 20: a structured dtype"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False}", 0, "lacks one of"},
    {TF_PARSE, "{'descr': '<f4', 'descr': '<f4', 'shape': ()}", 0, "byte 27: a key that is there twice"},
    {TF_PARSE, "{'dtype': '<f4', 'fortran_order': False, 'shape': ()}", 0, "byte 11: a key that no .npy header has"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", 0, "True or False"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}", 12, "comma to be a tuple"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': (3 4)}", 12, "expected ',' or ')'"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 0, "byte 61: expected an extent"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", 0, "beyond 64 bits"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", 0,
     "more items than memory"},
    {TF_PARSE, "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}", 0,
     "more items than memory"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", 4, "text behind"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': () 'descr'", 4, "expected ',' or '}'"},
    {TF_PARSE, "{'descr': '<f4", 0, "without an end"},
    {TF_PARSE, "{", 0, "expected a quoted string"},
    {TF_PARSE, "", 0, "expected the header's dict"},
    {TF_PARSE, "['descr']", 0, "byte 10: expected the header's dict"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 11,
     "byte 76: the file ends inside its data: 11 of 12 bytes"},
    {TF_PARSE, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9, "byte 73: 1 bytes behind the data"},
};

START_TEST(refuses) {
  file f = make(1, refused[_i].header, little, refused[_i].bytes);
  tf_npy a = {.kind = '?'};
  ck_assert_msg(parse(&f, &a) == refused[_i].status, "%s: %s", refused[_i].header, message);
  ck_assert_msg(strstr(message, refused[_i].says) != NULL, "%s: %s", refused[_i].header, message);
  ck_assert_msg(strncmp(message, "a.npy: byte ", 12) == 0, "%s", message);
  ck_assert_int_eq(a.kind, '?');
}
END_TEST

START_TEST(more_than_32_axes) {
  char header[256] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 33; i++)
    strcat(header, "1,");
  strcat(header, ")}");
  file f = make(1, header, little, 4);
  tf_npy a;
  ck_assert_int_eq(parse(&f, &a), TF_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(message, "more than 32 axes"));
}
END_TEST

/* Every prefix of a good file is an error that names its end, and no byte of it may crash the reader. */
START_TEST(truncated_and_damaged) {
  file whole = make(2, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", little, 12);
  tf_npy a;
  for (size_t size = 0; size < whole.size; size++) {
    file f = whole;
    f.size = size;
    ck_assert_int_eq(parse(&f, &a), TF_PARSE);
    ck_assert_ptr_nonnull(strstr(message, "the file ends"));
  }
  for (size_t at = 0; at < whole.size - 12; at++)
    for (int value = 0; value < 256; value++) {
      file f = whole;
      f.bytes[at] = (unsigned char)value;
      if (parse(&f, &a) == TF_OK) tf_npy_free(&a);
    }
  file other = whole;
  other.bytes[6] = 4;
  ck_assert_int_eq(parse(&other, &a), TF_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(message, "version 4.0"));
}
END_TEST

START_TEST(files) {
  char path[] = "/tmp/tf-npy-XXXXXX";
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  close(fd);
  float values[6] = {1, -2, 3.5f, 0, 1e-40f, 6};
  tf_npy out = {.kind = 'f', .item_bytes = 4, .rank = 2, .shape = {2, 3}, .count = 6, .data = values}, in;
  ck_assert_int_eq(tf_npy_write(path, &out, message, sizeof message), TF_OK);
  FILE *f = fopen(path, "rb");
  char head[128];
  ck_assert_uint_eq(fread(head, 1, 128, f), 128);
  fclose(f);
  const char want[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   ";
  ck_assert_mem_eq(head, want, sizeof want - 1);
  ck_assert_int_eq(head[127], '\n');
  ck_assert_int_eq(tf_npy_read(path, &in, message, sizeof message), TF_OK);
  ck_assert_uint_eq(in.rank, 2);
  ck_assert_mem_eq(in.data, values, sizeof values);
  tf_npy_free(&in);
  unlink(path);
  ck_assert_int_eq(tf_npy_read(path, &in, message, sizeof message), TF_IO);
  ck_assert_ptr_nonnull(strstr(message, "cannot be read: No such file"));
  ck_assert_int_eq(tf_npy_write("/nonexistent/x.npy", &out, message, sizeof message), TF_IO);
  ck_assert_ptr_nonnull(strstr(message, "/nonexistent/x.npy: cannot be written: No such file"));
  ck_assert_int_eq(tf_npy_write("/dev/full", &out, message, sizeof message), TF_IO);
  ck_assert_ptr_nonnull(strstr(message, "No space left"));
  ck_assert_int_eq(tf_npy_read("/tmp", &in, message, sizeof message), TF_IO);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("npy");
  tcase_add_loop_test(c, versions_1_to_3, 1, 4);
  tcase_add_test(c, big_endian_is_swapped);
  tcase_add_loop_test(c, reads, 0, sizeof readable / sizeof readable[0]);
  tcase_add_loop_test(c, refuses, 0, sizeof refused / sizeof refused[0]);
  tcase_add_test(c, more_than_32_axes);
  tcase_add_test(c, truncated_and_damaged);
  tcase_add_test(c, files);
  return run_case("npy", c);
}
