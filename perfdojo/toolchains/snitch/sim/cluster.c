// The cluster: all harts and what they share, stepped together.
#include "cluster.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "doze.h"
#include "events.h"
#include "fpss.h"
#include "hart.h"
#include "icache.h"
#include "lean.h"
#include "tcdm.h"
#include "units.h"

void fail(Cluster *c, const Hart *h, uint32_t pc, uint32_t word, const char *format, ...) {
  if (c->failed) return;
  va_list args;
  va_start(args, format);
  vsnprintf(c->reason, sizeof c->reason, format, args);
  va_end(args);
  c->failed = c->stop = true;
  c->err_hart = h ? h->id : 0, c->err_pc = pc, c->err_word = word, c->err_cycle = c->now;
}

void event_write(Cluster *c, uint32_t kind, uint32_t hart, uint32_t a, uint32_t b) {
  struct { uint64_t cycle; uint16_t kind, hart; uint32_t a, b, reserved; } e = {c->now, (uint16_t)kind, (uint16_t)hart, a, b, 0};
  fwrite(&e, sizeof e, 1, c->events);
}

Cluster *cluster_new(uint32_t cores, uint32_t flags, uint32_t entry) {
  Cluster *c = calloc(1, sizeof *c);
  if (!c) return 0;
  c->cores = cores, c->flags = flags, c->harts = cores + (flags & F_DMA ? 1 : 0);
  c->tcdm.bytes = calloc(1, TCDM_BYTES);
  c->pages = calloc(1u << (32 - PAGE_BITS), sizeof *c->pages);
  if (!c->tcdm.bytes || !c->pages) return 0;
  for (uint32_t i = 0; i < c->harts; i++) hart_reset(&c->hart[i], c, i, entry);
  dma_reset(&c->dma);
  return c;
}

static void release(Cluster *c) {
  for (uint32_t i = 0; i < c->harts; i++) {
    Hart *h = &c->hart[i];
    if (!(c->awake >> i & 1)) h->n0 = h->n, hart_slept(h);
    h->wait_barrier = 0, h->resume = c->now + 2;
    event(c, EV_RELEASED, i, h->pc, 0);
  }
  c->barrier_n = 0, c->awake = c->look = (1u << c->harts) - 1;
}

static void sleep_idle(Cluster *c) {
  for (uint32_t left = c->awake; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    Hart *h = &c->hart[i];
    if (!(h->wait_barrier | h->parked) || !hart_idle(h)) continue;
    c->awake &= ~(1u << i), h->asleep_since = c->now + 1;
  }
  if (!(c->awake | c->dozing) && !c->failed) fail(c, &c->hart[0], c->hart[0].pc, 0, "no hart can go on: %u of %u wait at the barrier, the others loop in place", c->barrier_n, c->harts);
}

void cluster_run(Cluster *c) {
  c->awake = c->look = (1u << c->harts) - 1, c->doze_until = ~UINT64_C(0);
  while (!c->stop && c->now < c->max_cycles) {
    if (c->dma.n | c->dma.fin_n | c->tcdm.dma_banks) dma_cycle(c);
    if (c->dozing && c->doze_until <= c->now) doze_end_due(c);
    memory_cycle(c);
    if (c->md.waiting) muldiv_present(c);
    for (uint32_t left = c->awake; left; left &= left - 1) {
      Hart *h = &c->hart[__builtin_ctz(left)];
      if (h->fp.lean && lean_cycle(h)) continue;
      if (!fpss_quiet(h)) fpss_cycle(h);
    }
    if (c->md.waiting) muldiv_accept(c);
    if (c->look | c->l1.look_valid | c->l1.refills) icache_cycle(c);
    uint32_t waits = 0;
    for (uint32_t left = c->awake; left; left &= left - 1) {
      Hart *h = &c->hart[__builtin_ctz(left)];
      if (hart_waits(h)) h->stalls[h->stall]++;
      else hart_cycle(h);
      if (may_doze(h)) doze_try(h);
      waits |= h->wait_barrier | h->parked;
    }
    if (waits) {
      if (c->barrier_n == c->harts) release(c);
      else sleep_idle(c);
    }
    c->now++;
  }
  for (uint32_t i = 0; i < c->harts; i++) {
    if (c->dozing >> i & 1) doze_end(&c->hart[i]);
    else if (!(c->awake >> i & 1)) hart_slept(&c->hart[i]);
  }
}
