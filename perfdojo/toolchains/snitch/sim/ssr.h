// Stream movers: configuration, address generation, element buffers.
#ifndef PD_SSR_H
#define PD_SSR_H
#include <string.h>
#include "model.h"
enum { PTR = 0x1ffff };       // pointers are offsets inside the TCDM
void mover_reset(Mover *m);
void mover_write(Hart *h, uint32_t i, uint32_t word, uint32_t value);
uint32_t mover_read(const Mover *m, uint32_t word);
enum { STEADY_READ = 1, STEADY_WRITE };  // an affine job in the middle of its innermost loop, nothing else to look at
// Direction of the buffer in this cycle: a job of the other direction waits until all accesses are answered.
static inline bool mover_writes(const Mover *m) {
  return m->q.write != m->was_write && m->credits != FIFO ? m->was_write : m->q.write;
}
static inline bool mover_lane_ok(const Mover *m) {
  if (m->steady) return m->steady == STEADY_READ ? m->n > 0 : m->n < FIFO;
  return mover_writes(m) ? m->n < FIFO : m->n > 0;
}
enum { WANT_NONE, WANT_DATA, WANT_INDEX };
int mover_wants_index(Mover *m, uint32_t *addr);          // the same for a job with indices
// What the mover asks of its port in this cycle, and where.
static inline int mover_wants(Mover *m, uint32_t *addr) {
  *addr = TCDM_BASE + m->out[0].ptr;
  if (m->steady) return m->out_n && m->credits && (m->steady == STEADY_READ || m->n);
  if (m->q.indirect) return mover_wants_index(m, addr);
  bool flush = m->q.write != m->was_write && m->credits != FIFO;
  return m->out_n && m->credits && !flush && (m->q.write ? m->n > 0 : m->n < FIFO);
}
// One cycle; granted: the request of mover_wants was granted. False when nothing is left to do.
bool mover_cycle(Hart *h, uint32_t i, int asked, bool granted);
// The same, quick in the middle of the innermost loop. There a mover with nothing to fetch or nothing to write rests until
// an element is read or comes.
static inline bool mover_step(Hart *h, uint32_t i, Mover *m, int asked, bool granted) {
  if (!m->steady || m->index[0] >= m->q.bound[0]) return mover_cycle(h, i, asked, granted);
  bool read = m->steady == STEADY_READ, room = m->out_n < 2;
  if (!room && !m->rsp && !granted) return read ? m->credits : m->n;
  if (m->rsp) {
    if (read) m->fifo[(m->head + m->n++) & (FIFO - 1)] = m->rsp_data;
    else m->credits++;
  }
  m->rsp = granted;
  if (granted) {
    uint8_t *place = h->cl->tcdm.bytes + (m->out[0].ptr & ~7u);
    m->out[0] = m->out[1], m->out_n--, m->credits--;
    if (read) memcpy(&m->rsp_data, place, 8);
    else memcpy(place, &m->fifo[m->head], 8), m->head = (m->head + 1) & (FIFO - 1), m->n--;
  }
  if (!room) return true;
  m->out[m->out_n].ptr = m->q.ptr, m->out[m->out_n++].last = 0;
  m->q.ptr = (m->q.ptr + m->q.stride[0]) & PTR, m->index[0]++;
  return true;
}
// One operand read from mover i.
static inline uint64_t mover_pop(Fpss *f, uint32_t i) {
  Mover *m = &f->mover[i];
  uint64_t v = m->fifo[m->head];
  if (m->rep < m->q.rep) { m->rep++; return v; }
  m->rep = 0, m->head = (m->head + 1) & (FIFO - 1), m->n--, m->credits++;
  f->busy_movers |= (uint8_t)(1u << i);
  return v;
}
// One result written.
static inline void mover_push(Mover *m, uint64_t v) { m->fifo[(m->head + m->n++) & (FIFO - 1)] = v; }
#endif
