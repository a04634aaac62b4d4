/* Numbers of the floating-point formats by definition, for expectations of instruction vectors.
 *
 * A format is the table of its non-negative values in order of their codes, held in 113 bits; rounding is a search in
 * that table. Nothing here looks at exponent and fraction of a number that is to be rounded. */
#ifndef TF_TEST_SIM_EXACT_H
#define TF_TEST_SIM_EXACT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __float128 quad;

typedef enum exact_format { EXACT_F16, EXACT_BF16, EXACT_TF32, EXACT_E4M3, EXACT_E5M2, EXACT_E2M3, EXACT_E3M2, EXACT_E2M1, EXACT_FORMATS } exact_format;

/* Of "f16", "bf16x2", "e4m3x2", …; EXACT_FORMATS for any other name. */
exact_format exact_format_of(const char *type);
/* Bits of a code, and the codes of the largest number, of infinity (0: the format has none) and of the NaN that is
 * written. */
unsigned exact_bits(exact_format f);
uint32_t exact_largest(exact_format f);
uint32_t exact_infinity(exact_format f);
uint32_t exact_nan(exact_format f);
/* What a code is: its number, infinities and NaN as doubles have them. */
quad exact_value(exact_format f, uint32_t code);
bool exact_is_nan(exact_format f, uint32_t code);
bool exact_is_infinite(exact_format f, uint32_t code);
bool exact_is_subnormal(exact_format f, uint32_t code);
/* The code of x: mode 'n' nearest, ties to even; 'a' nearest, ties away from zero; 'z', 'm', 'p' towards zero, minus
 * and plus infinity. A zero gets the sign of `negative`. Too large becomes infinity or the largest number, as the mode
 * says; x must be a number. */
uint32_t exact_round(exact_format f, quad x, bool negative, char mode);
/* a + b; where 113 bits are too few, the neighbour with an odd last bit, which is no tie of any shorter format. */
quad exact_sum(quad a, quad b);

float exact_single(uint64_t bits);
double exact_double(uint64_t bits);
uint64_t exact_single_bits(float x); /* NaN: 0x7FFFFFFF */
uint64_t exact_double_bits(double x);
/* Subnormals become zeros of their sign. */
float exact_flush(float x);
/* The host's rounding for 'n', 'z', 'm', 'p'. */
int exact_host_mode(char mode);

#endif
