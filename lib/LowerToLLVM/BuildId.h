/* Which build of a program or library is running: the note that the linker writes into every object it makes (--build-id), a
 * hash of its contents.
 *
 *   program header PT_NOTE  ─▶  | name size | desc size | type | "GNU\0" | desc: the id |  …      fields of 4 bytes, parts padded to 4
 *
 * It is read from memory, so it belongs to the code that runs, also when the file has been replaced since. */
#ifndef TF_LOWER_BUILD_ID_H
#define TF_LOWER_BUILD_ID_H

#include <stdbool.h>

#define TF_BUILD_ID_TEXT 129 /* 64 bytes in hexadecimal, and a NUL; usual are 20 */

/* The id of the loaded object that holds the address of a function or constant. False if it has none. */
bool tf_build_id(const void *address, char text[TF_BUILD_ID_TEXT]);

#endif
