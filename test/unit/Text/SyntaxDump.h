/* The syntax tree as one line of nested parentheses; CompareSyntax.py makes the same of Python's own tree. */
#ifndef TF_TEST_SYNTAX_DUMP_H
#define TF_TEST_SYNTAX_DUMP_H

#include <stdio.h>

#include "IR/Text/Syntax.h"

void syntax_dump(FILE *out, const tf_node *node);

#endif
