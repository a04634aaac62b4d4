/* The verifier's inside: one function per op, grouped by family in files of the family's name, and the state that they
 * share. The driver (Driver.c) walks functions, keeps the scopes, and calls them. */
#ifndef TF_VERIFY_VERIFY_H
#define TF_VERIFY_VERIFY_H

#include <tilefoundry/Verify.h>

#include "IR/Nodes.h"

typedef struct tf_verifier tf_verifier;

typedef void tf_verify_op_fn(tf_verifier *verifier, const tf_invocation *invocation);

#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) tf_verify_op_fn tf_verify_##ID;
#include <tilefoundry/Ops.def>

#endif
