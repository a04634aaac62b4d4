/* Columns of MmaAtoms.def that the verifier and the lowering read. An atom and every tile of it answer alike. */
#ifndef TF_IR_MMA_ATOM_H
#define TF_IR_MMA_ATOM_H

#include <tilefoundry/IR.h>

#include "IR/Ownership.h"

/* Names in the table's order; null past the end. For messages, look-ups by layout, and tests. */
const char *tf_mma_atom_known_name(unsigned index);
const char *tf_mma_atom_intrinsic(const tf_mma_atom *atom); /* LLVM's name */
unsigned tf_mma_atom_min_sm(const tf_mma_atom *atom);       /* e.g. 80 */
unsigned tf_mma_atom_min_ptx(const tf_mma_atom *atom);      /* PTX ISA version times 10 */

/* The instruction's operand ('A', 'B', 'C') as local value numbers of the instruction's fragment: entry i is the local
 * number of the operand's i-th value; 32 / bits of the dtype neighbours share a register, the lower part first. Static
 * storage. */
unsigned tf_mma_atom_registers(const tf_mma_atom *atom, char operand, const unsigned char **out);
/* Rows and columns of an operand's matrix, of the tile if it is one: A M x K, B K x N, C M x N. */
void tf_mma_atom_matrix(const tf_mma_atom *atom, char operand, int64_t *rows, int64_t *columns);
/* Whether what a thread owns of an operand is the atom's fragment, factor by factor: a window of an array of fragments owns
 * what a lone fragment owns, whatever its layout was written like. owned may be null: false. */
bool tf_mma_atom_owns(tf_context *context, const tf_mma_atom *atom, char operand, const tf_ownership *owned);
/* The matrix in the last two axes, all static and 1 before them; false otherwise. */
bool tf_mma_matrix_of(const tf_type *type, int64_t *rows, int64_t *columns);
/* The instruction or tile that an mma without atom= means on targets from `sm`, e.g. 80. Operands in the order C, A, B; owned: null for windows in shared
 * memory. Null if there is none. */
#define TF_MMA_OPERANDS 3
const tf_mma_atom *tf_mma_atom_implied(tf_context *context, unsigned sm, const tf_type *const types[TF_MMA_OPERANDS],
                                       const tf_ownership *const owned[TF_MMA_OPERANDS]);
/* Whether the atom is this context's; see Belongs.h. */
bool tf_mma_atom_belongs(tf_context *context, const tf_mma_atom *atom);

#endif
