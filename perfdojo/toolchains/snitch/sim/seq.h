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

// The rest is for a nest that runs.
// Whether it ends when the instruction at the head issues.
static inline bool seq_ends(const Seq *s) {
  const Loop *o = &s->loop[0], *i = &s->loop[1];
  return o->inst == o->max_inst && o->iter == o->max_iter && (s->idx == 0 || i->iter == i->max_iter);
}
// Whether the inner loop begins with the next step, issue or not.
static inline bool seq_enters(const Seq *s) { return s->loops == 2 && s->idx == 0 && s->rd == s->loop[1].base; }
void seq_step_nest(Seq *s);  // seq_step between the passes of two loops
// The same inside a pass of the innermost loop or to its next pass.
static inline void seq_step_pass(Seq *s) {
  Loop *l = &s->loop[s->idx];
  if (l->inst < l->max_inst) { l->inst++, s->rd = (s->rd + 1) & (RING - 1); return; }
  l->inst = 0, l->iter++, s->rd = l->base;
  s->stagger = s->stagger == l->smax ? 0 : s->stagger + 1;
}
// Past the instruction that was issued; neither seq_ends nor seq_enters was true.
static inline void seq_step(Seq *s) {
  if (s->loops == 2 && (s->idx == 0 || s->loop[1].iter == s->loop[1].max_iter)) seq_step_nest(s);
  else seq_step_pass(s);
}
#endif
