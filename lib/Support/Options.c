/* Option structs of other versions. See Options.h. */
#include "Support/Options.h"

#include <string.h>

/* No struct has more bytes; a size that was never set most likely has. */
#define MAX_SIZE 1024

bool tf_options_read(void *known, size_t known_size, const void *options) {
  if (!options) return true;
  size_t size;
  memcpy(&size, options, sizeof size);
  /* Structs of pointers and sizes end at a multiple of those. */
  if (size < sizeof size || size > MAX_SIZE || size % sizeof size != 0) return false;
  const unsigned char *bytes = options;
  for (size_t i = known_size; i < size; i++)
    if (bytes[i]) return false;
  memcpy(known, options, size < known_size ? size : known_size);
  return true;
}
