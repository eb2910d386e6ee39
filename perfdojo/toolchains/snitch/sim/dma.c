// DMA engine: transfers of rows in 64-byte beats, one a cycle; a beat in the TCDM takes the eight banks of its quarter.
#include <string.h>
#include "events.h"
#include "memory.h"
#include "units.h"

enum { BEAT = 64, FIRST_ID = 2 };
enum { DMSRC, DMDST, DMCPYI, DMCPY, DMSTATI, DMSTAT, DMSTR, DMREP, DMUSER };

void dma_reset(Dma *d) {
  memset(d, 0, sizeof *d);
  d->next_id = FIRST_ID, d->done_id = FIRST_ID - 1;
}

static bool in_tcdm(uint32_t a) { return where(a) == AT_TCDM; }

// Cycles from the instruction's arrival to the first beat, and from the last beat to the end of the transfer.
// Measured; between two places of main memory a beat takes two cycles.
static uint32_t lead(const DmaJob *j) { return in_tcdm(j->src) ? 5 : in_tcdm(j->dst) ? 8 : 6; }
static bool outside(const DmaJob *j) { return !in_tcdm(j->src) && !in_tcdm(j->dst); }
enum { TAIL = 4 };

static void answer(Hart *h, const Offload *o, uint32_t v) { h->answers |= 1u << FROM_DMA, h->dma_rd = o->dec->rd, h->dma_data = v; }

static bool check_job(Hart *h, const Offload *o, const DmaJob *j) {
  uint64_t rows = j->reps ? j->reps : 1;
  const uint32_t ends[4] = {j->src, (uint32_t)(j->src + j->sstr * (rows - 1)) + j->size - 1, j->dst, (uint32_t)(j->dst + j->dstr * (rows - 1)) + j->size - 1};
  for (int i = 0; i < 4; i++) {
    int at = where(ends[i]);
    bool good = at == AT_TCDM || at == AT_MAIN || (i < 2 && at == AT_ZERO);
    if (good && at == where(ends[i & 2])) continue;
    fail(h->cl, h, o->pc, o->dec->word, "DMA transfer touches address 0x%08x, outside memory", ends[i]);
    return false;
  }
  return true;
}

static bool start(Hart *h, const Offload *o, uint32_t config) {
  Dma *d = &h->cl->dma;
  if (d->n >= DMA_QUEUE) return false;
  DmaJob j = d->set;
  bool flat = !(config & 2);
  j.size = o->a;
  if (flat) j.reps = 1, j.sstr = j.dstr = 0;
  j.id = d->next_id++;
  j.when = h->cl->now;
  answer(h, o, j.id);
  if (j.size && j.reps) {
    if (!check_job(h, o, &j)) return false;
    d->queue[(d->head + d->n++) % DMA_QUEUE] = j;
  } else {
    d->done_id = j.id;
  }
  event(h->cl, EV_DMA_START, h->id, j.id, j.size * j.reps);
  return true;
}

bool dma_offer(Hart *h, const Offload *o) {
  Dma *d = &h->cl->dma;
  const Dec *dec = o->dec;
  if (dec->uses & USE_RD && h->answers >> FROM_DMA & 1) return false;
  uint32_t sel = dec->sub == DMSTATI || dec->sub == DMCPYI ? dec->rs2 : o->b;
  switch (dec->sub) {
    case DMSRC: d->set.src = o->a; break;
    case DMDST: d->set.dst = o->a; break;
    case DMSTR: d->set.sstr = o->a, d->set.dstr = o->b; break;
    case DMREP: d->set.reps = o->a; break;
    case DMCPYI: case DMCPY: return start(h, o, sel);
    case DMSTATI: case DMSTAT:
      answer(h, o, sel == 0 ? d->done_id : sel == 1 ? d->next_id : sel == 2 ? d->n > 0 || d->fin_n > 0 : d->n >= DMA_QUEUE);
      break;
    default: break;
  }
  return true;
}

static void take_banks(Cluster *c, uint32_t addr) {
  if (in_tcdm(addr)) c->tcdm.dma_banks |= 0xffu << ((addr >> 3) & 24);
}

static void copy(Cluster *c, uint32_t dst, uint32_t src, uint32_t n) {
  for (uint32_t i = 0, step; i < n; i += step) {
    uint64_t v = 0;
    step = n - i < 8 ? n - i : 8;
    for (uint32_t k = 0; k < step; k++) {
      const uint8_t *p = bytes_at(c, src + i + k);
      v |= (uint64_t)(p ? *p : 0) << (8 * k);
    }
    write_bytes(c, dst + i, v, step);
  }
}

// One beat of the job at the head: up to the next 64-byte boundary of the destination.
static void beat(Cluster *c, Dma *d, DmaJob *j) {
  uint32_t src = j->src + d->row * j->sstr + d->off, dst = j->dst + d->row * j->dstr + d->off;
  uint32_t n = BEAT - (dst & (BEAT - 1));
  if (n > j->size - d->off) n = j->size - d->off;
  take_banks(c, src), take_banks(c, dst);
  copy(c, dst, src, n);
  d->bytes_moved += n, d->off += n;
  d->hold = outside(j) ? c->now + 2 : 0;
  if (d->off < j->size) return;
  d->off = 0;
  if (++d->row < j->reps) {
    uint64_t ready = d->row_start + 3 * d->row / 2;  // rows follow each other every 1.5 cycles at best
    if (ready > d->hold) d->hold = ready;
    return;
  }
  d->row = 0, d->last_beat = c->now, d->last_lead = lead(j);
  d->fin[d->fin_n].when = c->now + TAIL, d->fin[d->fin_n++].id = j->id;
  d->head = (d->head + 1) % DMA_QUEUE, d->n--;
}

void dma_cycle(Cluster *c) {
  Dma *d = &c->dma;
  c->tcdm.dma_banks = 0;
  if (!d->n && !d->fin_n) return;
  d->busy_cycles++;
  if (d->fin_n && d->fin[0].when <= c->now) {
    d->done_id = d->fin[0].id;
    event(c, EV_DMA_END, c->cores, d->done_id, 0);
    d->fin_n--;
    memmove(d->fin, d->fin + 1, d->fin_n * sizeof *d->fin);
  }
  if (!d->n) return;
  DmaJob *j = &d->queue[d->head];
  if (c->now < j->when + lead(j) || c->now < d->hold) return;
  if (!d->row && !d->off && c->now < d->last_beat + 1 + lead(j) - d->last_lead) return;  // its reads follow those of the last one
  if (!d->row && !d->off) d->row_start = c->now;
  beat(c, d, j);
}
