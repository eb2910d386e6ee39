// Instruction caches: L0 of each hart with its prefetcher, L1 of the cluster.
#include "icache.h"
#include <string.h>
#include "hart.h"

enum { LINE_BITS = 6, LINES = 8, EARLY = 0x3f, SETS = 128, REFILL = 8, INIT = 128 };  // EARLY: line bits of the first tag compare

// Line that the prefetcher wants when the core is at pc: target of the next jump of this line that is predicted taken, else the next line.
static uint32_t predict(const Page *p, uint32_t pc) {
  const uint32_t mask = (1u << PAGE_BITS) - 1;
  for (uint32_t a = pc; a >> LINE_BITS == pc >> LINE_BITS; a += 4) {
    uint32_t w;
    Dec d;
    memcpy(&w, p->bytes + (a & mask), 4);
    bool jal = (w & 0x7f) == 0x6f, back = (w & 0x7f) == 0x63 && (w >> 31) && (w & 0x6000) != 0x2000;
    if (!jal && !back) continue;
    decode(&d, w, false);
    return (a + (uint32_t)d.imm) >> LINE_BITS;
  }
  return (pc >> LINE_BITS) + 1;
}

static uint32_t target_of(Hart *h) {
  uint32_t *slot = &h->page->target[(h->pc >> 2) & (PAGE_WORDS - 1)];
  if (!*slot) *slot = predict(h->page, h->pc) + 1;
  return *slot - 1;
}

typedef struct { uint8_t hit, early; bool hit_target; } Match;

static Match match(const L0 *l, uint32_t line, uint32_t target) {
  Match m = {0};
  for (uint32_t i = 0; i < LINES; i++) {
    if (!(l->valid >> i & 1)) continue;
    m.hit |= (uint8_t)((l->tag[i] == line) << i);
    m.early |= (uint8_t)((((l->tag[i] ^ line) & EARLY) == 0) << i);
    m.hit_target |= l->tag[i] == target;
  }
  return m;
}

static void evict(L0 *l, uint32_t line, uint8_t early) {
  uint8_t way = 1u << l->next;
  l->next = (l->next + 1) & (LINES - 1);
  if (way == early) way = 1u << l->next, l->next = (l->next + 1) & (LINES - 1);
  l->valid &= (uint8_t)~way, l->pending_way = way;
  l->tag[__builtin_ctz(way)] = line;
}

// What the L0 of a hart asks of the L1 in this cycle.
typedef struct { bool miss, latch, asks; uint32_t line; } Ask;

static Ask l0_look(Hart *h) {
  L0 *l = &h->l0;
  Ask a = {0};
  uint32_t line = h->pc >> LINE_BITS, target = target_of(h);
  bool valid = !h->wait_barrier && h->cl->now >= h->resume;
  if (line == l->calm_line && target == l->calm_target) { l->hit = 1, l->calm_pc = h->pc; return a; }
  Match m = match(l, line, target);
  bool one = !(m.early & (m.early - 1));
  l->hit = m.hit != 0;
  a.miss = !m.hit && valid && !l->pending;
  a.latch = m.hit && !m.hit_target && one && !l->pending && !l->pre_valid;
  if (m.hit && !one) l->valid &= (uint8_t)~(m.early & ~m.hit);
  a.asks = a.miss || l->pre_valid;
  a.line = a.miss ? line : l->pre_line;
  if (a.miss && !l->was_miss) evict(l, line, m.early);
  if (a.latch && !l->was_latch) evict(l, target, m.early);
  l->was_miss = a.miss, l->was_latch = a.latch;
  if (a.latch) l->new_line = target;
  bool calm = m.hit && one && m.hit_target && !l->pending && !l->pre_valid;
  l->calm_line = calm ? line : 0, l->calm_target = target, l->calm_pc = calm ? h->pc : 1;
  return a;
}

// End of the cycle for an L0: its request was accepted, its line has come.
static void l0_update(L0 *l, const Ask *a, bool accepted, bool arrived) {
  if (arrived) l->valid |= l->pending_way;
  if (l->pending) {
    if (arrived) l->pending = 0;
  } else if ((a->miss && accepted) || a->latch) {
    l->pending = 1;
  }
  if (accepted && !a->miss) l->pre_valid = 0;
  if (a->latch) l->pre_valid = 1, l->pre_line = l->new_line;
}

static int l1_way(const L1 *l, uint32_t line) {
  uint32_t set = line & (SETS - 1);
  for (int w = 0; w < 2; w++) {
    if (l->valid[w][set] && l->tag[w][set] == line) return w;
  }
  return -1;
}

// Miss of the line looked up: joins a refill under way or starts one; false when both refills are taken.
static bool l1_miss(Cluster *c) {
  L1 *l = &c->l1;
  for (int i = 0; i < l->refills; i++) {
    if (l->refill[i].line == l->look_line) { l->refill[i].ids |= l->look_ids; return true; }
  }
  if (l->refills == 2) return false;
  uint64_t when = c->now + REFILL;
  l->refill[l->refills].line = l->look_line, l->refill[l->refills].ids = l->look_ids;
  l->refill[l->refills++].when = when;
  return true;
}

// One cycle of the L1; asks: harts with a request. Returns the harts whose line has come, *granted the one accepted.
static uint32_t l1_cycle(Cluster *c, const Ask *ask, uint32_t asks, uint32_t *granted) {
  L1 *l = &c->l1;
  uint32_t arrived = 0;
  bool ready = true, writes = false;
  if (l->look_valid) {
    bool hit = l1_way(l, l->look_line) >= 0 && !l->wrote;
    if (hit) arrived = l->look_ids;
    else ready = l1_miss(c);
  }
  l->wrote = 0;
  if (!arrived && l->refills && l->refill[0].when <= c->now) {
    uint32_t line = l->refill[0].line, set = line & (SETS - 1), way = l->evict++ & 1;
    l->tag[way][set] = line, l->valid[way][set] = 1, writes = true, l->wrote = 1;
    arrived = l->refill[0].ids;
    l->refill[0] = l->refill[1], l->refills--;
  }
  if (ready) l->look_valid = 0;
  *granted = 0;
  if (!asks) return arrived;
  bool take = ready && !writes && c->now >= l->init_until;
  uint32_t w = arb_try(&l->in, asks);
  arb_done(&l->in, asks, take);
  if (!take) return arrived;
  l->look_valid = 1, l->look_line = ask[w].line, l->look_ids = 1u << w;
  *granted = 1u << w;
  return arrived;
}

void icache_cycle(Cluster *c) {
  Ask ask[MAX_HARTS];
  uint32_t asks = 0, granted = 0, arrived = 0, busy = 0;
  for (uint32_t left = c->look & c->awake; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    Hart *h = &c->hart[i];
    if (!hart_page(h)) continue;
    ask[i] = l0_look(h);
    if (h->pc == h->l0.calm_pc) c->look &= ~(1u << i);
    asks |= (uint32_t)ask[i].asks << i;
    busy |= (uint32_t)(h->l0.pending || ask[i].latch || ask[i].asks) << i;
  }
  if (!busy && !c->l1.look_valid && !c->l1.refills) return;
  arrived = l1_cycle(c, ask, asks, &granted);
  for (uint32_t i = 0; busy >> i; i++) {
    if (busy >> i & 1) l0_update(&c->hart[i].l0, &ask[i], granted >> i & 1, arrived >> i & 1);
  }
}

void icache_flush(Hart *h) {
  L1 *l = &h->cl->l1;
  h->l0.valid = 0, h->l0.calm_line = 0, h->l0.calm_pc = 1;
  h->cl->look |= 1u << h->id;
  memset(l->valid, 0, sizeof l->valid);
  l->init_until = h->cl->now + INIT;
}
