// The cluster: all harts and what they share, stepped together.
#ifndef PD_CLUSTER_H
#define PD_CLUSTER_H
#include "model.h"
Cluster *cluster_new(uint32_t cores, uint32_t flags, uint32_t entry);
void cluster_run(Cluster *c);
#endif
