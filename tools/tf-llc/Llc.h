/* tf-llc's own pieces. Functions return the exit status of the job: 0 fine, 1 the input is at fault. */
#ifndef TF_LLC_LLC_H
#define TF_LLC_LLC_H

#include <stdio.h>

#include "Options.h"

typedef struct llc_text {
  char *bytes; /* malloc'ed, NUL-terminated */
  size_t length;
} llc_text;

/* Reads a whole file or stdin ("-"). False after a message. */
bool llc_read(const char *path, llc_text *out);
/* Writes all bytes to the file, or to stdout (null or "-"). False after a message. */
bool llc_write(const char *path, const char *bytes, size_t length);

/* The text as parts between lines that begin with "# -----"; each is preceded by as many newlines as lines stand before it,
 * so that its line numbers are the file's. Without split: one part. Free with llc_parts_free. */
typedef struct llc_parts {
  size_t count;
  llc_text *items;
} llc_parts;
llc_parts llc_split(const llc_text *text, bool split);
void llc_parts_free(llc_parts *parts);

/* Compares the context's diagnostics with the expectations in the text; prints what does not match. True if all match. */
bool llc_diagnostics_match(tf_context *context, const char *name, const char *text);

/* Produces what --emit asks for. In a child process if `isolated`, so that a crash of the back end is a message. Text is
 * malloc'ed. */
int llc_emit_module(const llc_options *options, const tf_module *module, bool isolated, llc_text *out);

/* Assembles PTX with the ptxas of the CUDA tools. False after a message that says where they were looked for. */
bool llc_assemble(const char *ptx, size_t length, const char *target, llc_text *out);

/* Prints on stderr what passes took; nothing unless wanted. begin stands before the first pass; pass is a hook of
 * tf_lower_options with the times as user, too; end tells the whole. */
double llc_now(void); /* seconds of a clock that only goes forward */
void llc_times_begin(llc_times *times);
void llc_times_pass(void *times, const char *pass, double seconds);
void llc_times_end(const llc_times *times);

void llc_print_ops(FILE *file, bool markdown);

#endif
