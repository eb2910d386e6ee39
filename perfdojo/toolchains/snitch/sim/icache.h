// Instruction caches: L0 of each hart, L1 of the cluster.
#ifndef PD_ICACHE_H
#define PD_ICACHE_H
#include "model.h"
bool icache_fetch(Hart *h);   // whether the word at the program counter is there in this cycle
void icache_flush(Hart *h);
#endif
