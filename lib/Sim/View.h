/* What a CTA of an adversarial launch sees of global memory: its own weak stores at once, those of other CTAs only when they
 * were let go by a fence or release that reaches beyond their CTA.
 *
 *   CTA ─▶ view ─▶ sectors of 32 bytes that it has written: bytes as the CTA sees them, and which of them are its own
 *
 * Strong accesses (atomic, volatile, relaxed …) go to memory itself, after the sector they touch, and no more than it, has
 * been let go. A view whose CTA has ended is kept until the launch ends, so that ending is no release either. */
#ifndef TF_SIM_VIEW_H
#define TF_SIM_VIEW_H

#include "Sim/Access.h"

typedef struct tf_sector {
  uint64_t number; /* address / 32 */
  uint32_t dirty;  /* bit i: byte i is the CTA's own */
  bool live;       /* else memory itself is looked at */
  unsigned char bytes[32];
} tf_sector;

/* Where lane's access to global memory takes place: in memory at `real`, or in the CTA's view. */
unsigned char *tf_view_pointer(tf_warp *w, const tf_access *a, uint64_t address, const tf_alloc *alloc,
                               unsigned char *real);
/* Lets go of all that the CTA has written. */
void tf_view_release(tf_cta *cta);
/* The CTA has ended. */
void tf_view_retire(tf_cta *cta);
/* The launch has ended: everything reaches memory. */
void tf_view_finish(tf_launch *launch);

#endif
