/* Each kind of type has a list of edges; a packed type takes two of its element's. */
#include "Operands.h"
#include "Random.h"

#include <stdlib.h>
#include <string.h>

static uint64_t noise = 88172645463325252u;
uint64_t operand_noise(void) {
  return random_next(&noise);
}

/* Widths and their neighbours are shift counts; the rest are the ends of the ranges. */
static const uint64_t integers[] = {0,
                                    1,
                                    UINT64_MAX,
                                    0x7F,
                                    0x80,
                                    0xFF,
                                    0x7FFF,
                                    0x8000,
                                    0xFFFF,
                                    0x7FFFFFFF,
                                    0x80000000,
                                    0xFFFFFFFF,
                                    0x7FFFFFFFFFFFFFFF,
                                    0x8000000000000000,
                                    2,
                                    15,
                                    16,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    65,
                                    0xFFFFFF,
                                    0x800000};
/* Zeros, least and largest subnormals, least normals, ones and neighbours, halves (ties), largest, infinities, NaNs. */
static const uint64_t halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x8400,
                                  0x3800, 0x3C00, 0xBC00, 0x3C01, 0x3BFF, 0x4200, 0x7BFF,
                                  0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7FF7, 0xFFF7};
static const uint64_t brains[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x8080,
                                  0x3F00, 0x3F80, 0xBF80, 0x3F81, 0x3F7F, 0x4040, 0x7F7F,
                                  0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7FF7, 0xFFF7};
static const uint64_t singles[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF,
                                   0x00800000, 0x3F000000, 0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF,
                                   0x40200000, 0xBF000000, 0x7E800000, 0x7F000000, 0x7F7FFFFF, 0xFF7FFFFF,
                                   0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001};
static const uint64_t doubles[] = {0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF,
                                   0x0010000000000000, 0x3FE0000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
                                   0x3FF0000000000001, 0x4004000000000000, 0x3FF0000010000000, 0x7FEFFFFFFFFFFFFF,
                                   0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
                                   0xFFF8000000012345, 0x36A0000000000000, 0x47EFFFFFF0000000, 0x7FF0000000000001};

/* `near`: an exponent around one, under which the fraction's bits are free. */
static const struct kind {
  const char *type;
  const uint64_t *edges;
  unsigned count, bits;
  uint64_t near, free;
} kinds[] = {
    {"f16", halves, sizeof halves / sizeof *halves, 16, 0x3800, 0x8BFF},
    {"bf16", brains, sizeof brains / sizeof *brains, 16, 0x3F00, 0x81FF},
    {"f32", singles, sizeof singles / sizeof *singles, 32, 0x3F000000, 0x80FFFFFF},
    {"f64", doubles, sizeof doubles / sizeof *doubles, 64, 0x3FE0000000000000, 0x801FFFFFFFFFFFFF},
    {"", integers, sizeof integers / sizeof *integers, 64, 0, 0},
};

/* The element's kind, and how many elements the type packs. */
static const struct kind *kind_of(const char *type, unsigned *packed, unsigned *bits) {
  const char *x2 = strstr(type, "x2");
  size_t length = x2 ? (size_t)(x2 - type) : strlen(type);
  *packed = x2 ? 2 : 1;
  const struct kind *k = kinds;
  while (*k->type && (strlen(k->type) != length || strncmp(k->type, type, length) != 0))
    k++;
  *bits = *k->type ? k->bits : (unsigned)atoi(type + strcspn(type, "0123456789"));
  return k;
}

unsigned operand_edges(const char *type) {
  unsigned packed, bits;
  if (strcmp(type, "pred") == 0) return 2;
  return kind_of(type, &packed, &bits)->count;
}

uint64_t operand_edge(const char *type, unsigned i) {
  unsigned packed, bits;
  if (strcmp(type, "pred") == 0) return i & 1;
  const struct kind *k = kind_of(type, &packed, &bits);
  if (packed == 1) return k->edges[i % k->count];
  uint64_t low = k->edges[i % k->count], high = k->edges[(i * 7 + 3) % k->count];
  return (bits == 64 ? low : low & ((UINT64_C(1) << bits) - 1)) | high << bits % 64;
}

static uint64_t element(const struct kind *k) {
  uint64_t r = operand_noise();
  if (r % 3 == 0) return k->edges[(r >> 8) % k->count];
  if (r % 3 == 1 && *k->type) return k->near | (operand_noise() & k->free);
  return *k->type ? operand_noise() : operand_noise() >> (r >> 58);
}

uint64_t operand_value(const char *type) {
  unsigned packed, bits;
  if (strcmp(type, "pred") == 0) return operand_noise() >> 20 & 1;
  const struct kind *k = kind_of(type, &packed, &bits);
  uint64_t low = element(k);
  if (packed == 1) return low;
  return (low & ((UINT64_C(1) << bits) - 1)) | element(k) << bits;
}
