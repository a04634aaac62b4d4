/* Operand values for instruction vectors, by type name: edges first, then noise. The same sequence on every run. */
#ifndef TF_TEST_SIM_OPERANDS_H
#define TF_TEST_SIM_OPERANDS_H

#include <stdint.h>

uint64_t operand_noise(void);
/* Number of edge values of the type ("s32", "f16x2", "pred", …), and the i-th of them. */
unsigned operand_edges(const char *type);
uint64_t operand_edge(const char *type, unsigned i);
/* An edge, a number near one (of moderate size, so that sums cancel and products do not overflow), or any bits. */
uint64_t operand_value(const char *type);

#endif
