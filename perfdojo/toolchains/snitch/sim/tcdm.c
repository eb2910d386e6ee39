// TCDM banks with their arbiters, and the way of loads and stores of a core to memory.
#include "tcdm.h"
#include <string.h>
#include "doze.h"
#include "memory.h"
#include "ssr.h"

// Cycles from the request of the merged port to its answer outside the TCDM (properties of the reference test bench).
enum { LAT_MAIN = 8, LAT_PERIPH = 5 };

static uint32_t out_latency(const MemReq *q) { return (where(q->addr) == AT_PERIPH ? LAT_PERIPH : LAT_MAIN) + q->write; }

static MemReq *path_head(Hart *h, bool fp) { return fp ? &h->fp.req[0] : &h->req[0]; }

static void path_take(Hart *h, const MemReq *q, uint64_t when, uint64_t data) {
  MemRsp *r = &h->rq[(h->rq_head + h->n.rq++) & (MEM_PATH - 1)];
  *r = (MemRsp){when, data, q->fp, q->write, q->rd, q->rep};
  if (q->fp) h->fp.req[0] = h->fp.req[1], h->n.fpreq--;
  else h->req[0] = h->req[1], h->n.req--;
}

// Picks and places the bytes of an aligned double word as the load asks.
static uint64_t extract(const MemReq *q, uint64_t word) {
  uint64_t v = word >> (8 * (q->addr & 7));
  int shift = 64 - (8 << q->size);
  if (!shift) return v;
  if (q->fp) return v | ~(~UINT64_C(0) >> shift);
  return q->sign ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

static uint64_t access_tcdm(Cluster *c, const MemReq *q) {
  Tcdm *t = &c->tcdm;
  uint32_t bank = (q->addr >> 3) & (BANKS - 1);
  uint64_t word;
  memcpy(&word, bytes_at(c, q->addr & ~7u), 8);
  bool keeps = t->lr[bank].valid && t->lr[bank].hart == q->hart;
  if ((q->write || (q->amo && q->amo < AMO_LR)) && !keeps && t->lr[bank].addr == (q->addr & ~7u)) t->lr[bank].valid = 0;
  if (q->write) {
    write_bytes(c, q->addr, q->data, 1u << q->size);
    return 0;
  }
  uint64_t old = extract(q, word);
  if (q->amo == AMO_LR && (!t->lr[bank].valid || keeps)) {
    t->lr[bank].addr = q->addr & ~7u, t->lr[bank].hart = q->hart, t->lr[bank].valid = 1;
  } else if (q->amo == AMO_SC) {
    bool good = keeps && t->lr[bank].addr == (q->addr & ~7u);
    if (keeps) t->lr[bank].valid = 0;
    if (good) write_bytes(c, q->addr, q->data, 4);
    return !good;
  } else if (q->amo && q->amo != AMO_LR) {
    write_bytes(c, q->addr, amo_result(q->amo, (uint32_t)old, (uint32_t)q->data), 4);
    t->amo_state[bank] = 2, t->amo_busy |= 1u << bank;
  }
  return old;
}

static uint64_t access_out(Cluster *c, const MemReq *q) {
  uint64_t old = extract(q, load64(c, q->addr & ~7u));
  if (q->write) { store_out(c, q); return 0; }
  if (q->amo && q->amo < AMO_LR) {
    MemReq s = *q;
    s.data = amo_result(q->amo, (uint32_t)old, (uint32_t)q->data);
    store_out(c, &s);
  }
  return old;
}

static inline void ask(Tcdm *t, uint32_t port, uint32_t addr) {
  uint32_t bank = (addr >> 3) & (BANKS - 1);
  t->clash |= t->touched & 1u << bank;
  t->want[bank] |= 1u << port, t->touched |= 1u << bank, t->asks++;
}

typedef struct { uint8_t path, path_req, mux_req, mux, kind[MOVERS]; } Asked;

// Load or store that the merged port presents: 0 none, 1 to the TCDM, 2 elsewhere.
static int path_wants(Hart *h, Asked *a) {
  a->path_req = (uint8_t)((h->n0.req > 0) | (h->n0.fpreq > 0) << 1);
  if (!a->path_req || h->n0.rq >= MEM_PATH) { a->path_req = 0; return 0; }
  a->path = (uint8_t)arb_try(&h->mem_arb, a->path_req);
  return path_head(h, a->path)->addr - TCDM_BASE < TCDM_BYTES || where(path_head(h, a->path)->addr) == AT_TCDM ? 1 : 2;
}

static void hart_asks(Cluster *c, Hart *h, Asked *a) {
  Fpss *f = &h->fp;
  uint32_t port = h->id * MOVERS, addr = 0, addr0 = 0;
  a->path_req = a->mux_req = a->mux = a->kind[0] = a->kind[1] = a->kind[2] = 0;
  int path = h->n.req | h->n.fpreq ? path_wants(h, a) : 0;
  for (uint32_t left = f->busy_movers; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    Mover *m = &f->mover[i];
    f->lane_ok = (uint8_t)((f->lane_ok & ~(1u << i)) | (uint32_t)mover_lane_ok(m) << i);
    a->kind[i] = (uint8_t)mover_wants(m, &addr);
    if (!i) addr0 = addr;
    else if (a->kind[i]) ask(&c->tcdm, port + i, addr);
  }
  if (path == 2) c->soc.want |= 1u << h->id;
  a->mux_req = (uint8_t)((a->kind[0] != 0) | (path == 1) << 1);
  if (!a->mux_req) return;
  a->mux = (uint8_t)arb_try(&h->port_arb, a->mux_req);
  if (a->mux) ask(&c->tcdm, port, path_head(h, a->path)->addr);
  else ask(&c->tcdm, port, addr0);
}

static void step_atomics(Tcdm *t) {
  for (uint32_t left = t->amo_busy; left; left &= left - 1) {
    uint32_t b = (uint32_t)__builtin_ctz(left);
    if (t->amo_state[b] == 2) t->amo_state[b] = 1;
    else if (!(t->dma_banks >> b & 1)) t->amo_state[b] = 0, t->amo_busy &= ~(1u << b);
  }
}

// Grants one request a bank; returns the ports granted.
static uint32_t arbitrate(Tcdm *t) {
  uint32_t granted = 0, grants = 0, closed = t->amo_busy | t->dma_banks;
  if (!(closed | t->clash | t->locked)) {  // one request a bank at most
    for (uint32_t left = t->touched; left; left &= left - 1) {
      uint32_t b = (uint32_t)__builtin_ctz(left);
      granted |= t->want[b], t->bank[b].rr = (uint8_t)__builtin_ctz(t->want[b]), t->want[b] = 0;
    }
    t->accesses += t->asks, t->touched = t->asks = 0;
    return granted;
  }
  for (uint32_t left = t->touched; left; left &= left - 1) {
    uint32_t b = (uint32_t)__builtin_ctz(left), req = t->want[b];
    Arb *a = &t->bank[b];
    t->want[b] = 0;
    if (closed >> b & 1) { arb_done(a, req, false), t->locked |= 1u << b; continue; }
    grants++, t->locked &= ~(1u << b);
    granted |= 1u << arb_try(a, req);
    arb_done(a, req, true);
  }
  t->accesses += t->asks, t->conflicts += t->asks - grants;
  t->touched = t->asks = t->clash = 0;
  return granted;
}

static void path_granted(Cluster *c, Hart *h, const Asked *a) {
  const MemReq *q = path_head(h, a->path);
  bool tcdm = where(q->addr) == AT_TCDM;
  uint64_t when = c->now + (tcdm ? 1 : out_latency(q));
  path_take(h, q, when, tcdm ? access_tcdm(c, q) : access_out(c, q));
}

static void hart_granted(Cluster *c, Hart *h, const Asked *a, uint32_t mine, bool path_done) {
  if (a->mux_req) {
    bool got = mine & 1;
    arb_done(&h->port_arb, a->mux_req, got);
    if (a->mux) path_done |= got, mine &= ~1u;
  }
  for (uint32_t left = h->fp.busy_movers; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    if (!mover_step(h, i, &h->fp.mover[i], a->kind[i], mine >> i & 1)) h->fp.busy_movers &= (uint8_t)~(1u << i);
  }
  if (!a->path_req) return;
  arb_done(&h->mem_arb, a->path_req, path_done);
  if (path_done) path_granted(c, h, a);
}

static void wake_to_grant(Hart *h, Asked *a) {
  doze_end(h);
  h->n0 = h->n;
  *a = (Asked){0};
  path_wants(h, a);
}

// The port out of the cluster holds two accesses at a time. Returns the hart whose access it takes, as a bit.
static uint32_t soc_cycle(Cluster *c, Asked *asked) {
  Soc *s = &c->soc;
  uint32_t want = s->want | s->dozing;
  s->want = 0;
  int slot = s->busy[0] <= c->now ? 0 : s->busy[1] <= c->now ? 1 : -1;
  if (!want || slot < 0) return 0;
  uint32_t w = arb_try(&s->arb, want);
  arb_done(&s->arb, want, true);
  if (c->dozing >> w & 1) wake_to_grant(&c->hart[w], &asked[w]);
  s->busy[slot] = c->now + out_latency(path_head(&c->hart[w], asked[w].path)) + 1;
  return 1u << w;
}

typedef struct { Hart *h; Mover *m; uint8_t i, kind; uint16_t port; } Slot;

// Requests of the movers of a hart that has no load or store waiting.
static uint32_t movers_ask(Cluster *c, Hart *h, Slot *slot) {
  Fpss *f = &h->fp;
  uint32_t n = 0, ok = f->lane_ok;
  for (uint32_t left = f->busy_movers; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left), addr;
    Mover *m = &f->mover[i];
    uint32_t lane;
    uint8_t kind;
    if (m->steady == STEADY_READ) {
      addr = TCDM_BASE + m->out[0].ptr, lane = m->n > 0, kind = m->out_n && m->credits;
    } else {
      lane = mover_lane_ok(m), kind = (uint8_t)mover_wants(m, &addr);
    }
    ok = (ok & ~(1u << i)) | lane << i;
    slot[n++] = (Slot){h, m, (uint8_t)i, kind, (uint16_t)(h->id * MOVERS + i)};
    if (kind) ask(&c->tcdm, h->id * MOVERS + i, addr);
  }
  f->lane_ok = (uint8_t)ok;
  return n;
}

static inline void slot_done(const Slot *s, uint32_t granted) {
  bool got = granted >> s->port & 1;
  if (!s->i && s->kind) s->h->port_arb = got ? (Arb){0, 0, 0} : (Arb){1, s->h->port_arb.rr, 1};
  if (!mover_step(s->h, s->i, s->m, s->kind, got)) s->h->fp.busy_movers &= (uint8_t)~(1u << s->i);
}

void memory_cycle(Cluster *c) {
  Asked asked[MAX_HARTS];
  Slot slot[MAX_HARTS * MOVERS];
  uint32_t paths = 0, slots = 0;
  for (uint32_t left = c->awake; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    Hart *h = &c->hart[i];
    h->n0 = h->n;
    if (h->n.req | h->n.fpreq) paths |= 1u << i, hart_asks(c, h, &asked[i]);
    else if (h->fp.busy_movers) slots += movers_ask(c, h, slot + slots);
  }
  uint32_t granted = c->tcdm.touched ? arbitrate(&c->tcdm) : 0;
  if (c->tcdm.amo_busy) step_atomics(&c->tcdm);
  for (uint32_t k = 0; k < slots; k++) slot_done(&slot[k], granted);
  uint32_t out = c->soc.want | c->soc.dozing ? soc_cycle(c, asked) : 0;
  for (paths |= out; paths; paths &= paths - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(paths);
    hart_granted(c, &c->hart[i], &asked[i], (granted >> (i * MOVERS)) & 7, out >> i & 1);
  }
}
