// TCDM banks with their arbiters, and the way of loads and stores of a core to memory.
#include "tcdm.h"
#include <string.h>
#include "memory.h"
#include "ssr.h"

enum { PATH = 8 };  // kind of a request: WANT_* of a mover, or 8 for loads and stores
// Cycles from the request of the merged port to its answer outside the TCDM (properties of the reference test bench).
enum { LAT_MAIN = 8, LAT_PERIPH = 5 };

static uint32_t out_latency(const MemReq *q) { return (where(q->addr) == AT_PERIPH ? LAT_PERIPH : LAT_MAIN) + q->write; }

static MemReq *path_head(Hart *h, bool fp) { return fp ? &h->fp.req[0] : &h->req[0]; }

static void path_take(Hart *h, const MemReq *q, uint64_t when, uint64_t data) {
  MemRsp *r = &h->rq[(h->rq_head + h->rq_n++) & (MEM_PATH - 1)];
  *r = (MemRsp){when, data, q->fp, q->write, q->rd, q->rep};
  if (q->fp) h->fp.req[0] = h->fp.req[1], h->fp.req_n--;
  else h->req[0] = h->req[1], h->req_n--;
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

static void ask(Tcdm *t, uint32_t port, uint32_t addr, uint8_t kind) {
  uint32_t bank = (addr >> 3) & (BANKS - 1);
  t->addr[port] = addr, t->kind[port] = kind;
  t->want[bank] |= 1u << port, t->touched |= 1u << bank;
}

typedef struct { uint8_t path, path_req, mux_req, mover_kind[MOVERS], mux; } Asked;

// Load or store that the merged port presents: 0 none, 1 to the TCDM, 2 elsewhere.
static int path_wants(Hart *h, Asked *a) {
  a->path_req = (uint8_t)((h->req_n0 > 0) | (h->fpreq_n0 > 0) << 1);
  if (!a->path_req || h->rq_n0 >= MEM_PATH) { a->path_req = 0; return 0; }
  a->path = (uint8_t)arb_try(&h->mem_arb, a->path_req);
  return where(path_head(h, a->path)->addr) == AT_TCDM ? 1 : 2;
}

static void hart_asks(Cluster *c, Hart *h, Asked *a) {
  uint32_t port = h->id * MOVERS, addr[MOVERS];
  memset(a, 0, sizeof *a);
  h->req_n0 = h->req_n, h->fpreq_n0 = h->fp.req_n, h->rq_n0 = h->rq_n;
  h->caq_n0 = h->caq_n, h->lrsp_n0 = h->lrsp_n, h->acc_n0 = h->acc_n, h->rsp_n0 = h->rsp_n;
  int path = h->req_n | h->fp.req_n ? path_wants(h, a) : 0;
  uint8_t busy = h->fp.busy_movers;
  for (uint32_t i = 0; i < MOVERS; i++) {
    Mover *m = &h->fp.mover[i];
    h->fp.lane_ok = (uint8_t)((h->fp.lane_ok & ~(1u << i)) | (uint32_t)mover_lane_ok(m) << i);
    if (!(busy >> i & 1)) continue;
    a->mover_kind[i] = (uint8_t)mover_wants(m, &addr[i]);
    if (i && a->mover_kind[i]) ask(&c->tcdm, port + i, addr[i], a->mover_kind[i]);
  }
  a->mux_req = (uint8_t)((a->mover_kind[0] != 0) | (path == 1) << 1);
  if (a->mux_req) {
    a->mux = (uint8_t)arb_try(&h->port_arb, a->mux_req);
    if (a->mux) ask(&c->tcdm, port, path_head(h, a->path)->addr, PATH);
    else ask(&c->tcdm, port, addr[0], a->mover_kind[0]);
  }
  if (path == 2) c->soc.want |= 1u << h->id;
}

// Grants one request a bank; returns the ports granted.
static uint32_t arbitrate(Tcdm *t) {
  uint32_t granted = 0;
  for (uint32_t left = t->touched; left; left &= left - 1) {
    uint32_t b = (uint32_t)__builtin_ctz(left), req = t->want[b];
    bool ready = !t->amo_state[b] && !(t->dma_banks >> b & 1);
    t->accesses += (uint32_t)__builtin_popcount(req);
    t->conflicts += (uint32_t)__builtin_popcount(req) - ready;
    if (ready) granted |= 1u << arb_try(&t->bank[b], req);
    arb_done(&t->bank[b], req, ready);
    t->want[b] = 0;
  }
  for (uint32_t b = 0; t->amo_busy && b < BANKS; b++) {
    if (t->amo_state[b] == 2) t->amo_state[b] = 1;
    else if (t->amo_state[b] == 1 && !(t->dma_banks >> b & 1)) t->amo_state[b] = 0, t->amo_busy &= ~(1u << b);
  }
  t->touched = 0;
  return granted;
}

static void hart_granted(Cluster *c, Hart *h, const Asked *a, uint32_t granted, bool out_granted) {
  uint32_t port = h->id * MOVERS, mine = granted >> port;
  bool path_done = out_granted;
  if (a->mux_req) {
    bool got = mine & 1;
    arb_done(&h->port_arb, a->mux_req, got);
    path_done |= got && a->mux;
  }
  for (uint32_t i = 0; i < MOVERS; i++) {
    if (!(h->fp.busy_movers >> i & 1)) continue;
    bool got = (mine >> i & 1) && !(i == 0 && a->mux);
    if (!mover_cycle(h, i, a->mover_kind[i], got)) h->fp.busy_movers &= (uint8_t)~(1u << i);
  }
  if (!a->path_req) return;
  arb_done(&h->mem_arb, a->path_req, path_done);
  if (!path_done) return;
  const MemReq *q = path_head(h, a->path);
  int at = where(q->addr);
  uint64_t when = c->now + (at == AT_TCDM ? 1 : out_latency(q));
  uint64_t data = at == AT_TCDM ? access_tcdm(c, q) : access_out(c, q);
  path_take(h, q, when, data);
}

// The port out of the cluster holds two accesses at a time. Returns the hart whose access it takes, as a bit.
static uint32_t soc_cycle(Cluster *c, const Asked *asked) {
  Soc *s = &c->soc;
  uint32_t want = s->want;
  s->want = 0;
  int slot = s->busy[0] <= c->now ? 0 : s->busy[1] <= c->now ? 1 : -1;
  if (!want || slot < 0) return 0;
  uint32_t w = arb_try(&s->arb, want);
  arb_done(&s->arb, want, true);
  s->busy[slot] = c->now + out_latency(path_head(&c->hart[w], asked[w].path)) + 1;
  return 1u << w;
}

void memory_cycle(Cluster *c) {
  Asked asked[MAX_HARTS];
  for (uint32_t i = 0; i < c->harts; i++) hart_asks(c, &c->hart[i], &asked[i]);
  uint32_t granted = c->tcdm.touched || c->tcdm.amo_busy ? arbitrate(&c->tcdm) : 0;
  uint32_t out = soc_cycle(c, asked);
  for (uint32_t i = 0; i < c->harts; i++) hart_granted(c, &c->hart[i], &asked[i], granted, out >> i & 1);
}
