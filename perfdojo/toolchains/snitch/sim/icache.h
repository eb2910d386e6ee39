// Instruction caches: L0 of each hart with its prefetcher, L1 of the cluster.
#ifndef PD_ICACHE_H
#define PD_ICACHE_H
#include "model.h"
void icache_cycle(Cluster *c);   // before the harts: sets l0.hit of each
void icache_flush(Hart *h);      // fence.i
#endif
