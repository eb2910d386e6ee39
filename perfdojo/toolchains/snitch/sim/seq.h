// Sequencer between the integer core and the FP subsystem: ring buffer and two nested hardware loops.
#ifndef PD_SEQ_H
#define PD_SEQ_H
#include "model.h"
static inline uint8_t seq_wr(const Seq *s) { return (s->base + s->count) & (RING - 1); }
// Entry to issue next, NULL when none is held at the read pointer.
static inline const RingEntry *seq_head(const Seq *s) {
  return ((s->rd - s->base) & (RING - 1)) < s->count ? &s->ring[s->rd] : 0;
}
// Whether a frep would be accepted in this cycle (state at its start).
bool seq_takes_frep(const Seq *s);
// One cycle: whether the head was issued, an entry to append or NULL, a frep to accept or NULL. True when the nest ends.
bool seq_cycle(Seq *s, bool issued, const Offload *append, const Offload *frep);
#endif
