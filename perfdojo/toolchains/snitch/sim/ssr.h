// Stream movers: configuration, address generation, element buffers.
#ifndef PD_SSR_H
#define PD_SSR_H
#include "model.h"
void mover_reset(Mover *m);
void mover_write(Hart *h, uint32_t i, uint32_t word, uint32_t value);
uint32_t mover_read(const Mover *m, uint32_t word);
// Direction of the buffer in this cycle: a job of the other direction waits until all accesses are answered.
static inline bool mover_writes(const Mover *m) {
  return m->q.write != m->was_write && m->credits != FIFO ? m->was_write : m->q.write;
}
static inline bool mover_lane_ok(const Mover *m) { return mover_writes(m) ? m->n < FIFO : m->n > 0; }
enum { WANT_NONE, WANT_DATA, WANT_INDEX };
// What the mover asks of its port in this cycle, and where.
int mover_wants(Mover *m, uint32_t *addr);
// One cycle; granted: the request of mover_wants was granted. False when nothing is left to do.
bool mover_cycle(Hart *h, uint32_t i, int asked, bool granted);
uint64_t mover_pop(Mover *m);                             // one operand read
void mover_push(Mover *m, uint64_t value);                // one result written
#endif
