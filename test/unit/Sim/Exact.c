/* The tables are built once, value by value: 2^e + k 2^(e-p) for the k-th fraction. */
#include "Exact.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* e4m3 has no infinity: its one NaN is all ones, and the code below is a number. Smaller ones have no NaN either. */
static const struct {
  const char *name;
  int exponent, fraction;
  bool infinity, nan;
  unsigned shift; /* tf32 stands in the upper bits of its register */
} formats[EXACT_FORMATS] = {
    [EXACT_F16] = {"f16", 5, 10, true, true, 0},    [EXACT_BF16] = {"bf16", 8, 7, true, true, 0},
    [EXACT_TF32] = {"tf32", 8, 10, true, true, 13}, [EXACT_E4M3] = {"e4m3", 4, 3, false, true, 0},
    [EXACT_E5M2] = {"e5m2", 5, 2, true, true, 0},   [EXACT_E2M3] = {"e2m3", 2, 3, false, false, 0},
    [EXACT_E3M2] = {"e3m2", 3, 2, false, false, 0}, [EXACT_E2M1] = {"e2m1", 2, 1, false, false, 0},
};

exact_format exact_format_of(const char *type) {
  size_t length = strcspn(type, "x");
  int f = 0;
  while (f < EXACT_FORMATS && (strlen(formats[f].name) != length || strncmp(formats[f].name, type, length) != 0))
    f++;
  return (exact_format)f;
}

/* Codes below are without the sign and without the shift. */
static uint32_t all_ones(exact_format f) {
  return (1u << (formats[f].exponent + formats[f].fraction)) - 1;
}
static uint32_t infinity_code(exact_format f) {
  return all_ones(f) - ((1u << formats[f].fraction) - 1);
}
static uint32_t largest_code(exact_format f) {
  return formats[f].infinity ? infinity_code(f) - 1 : all_ones(f) - formats[f].nan;
}

/* One value more than there are numbers: where the next one would be. */
static const quad *values(exact_format f) {
  static quad *tables[EXACT_FORMATS];
  if (tables[f]) return tables[f];
  uint32_t count = largest_code(f) + 2, per_exponent = 1u << formats[f].fraction;
  tables[f] = malloc(count * sizeof(quad));
  if (!tables[f]) abort();
  quad step = 1; /* of the subnormals */
  for (int i = (1 << (formats[f].exponent - 1)) - 2 + formats[f].fraction; i > 0; i--)
    step /= 2;
  for (uint32_t code = 0; code < count; code++) {
    if (code >= 2 * per_exponent && code % per_exponent == 0) step *= 2;
    tables[f][code] = code < per_exponent ? (quad)code * step : (quad)(per_exponent + code % per_exponent) * step;
  }
  return tables[f];
}

static uint32_t magnitude(exact_format f, uint32_t code) {
  return code >> formats[f].shift & all_ones(f);
}
static bool sign_of(exact_format f, uint32_t code) {
  return code >> (exact_bits(f) - 1) & 1;
}

unsigned exact_bits(exact_format f) {
  return 1u + (unsigned)formats[f].exponent + (unsigned)formats[f].fraction + formats[f].shift;
}
uint32_t exact_largest(exact_format f) {
  return largest_code(f) << formats[f].shift;
}
uint32_t exact_infinity(exact_format f) {
  return formats[f].infinity ? infinity_code(f) << formats[f].shift : 0;
}
uint32_t exact_nan(exact_format f) {
  return f == EXACT_TF32 ? 0x7FFFFFFFu : all_ones(f); /* the largest number where there is no NaN */
}

bool exact_is_infinite(exact_format f, uint32_t code) {
  return formats[f].infinity && magnitude(f, code) == infinity_code(f);
}
bool exact_is_nan(exact_format f, uint32_t code) {
  return magnitude(f, code) > largest_code(f) && !exact_is_infinite(f, code);
}
bool exact_is_subnormal(exact_format f, uint32_t code) {
  return magnitude(f, code) && magnitude(f, code) < 1u << formats[f].fraction;
}

quad exact_value(exact_format f, uint32_t code) {
  if (exact_is_nan(f, code)) return (quad)NAN;
  quad x = exact_is_infinite(f, code) ? (quad)INFINITY : values(f)[magnitude(f, code)];
  return sign_of(f, code) ? -x : x;
}

/* True when x, between the values of `below` and its successor, goes to the latter. */
static bool goes_up(const quad *v, uint32_t below, quad x, bool negative, char mode) {
  quad down = x - v[below], up = v[below + 1] - x;
  if (mode == 'z' || down == 0) return false;
  if (mode == 'm') return negative;
  if (mode == 'p') return !negative;
  return up < down || (up == down && (mode == 'a' || below % 2));
}

uint32_t exact_round(exact_format f, quad x, bool negative, char mode) {
  const quad *v = values(f);
  uint32_t lowest = 0, above = largest_code(f) + 1, sign = 0;
  if (x != 0) negative = x < 0;
  if (negative) sign = 1u << (exact_bits(f) - 1);
  quad size = x < 0 ? -x : x;
  while (above - lowest > 1) {
    uint32_t middle = (lowest + above) / 2;
    if (v[middle] <= size)
      lowest = middle;
    else
      above = middle;
  }
  bool beyond = size >= v[largest_code(f) + 1]; /* then "nearest" and "upwards" mean infinity */
  bool up =
      beyond ? mode == 'n' || mode == 'a' || mode == (negative ? 'm' : 'p') : goes_up(v, lowest, size, negative, mode);
  return (lowest + up) << formats[f].shift | sign;
}

quad exact_sum(quad a, quad b) {
  __extension__ typedef unsigned __int128 image;
  quad sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
  image bits;
  memcpy(&bits, &sum, sizeof bits);
  if (error == 0 || error != error || bits & 1) return sum;
  bits += (error > 0) == (sum > 0) ? 1 : ~(image)0;
  memcpy(&sum, &bits, sizeof bits);
  return sum;
}

float exact_single(uint64_t bits) {
  uint32_t word = (uint32_t)bits;
  float x;
  memcpy(&x, &word, 4);
  return x;
}
double exact_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, 8);
  return x;
}
uint64_t exact_single_bits(float x) {
  uint32_t word;
  memcpy(&word, &x, 4);
  return x != x ? 0x7FFFFFFFu : word;
}
uint64_t exact_double_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, 8);
  return bits;
}
float exact_flush(float x) {
  return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}
int exact_host_mode(char mode) {
  return mode == 'z' ? FE_TOWARDZERO : mode == 'm' ? FE_DOWNWARD : mode == 'p' ? FE_UPWARD : FE_TONEAREST;
}
