/* Scalars of host functions in dtypes that C lacks, as doubles. The declarations are explained in Compiled.h. */
#ifndef TF_RUNTIME_SCALARS_H
#define TF_RUNTIME_SCALARS_H

#include <stdint.h>

double tf_scalar_decode(int64_t dtype, uint64_t bits);
uint64_t tf_scalar_encode(int64_t dtype, double value);
double tf_scalar_round(int64_t dtype, double value);
double tf_scalar_from_int(int64_t dtype, int64_t value, int64_t is_unsigned);
double tf_scalar_floor_div(double a, double b);
double tf_scalar_floor_mod(double a, double b);

#endif
