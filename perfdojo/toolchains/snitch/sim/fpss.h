// FP subsystem of one core: issue, FPU pipelines, write-back.
#ifndef PD_FPSS_H
#define PD_FPSS_H
#include "model.h"
void fpss_reset(Hart *h);
void fpss_cycle(Hart *h);        // also answers of memory and of the other units
bool fpss_quiet(const Hart *h);  // nothing under way
#endif
