// Units beside the FP subsystem that take instructions of the integer core, and their answers.
#ifndef PD_UNITS_H
#define PD_UNITS_H
#include "model.h"
// Gives one answer of FPU, multiplier, DMA or movers to the core; true when it was the FPU's.
bool answer_core(Hart *h, bool fpu, const FpuOp *op);
bool offer_unit(Hart *h, const Offload *o);                     // movers and DMA; true when taken
int set_stream_csr(Hart *h, const Dec *d, uint32_t value);      // CSRs 0x7c0 and 0x7c3
void check_frep(Hart *h, const Offload *o, bool issued);        // what the hardware would do wrong is an error
void check_inner(Hart *h, const RingEntry *e);                  // the same, of what issues from a nest of two loops
uint64_t start_divider(Hart *h, const Dec *d);                  // cycle of the result
void muldiv_present(Cluster *c);                                // before the harts' FP subsystems
void muldiv_accept(Cluster *c);                                 // after them
void dma_reset(Dma *d);
bool dma_offer(Hart *h, const Offload *o);
void dma_cycle(Cluster *c);
#endif
