// Integer core of one hart.
#ifndef PD_HART_H
#define PD_HART_H
#include "model.h"
void hart_reset(Hart *h, Cluster *c, uint32_t id, uint32_t entry);
void hart_cycle(Hart *h);
// Whether the stall of the last cycle is known to go on.
static inline bool hart_waits(const Hart *h) {
  if (h->needs < NEED_RESULT || h->n0.lrsp | h->n0.rsp) return false;
  return h->needs == NEED_RESULT || h->n0.acc == 2;
}
bool hart_idle(const Hart *h);  // waits for the barrier or loops in place, with nothing under way
void hart_slept(Hart *h);       // counts the cycles since asleep_since
bool hart_page(Hart *h);       // finds the page of the program counter; false after an error
// Value of a CSR and what a write to it does.
uint32_t csr_read(const Hart *h, uint32_t csr);
void csr_write(Hart *h, uint32_t csr, uint32_t value);
uint32_t alu(const Dec *d, uint32_t a, uint32_t b);
bool branch_taken(uint32_t op, uint32_t a, uint32_t b);
#endif
