// Address map, main memory and peripheral registers.
#include "memory.h"
#include <stdlib.h>
#include <string.h>

enum { PERIPH = 0x10021000, ZERO_MEM = 0x10030000, BOOT = 0x10020000, ALIAS = 0x18000000, MAIN = (int)0x80000000, EXIT = (int)0xD0000000 };

static uint32_t unalias(uint32_t a) { return (a & 0xfff80000u) == ALIAS ? a - ALIAS + TCDM_BASE : a; }

int where(uint32_t addr) {
  uint32_t a = unalias(addr);
  if ((a & 0xfffffff8u) == (uint32_t)EXIT) return AT_EXIT;
  if (a >= (uint32_t)MAIN) return AT_MAIN;
  if (a - TCDM_BASE < TCDM_BYTES) return AT_TCDM;
  if (a - PERIPH < 0xf000) return AT_PERIPH;
  if (a - ZERO_MEM < 0x10000) return AT_ZERO;
  return a - BOOT < 0x1000 ? AT_BOOT : AT_NONE;
}

Page *page_at(Cluster *c, uint32_t addr) {
  uint32_t a = unalias(addr);
  bool tcdm = a - TCDM_BASE < TCDM_BYTES;
  if (!tcdm && a < (uint32_t)MAIN) return 0;
  uint32_t i = a >> PAGE_BITS;
  if (c->pages[i]) return c->pages[i];
  Page *p = calloc(1, sizeof *p);
  if (!p) abort();
  p->bytes = tcdm ? c->tcdm.bytes + ((a - TCDM_BASE) & ~((1u << PAGE_BITS) - 1)) : calloc(1, 1u << PAGE_BITS);
  if (!p->bytes) abort();
  return c->pages[i] = p;
}

uint8_t *bytes_at(Cluster *c, uint32_t addr) {
  uint32_t a = unalias(addr);
  if (a - TCDM_BASE < TCDM_BYTES) return c->tcdm.bytes + (a - TCDM_BASE);
  Page *p = page_at(c, a);
  return p ? p->bytes + (a & ((1u << PAGE_BITS) - 1)) : 0;
}

static uint64_t perf_count(const Cluster *c, uint32_t i) {
  uint64_t sel = c->perf_sel[i], metric = sel >> 16, v = 0;
  uint32_t id = sel & 0xffff;
  if (id >= c->harts) return 0;
  const Hart *h = &c->hart[id];
  switch (metric) {
    case 0: v = c->now; break;
    case 1: v = c->tcdm.accesses; break;
    case 2: v = c->tcdm.conflicts; break;
    case 3: v = h->fpu_issues; break;
    case 4: v = h->seq_issues; break;
    case 5: case 9: v = h->offloads; break;
    case 6: v = h->instret; break;
    case 7: v = h->loads_done; break;
    case 8: v = h->instret - h->offloads; break;
    case 25: v = c->dma.busy_cycles; break;
    case 30: v = h->stalls[ST_ICACHE]; break;
    default: break;
  }
  return v - c->perf_zero[i];
}

static uint64_t periph_read(Cluster *c, uint32_t off) {
  if (off < 0x80) return 1;
  if (off < 0x100) return c->perf_sel[(off - 0x80) / 8];
  if (off < 0x180) return perf_count(c, (off - 0x100) / 8) & 0xffffffffffff;
  if (off < 0x1a0) return c->scratch[(off - 0x180) / 8];
  return 0;
}

static void periph_write(Cluster *c, uint32_t off, uint32_t v) {
  if (off >= 0x80 && off < 0x100) {
    c->perf_sel[(off - 0x80) / 8] = v;
  } else if (off >= 0x100 && off < 0x180) {
    uint32_t i = (off - 0x100) / 8;
    c->perf_zero[i] = 0, c->perf_zero[i] = perf_count(c, i);
  } else if (off >= 0x180 && off < 0x1a0) {
    c->scratch[(off - 0x180) / 8] = v;
  }
}

uint64_t load64(Cluster *c, uint32_t addr) {
  uint64_t v = 0;
  if (where(addr) == AT_PERIPH) return periph_read(c, unalias(addr) - PERIPH);
  const uint8_t *p = where(addr) == AT_MAIN ? bytes_at(c, addr & ~7u) : 0;
  if (p) memcpy(&v, p, 8);
  return v;
}

void write_bytes(Cluster *c, uint32_t addr, uint64_t data, uint32_t bytes) {
  uint8_t *p = bytes_at(c, addr);
  if (!p) return;
  memcpy(p, &data, bytes);
  Page *page = c->pages[unalias(addr) >> PAGE_BITS];
  if (!page || !page->dec) return;
  for (uint32_t a = addr & ~3u; a < addr + bytes; a += 4) page->dec[(a >> 2) & (PAGE_WORDS - 1)].op = OP_NONE;
  for (uint32_t a = addr & ~63u; a < addr + bytes; a += 4) page->target[(a >> 2) & (PAGE_WORDS - 1)] = 0;
}

void store_out(Cluster *c, const MemReq *q) {
  uint32_t bytes = 1u << q->size;
  int at = where(q->addr);
  if (at == AT_PERIPH) periph_write(c, (unalias(q->addr) & ~7u) - PERIPH, (uint32_t)q->data);
  if (at == AT_EXIT) {
    c->stop = true, c->exit_code = (uint32_t)q->data;
    return;
  }
  if (at != AT_MAIN) return;
  write_bytes(c, q->addr, q->data, bytes);
  if (c->tohost && q->addr == c->tohost && q->data) {
    c->stop = true, c->exit_code = (uint32_t)q->data >> 1;
  }
}

uint32_t amo_result(uint32_t kind, uint32_t old, uint32_t v) {
  switch (kind) {
    case AMO_ADD: return old + v;
    case AMO_AND: return old & v;
    case AMO_OR: return old | v;
    case AMO_XOR: return old ^ v;
    case AMO_MIN: return (int32_t)old < (int32_t)v ? old : v;
    case AMO_MAX: return (int32_t)old > (int32_t)v ? old : v;
    case AMO_MINU: return old < v ? old : v;
    case AMO_MAXU: return old > v ? old : v;
    default: return v;
  }
}
