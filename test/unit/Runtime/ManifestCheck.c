/* Reads one manifest per line of standard input and prints "ok" or the reader's message for each: the reader's half of
 * the comparison with the schema (manifest_schema.py). */
#include <stdio.h>
#include <stdlib.h>

#include "Runtime/Manifest.h"

int main(void) {
  char *line = NULL, message[512];
  size_t room = 0;
  for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
    const tf_manifest *manifest = NULL;
    tf_status status = tf_manifest_read("line", line, (size_t)n, &manifest, message, sizeof message);
    puts(status == TF_OK ? "ok" : message);
    tf_manifest_free(manifest);
  }
  free(line);
  return 0;
}
