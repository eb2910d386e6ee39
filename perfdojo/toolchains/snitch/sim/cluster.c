// The cluster: all harts and what they share, stepped together.
#include "cluster.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "events.h"
#include "fpss.h"
#include "hart.h"
#include "icache.h"
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
    h->wait_barrier = 0, h->resume = c->now + 2;
    event(c, EV_RELEASED, i, h->pc, 0);
  }
  c->barrier_n = 0;
}

void cluster_run(Cluster *c) {
  while (!c->stop && c->now < c->max_cycles) {
    dma_cycle(c);
    memory_cycle(c);
    muldiv_present(c);
    for (uint32_t i = 0; i < c->harts; i++) {
      if (!fpss_quiet(&c->hart[i])) fpss_cycle(&c->hart[i]);
    }
    muldiv_accept(c);
    icache_cycle(c);
    if (c->stop) break;
    for (uint32_t i = 0; i < c->harts; i++) hart_cycle(&c->hart[i]);
    if (c->barrier_n == c->harts) release(c);
    c->now++;
  }
}
