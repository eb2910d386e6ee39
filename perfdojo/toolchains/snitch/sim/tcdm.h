// TCDM banks with their arbiters, and the way of loads and stores of a core to memory.
#ifndef PD_TCDM_H
#define PD_TCDM_H
#include "model.h"
void memory_cycle(Cluster *c);   // requests of all ports, arbitration, accesses
#endif
