// FP subsystem in the middle of loops of arithmetic: the same steps as fpss.c with nothing else to look at.
#ifndef PD_LEAN_H
#define PD_LEAN_H
#include "model.h"
// Whether the nest that runs holds arithmetic of one pipeline only, and nothing handed over can be taken while it runs.
bool lean_possible(Hart *h);
// One cycle. False, with nothing done, when the nest is about to end or something else needs the general rules.
bool lean_cycle(Hart *h);
#endif
