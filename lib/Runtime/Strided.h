/* Two views element by element, as blocks that a driver can copy.
 *
 *   destination   modes 4:64 8:2 2:1      walked together, a mode of one side may be several of the other; what steps
 *   source        modes 4:32     16:1     evenly on both sides is one:   4 rows of 16 elements, 64 and 32 apart
 *
 * Views with clipped axes, or whose modes do not divide each other, are walked element by element, and neighbours are
 * joined to runs again. All numbers are elements of the views' storages. */
#ifndef TF_RUNTIME_STRIDED_H
#define TF_RUNTIME_STRIDED_H

#include <stdbool.h>

#include "tilefoundry/Compiled.h"
#include "tilefoundry/Status.h"

typedef struct tf_block {
  int64_t source, destination; /* first element */
  int64_t count;               /* elements of a row, contiguous on both sides */
  int64_t rows;
  int64_t source_pitch, destination_pitch; /* between rows, >= count; of one row: 0 */
  bool clipped;                            /* the source's elements are its clip value */
} tf_block;

/* Calls for each block, in C order of their first elements, until one fails. */
typedef tf_status (*tf_block_fn)(void *user, const tf_block *block);

/* TF_LAUNCH, and nothing was called, if a view without clips leaves its storage; *outside says which (0: source). A
 * clipped one is found out when its element is reached. Both have equally many elements, at least one. */
TF_NODISCARD tf_status tf_strided_walk(const tf_compiled_view *source, const tf_compiled_view *destination,
                                       tf_block_fn call, void *user, int *outside);

/* Where an element is: C-order index to position in the storage. */
typedef enum tf_position { TF_POSITION_INSIDE, TF_POSITION_CLIPPED, TF_POSITION_OUTSIDE } tf_position;
tf_position tf_view_position(const tf_compiled_view *view, int64_t index, int64_t *out);

/* Elements of so many axes, none if an extent is 0; -1 if one is negative or the product is no number of 63 bits. */
int64_t tf_extents_count(int64_t rank, const int64_t *shape);
/* Elements of the view; likewise. */
int64_t tf_view_count(const tf_compiled_view *view);
/* Whether the whole view lies inside of its storage, clips disregarded. */
bool tf_view_is_inside(const tf_compiled_view *view);

#endif
