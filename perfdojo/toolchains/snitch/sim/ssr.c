// Stream movers: configuration, address generation, element buffers.
#include "ssr.h"
#include <string.h>
#include "events.h"
#include "memory.h"

enum { INDEX_WORDS = 3 };

void mover_reset(Mover *m) {
  memset(m, 0, sizeof *m);
  m->q.done = m->s.done = m->was_done = m->config_ok = 1, m->credits = FIFO, m->idx_credits = INDEX_WORDS;
}

static uint64_t elements(const MoverCfg *q) {
  uint64_t n = q->bound[0] + 1;
  for (int d = 1; d <= q->dims && !q->indirect; d++) n *= q->bound[d] + 1;
  return n;
}

// The shadow becomes the running configuration; a job in it starts.
static void take_shadow(Hart *h, uint32_t i) {
  Mover *m = &h->fp.mover[i];
  m->q = m->s, m->s.done = 1;
  memset(m->index, 0, sizeof m->index);
  m->last_sent = 0;
  if (m->q.done) return;
  m->job_elems = elements(&m->q);
  if (m->q.indirect) {
    m->idx_byte = m->q.ptr & 7, m->idx_todo = m->q.bound[0] + 1;
    m->idx_words = ((m->idx_byte + (m->q.bound[0] << m->q.idx_size)) >> 3) + 1;
  }
  event(h->cl, EV_STREAM_START, h->id, i | (uint32_t)m->q.write << 8, (uint32_t)m->job_elems);
}

void mover_write(Hart *h, uint32_t i, uint32_t word, uint32_t v) {
  Mover *m = &h->fp.mover[i];
  MoverCfg *s = &m->s;
  m->steady = 0;
  if (word == 1) s->rep = v & 15;
  else if (word >= 2 && word <= 5) s->bound[word - 2] = v & PTR;
  else if (word >= 6 && word <= 9) s->stride[word - 6] = v & PTR & ~7u;
  else if (word == 10) s->idx_size = v & 3, s->idx_shift = (v >> 8) & 7, s->idx_merge = (v >> 16) & 1;
  else if (word == 11) s->idx_base = v & PTR & ~7u;
  else if (word == 0) {
    s->ptr = v & PTR, s->done = v >> 31, s->write = (v >> 30) & 1, s->dims = (v >> 28) & 3, s->indirect = (v >> 27) & 1;
  } else if (word >= 16) {
    s->ptr = v & PTR, s->done = 0, s->write = (word >> 2) & 1, s->dims = word & 3, s->indirect = !(word & 8);
  }
  if (m->was_done) take_shadow(h, i);
  h->fp.busy_movers |= (uint8_t)(1u << i);
}

uint32_t mover_read(const Mover *m, uint32_t word) {
  const MoverCfg *q = &m->q;
  if (word == 0) return q->ptr | (uint32_t)q->done << 31 | (uint32_t)q->write << 30 | (uint32_t)q->dims << 28 | (uint32_t)q->indirect << 27;
  if (word == 1) return q->rep;
  if (word <= 5) return q->bound[word - 2];
  if (word <= 9) return q->stride[word - 6];
  if (word == 10) return q->idx_size | (uint32_t)q->idx_shift << 8 | (uint32_t)q->idx_merge << 16;
  return word == 11 ? q->idx_base : 0;
}

int mover_wants_index(Mover *m, uint32_t *addr) {
  bool flush = m->q.write != m->was_write && m->credits != FIFO;
  bool data = m->out_n && m->credits && !flush && (m->q.write ? m->n > 0 : m->n < FIFO);
  bool fetch = !m->q.done && !m->last_sent && m->idx_credits;
  m->asks = (uint8_t)(data | fetch << 1);
  if (!m->asks) return WANT_NONE;
  bool index = arb_try(&m->port, m->asks);
  if (index) *addr = TCDM_BASE + (m->q.ptr & ~7u);
  return index ? WANT_INDEX : WANT_DATA;
}

// Puts the next address of an affine job behind the last one.
static void step_affine(Mover *m) {
  MoverCfg *q = &m->q;
  int d = 0;
  while (d <= q->dims && m->index[d] == q->bound[d]) m->index[d++] = 0;
  bool last = d > q->dims;
  m->out[m->out_n].ptr = q->ptr, m->out[m->out_n++].last = last;
  int top = last ? 3 : d;
  q->ptr = (q->ptr + q->stride[top]) & PTR;
  if (last) m->last_sent = 1;
  else m->index[d]++;
}

// Puts the address of the next index behind the last one.
static void step_indirect(Mover *m) {
  const MoverCfg *q = &m->q;
  uint32_t bits = 8u << q->idx_size;
  uint64_t word = m->idx_word[m->idx_head] >> (8 * m->idx_byte);
  uint64_t idx = bits == 64 ? word : word & ((1ull << bits) - 1);
  bool last = --m->idx_todo == 0;
  m->out[m->out_n].ptr = (q->idx_base + ((uint32_t)(idx << 3) << q->idx_shift)) & PTR, m->out[m->out_n++].last = last;
  m->idx_byte = (m->idx_byte + (1u << q->idx_size)) & 7;
  if (last || !m->idx_byte) m->idx_head = (m->idx_head + 1) & 3, m->idx_n--, m->idx_credits++;
}

static void fetch_granted(Cluster *c, Mover *m) {
  memcpy(&m->idx_data, c->tcdm.bytes + (m->q.ptr & ~7u), 8);
  m->idx_rsp = 1, m->idx_credits--;
  if (--m->idx_words == 0) m->last_sent = 1;
  m->q.ptr = (m->q.ptr + 8) & PTR;
}

static void data_granted(Cluster *c, Mover *m, bool *job_ends) {
  uint8_t *place = c->tcdm.bytes + (m->out[0].ptr & ~7u);
  m->was_write = m->q.write;
  *job_ends = m->out[0].last;
  m->out[0] = m->out[1], m->out_n--, m->credits--;
  if (!m->q.write) {
    memcpy(&m->rsp_data, place, 8);
    m->rsp = 1;
    return;
  }
  if (c->tcdm_code) write_bytes(c, (uint32_t)(TCDM_BASE + (place - c->tcdm.bytes)), m->fifo[m->head], 8);
  else memcpy(place, &m->fifo[m->head], 8);
  m->head = (m->head + 1) & (FIFO - 1), m->n--, m->rsp = 1;
}

static bool is_steady(const Cluster *c, const Mover *m) {
  bool last = (m->out_n && m->out[0].last) || (m->out_n > 1 && m->out[1].last);
  bool settled = m->config_ok && !m->was_done;  // these are not looked at while it is steady
  return settled && !m->q.done && m->s.done && !m->last_sent && !m->q.indirect && m->q.write == m->was_write && !last && !c->tcdm_code;
}

bool mover_cycle(Hart *h, uint32_t i, int asked, bool granted) {
  Mover *m = &h->fp.mover[i];
  uint8_t out_n = m->out_n, idx_n = m->idx_n;
  bool done = m->q.done, job_ends = false, answered = m->rsp, read = m->rsp && !m->was_write;
  m->was_done = done, m->config_ok = m->s.done, m->rsp = 0;
  if (read) m->fifo[(m->head + m->n++) & (FIFO - 1)] = m->rsp_data;
  else if (answered) m->credits++;
  if (m->idx_rsp) m->idx_word[(m->idx_head + m->idx_n++) & 3] = m->idx_data, m->idx_rsp = 0;
  bool stepped = !done && !m->last_sent && !m->q.indirect && out_n < 2;
  bool indexed = !done && m->q.indirect && idx_n && m->idx_todo && out_n < 2;
  if (m->q.indirect && m->asks) arb_done(&m->port, m->asks, granted);
  if (granted && asked == WANT_DATA) data_granted(h->cl, m, &job_ends);
  if (stepped) step_affine(m);
  if (indexed) step_indirect(m);
  if (granted && asked == WANT_INDEX) fetch_granted(h->cl, m);
  if (done) {
    take_shadow(h, i);
  } else if (job_ends) {
    m->q.done = 1;
    event(h->cl, EV_STREAM_END, h->id, i | (uint32_t)m->q.write << 8, 0);
  }
  bool busy = !m->q.done || !done || m->rsp || answered || m->out_n || (m->q.write && m->n);
  if (!busy) m->was_done = m->config_ok = 1;
  h->fp.write_lanes = (uint8_t)((h->fp.write_lanes & ~(1u << i)) | (uint32_t)mover_writes(m) << i);
  m->steady = is_steady(h->cl, m) ? (m->q.write ? STEADY_WRITE : STEADY_READ) : 0;
  return busy;
}
