// Harts of which the next cycles are known to count stalls only: they are left out until something comes.
#ifndef PD_DOZE_H
#define PD_DOZE_H
#include "model.h"
void doze_try(Hart *h);                 // at the end of a cycle in which the integer core stalled
void doze_end(Hart *h);                 // before the cycle in which something comes; counts the stalls
void doze_end_due(Cluster *c);          // of all whose answer from memory is due
// The first look, for the many that are busy.
static inline bool may_doze(const Hart *h) { return h->needs && !(h->fp.pipes | h->fp.busy_movers | h->fp.seq.loops); }
#endif
