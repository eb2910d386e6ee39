// Event log (flag 4): records of 24 bytes, little endian, in the order of the cycles.
//   u64 cycle; u16 kind; u16 hart; u32 a; u32 b; u32 reserved
// kind             a                                  b
// 1 core issue     pc                                 instruction word
// 2 FPU issue      pc                                 instruction word (with staggered registers)
// 3 frep begins    pc of the frep                     passes
// 4 frep ends      0                                  0
// 5 stream starts  mover, + 256 for a write stream    elements
// 6 stream ends    mover, + 256 for a write stream    0          (all addresses issued)
// 7 DMA starts     transfer id                        bytes
// 8 DMA ends       transfer id                        0
// 9 barrier reached pc                                0
// 10 barrier left  pc                                 0
#ifndef PD_EVENTS_H
#define PD_EVENTS_H
#include "model.h"
enum { EV_CORE = 1, EV_FPU, EV_FREP_BEGIN, EV_FREP_END, EV_STREAM_START, EV_STREAM_END, EV_DMA_START, EV_DMA_END, EV_BARRIER, EV_RELEASED };
void event_write(Cluster *c, uint32_t kind, uint32_t hart, uint32_t a, uint32_t b);
static inline void event(Cluster *c, uint32_t kind, uint32_t hart, uint32_t a, uint32_t b) {
  if (c->events) event_write(c, kind, hart, a, b);
}
#endif
