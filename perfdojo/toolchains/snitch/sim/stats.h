// Counters of issues and stalls, and the report.
#ifndef PD_STATS_H
#define PD_STATS_H
#include <stdio.h>
#include "model.h"
PcStat *stat_of(Cluster *c, uint32_t pc);
// One cycle of the integer core, respectively the FP subsystem, with the instruction at pc; why: ST_*, FS_* or 0.
static inline void count_core(Hart *h, uint32_t pc, int why) {
  if (why) h->stalls[why]++;
  else h->instret++;
  if (!(h->cl->flags & F_STATS)) return;
  PcStat *s = stat_of(h->cl, pc);
  s->cycles++;
  if (why) s->stalls[why]++;
  else s->count++;
}
static inline void count_fpu(Hart *h, uint32_t pc, int why) {
  if (why) h->stalls[why]++;
  if (!(h->cl->flags & F_STATS)) return;
  PcStat *s = stat_of(h->cl, pc);
  if (why) s->stalls[why]++;
  else s->fpu++;
}
void report(Cluster *c, FILE *out);
#endif
