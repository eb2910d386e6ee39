// FP subsystem of one core: issue, FPU pipelines, write-back.
#ifndef PD_FPSS_H
#define PD_FPSS_H
#include "model.h"
void fpss_reset(Hart *h);
void fpss_cycle(Hart *h);        // also answers of memory and of the other units
// The cause of the stall that the next cycle counts and in which nothing else happens, 0 for no cause; -1 when it may act.
// Asked when nothing is in the pipelines and no loop runs; an answer of memory may come later than in the next cycle.
int fpss_stays(const Hart *h);
// The instruction with the register fields that mask selects moved by n; the new word may even be another instruction.
const Dec *stagger(Hart *h, const Dec *d, uint32_t mask, uint32_t n);
// Nothing under way.
static inline bool fpss_quiet(const Hart *h) {
  return !(h->fp.pipes | h->fp.seq.count | h->n.acc | h->n.rq | h->answers);
}
#endif
