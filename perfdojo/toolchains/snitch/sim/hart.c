// Integer core of one hart: fetch, issue, hand-over, loads and stores, write port.
#include "hart.h"
#include <stdlib.h>
#include <string.h>
#include "events.h"
#include "fpss.h"
#include "icache.h"
#include "memory.h"
#include "stats.h"

void hart_reset(Hart *h, Cluster *c, uint32_t id, uint32_t entry) {
  memset(h, 0, sizeof *h);
  h->cl = c, h->id = id, h->pc = entry, h->dma = id >= c->cores;
  h->page_tag = 1;  // no page
  fpss_reset(h);
}

// ---- fetch ----

bool hart_page(Hart *h) {
  uint32_t pc = h->pc, tag = pc & ~((1u << PAGE_BITS) - 1);
  if (h->page_tag == tag) return true;
  Page *p = page_at(h->cl, pc);
  if (!p) { fail(h->cl, h, pc, 0, "jumps to 0x%08x, where there is no memory", pc); return false; }
  if (!p->dec) {
    p->dec = calloc(PAGE_WORDS, sizeof *p->dec), p->target = calloc(PAGE_WORDS, sizeof *p->target);
    if (!p->dec || !p->target) abort();
    if (where(pc) == AT_TCDM) h->cl->tcdm_code = true;
  }
  h->page = p, h->page_tag = tag;
  return true;
}

static const Dec *fetch(Hart *h) {
  uint32_t pc = h->pc;
  Dec *d = &h->page->dec[(pc >> 2) & (PAGE_WORDS - 1)];
  if (d->op != OP_NONE) return d;
  if (pc & 3) { fail(h->cl, h, pc, 0, "jumps to 0x%08x, which is not a multiple of 4", pc); return 0; }
  uint32_t w;
  memcpy(&w, h->page->bytes + (pc & ((1u << PAGE_BITS) - 1)), 4);
  decode(d, w, h->cl->flags & F_DIV);
  return d;
}

// ---- traps ----

enum { ILLEGAL = 2, BREAKPOINT = 3, ECALL_M = 11 };

static void trap(Hart *h, const Dec *d, uint32_t cause, const char *what) {
  Cluster *c = h->cl;
  if (!h->mtvec) { fail(c, h, h->pc, d->word, "%s", what); return; }
  c->trap_pc = h->pc, c->trap_word = d->word, c->trap_cause = cause;
  strncpy(c->trap_reason, what, sizeof c->trap_reason - 1);
  h->mepc = h->pc, h->mcause = cause, h->pc = h->mtvec;
}

static const char *illegal_text(const Dec *d) {
  uint32_t opcode = d->word & 0x7f, kind = d->word >> 27;
  if (opcode == 0x0b) return "frep.i is illegal in this version of the core";
  if (opcode == 0x53 && (kind == 3 || kind == 0xb)) return "the core has no divide and square root unit";
  return "no instruction of the core has this word";
}

// ---- loads and stores ----

static bool caq_hit(const Hart *h, uint32_t word, bool alters) {
  for (uint32_t i = 0; i < h->n0.caq; i++) {  // also what was answered in this cycle
    uint32_t k = (h->n0.caq_head + i) & (CAQ - 1);
    if ((h->caq[k].word & 0xffff) == (word & 0xffff) && (alters || h->caq[k].write)) return true;
  }
  return false;
}

static bool good_address(Hart *h, const Dec *d, uint32_t addr) {
  uint32_t bytes = 1u << d->size;
  bool write = d->op == OP_STORE || d->op == OP_FSTORE || d->op == OP_AMO;
  int at = where(addr);
  const char *what = write ? "store" : "load";
  if (addr & (bytes - 1)) fail(h->cl, h, h->pc, d->word, "%s of %u bytes at 0x%08x is not aligned", what, bytes, addr);
  else if (at == AT_NONE || (at == AT_EXIT && !write) || (at == AT_BOOT && write))
    fail(h->cl, h, h->pc, d->word, "%s at 0x%08x, where there is no memory", what, addr);
  return !h->cl->failed;
}

static int issue_access(Hart *h, const Dec *d, uint32_t a, uint32_t b) {
  uint32_t addr = a + (d->op == OP_AMO ? 0 : (uint32_t)d->imm);
  bool write = d->op == OP_STORE;
  if (caq_hit(h, addr >> 3, write || d->op == OP_AMO)) return ST_LSU;
  if (h->n0.req == 2 || h->mem >= INT_MEM || (!write && h->loads >= INT_LOADS)) return ST_LSU;
  if (!good_address(h, d, addr)) return ST_LSU;
  h->fp.lean = 0;
  h->req[h->n.req++] = (MemReq){.addr = addr, .pc = h->pc, .data = b, .size = d->size, .write = write, .amo = d->op == OP_AMO ? d->sub : 0,
                               .rd = d->rd, .sign = d->op == OP_AMO || d->sub < 3, .hart = (uint8_t)h->id};
  h->mem++;
  if (!write) h->loads++;
  return 0;
}

// ---- hand-over ----

static const uint8_t waits_for[4] = {ST_FP, ST_MULDIV, ST_DMA, ST_SSR};

static int hand_over(Hart *h, const Dec *d, uint32_t a, uint32_t b) {
  bool memory = d->op == OP_FLOAD || d->op == OP_FSTORE;
  if (d->op == OP_SCFGRI) { fail(h->cl, h, h->pc, d->word, "scfgri is never answered by this core: use scfgr"); return ST_SSR; }
  if (d->unit == UNIT_DMA && !h->dma) { trap(h, d, ILLEGAL, "only the DMA hart has DMA instructions"); return 0; }
  if (h->n0.acc == 2) return d->unit == UNIT_SSR ? ST_SSR : ST_OFFLOAD;
  if (memory && h->n0.caq >= CAQ) return ST_OFFLOAD;
  uint32_t addr = a + (uint32_t)d->imm;
  if (memory) {
    if (!good_address(h, d, addr)) return ST_LSU;
    h->caq[(h->n.caq_head + h->n.caq) & (CAQ - 1)].word = addr >> 3;
    h->caq[(h->n.caq_head + h->n.caq++) & (CAQ - 1)].write = d->op == OP_FSTORE;
  }
  h->fp.lean = 0;
  h->acc[h->n.acc++] = (Offload){d, h->pc, a, b, addr};
  h->cl->md.waiting += d->unit == UNIT_MULDIV;
  h->offloads++;
  return 0;
}

// ---- issue ----

static int csr(Hart *h, const Dec *d, uint32_t a) {
  uint32_t n = (uint32_t)d->imm, old = csr_read(h, n), v = d->sub & 4 ? d->rs1 : a, kind = d->sub & 3;
  if (n == 0x7c2) {
    h->wait_barrier = 1, h->cl->barrier_n++;
    event(h->cl, EV_BARRIER, h->id, h->pc, 0);
  }
  if (n == 0x7c6 && (kind == 1 || d->rs1)) fail(h->cl, h, h->pc, d->word, "the coupling of x31 to queues (CSR 0x7c6) is not modelled");
  if (kind == 1) csr_write(h, n, v);
  else if (d->rs1) csr_write(h, n, kind == 2 ? old | v : old & ~v);
  if (d->rd) h->x[d->rd] = old;
  return 0;
}

// Executes an instruction whose registers are ready; 0 or the cause of a stall.
static int execute(Hart *h, const Dec *d) {
  uint32_t a = h->x[d->rs1], b = h->x[d->rs2], next = h->pc + 4, pc = h->pc;
  int why = 0;
  if (d->op >= OP_ADDI && d->op <= OP_ANDI) { h->x[d->rd] = alu(d, a, (uint32_t)d->imm); }
  else if (d->op >= OP_ADD && d->op <= OP_AND) { h->x[d->rd] = alu(d, a, b); }
  else if (d->op >= OP_BEQ && d->op <= OP_BGEU) { if (branch_taken(d->op, a, b)) next = pc + (uint32_t)d->imm; }
  else if (d->op >= OP_MULDIV) why = hand_over(h, d, a, b);
  else switch (d->op) {
    case OP_LUI: h->x[d->rd] = (uint32_t)d->imm; break;
    case OP_AUIPC: h->x[d->rd] = pc + (uint32_t)d->imm; break;
    case OP_JAL: h->x[d->rd] = next, next = pc + (uint32_t)d->imm; h->parked = next == pc && !d->rd; break;
    case OP_JALR: next = (a + (uint32_t)d->imm) & ~1u, h->x[d->rd] = pc + 4; break;
    case OP_LOAD: case OP_STORE: case OP_AMO: why = issue_access(h, d, a, b); break;
    case OP_FENCE: if (h->mem || h->n0.caq) why = ST_FENCE; break;
    case OP_FENCE_I: if (h->mem || h->n0.caq) why = ST_FENCE; else icache_flush(h); break;
    case OP_CSR: why = csr(h, d, a); break;
    case OP_ECALL: trap(h, d, ECALL_M, "ecall"), next = h->pc; break;
    case OP_EBREAK: trap(h, d, BREAKPOINT, "ebreak"), next = h->pc; break;
    case OP_MRET: next = h->mepc; break;
    case OP_WFI: h->parked = 1; break;
    default: trap(h, d, ILLEGAL, illegal_text(d)), next = h->pc; break;
  }
  h->x[0] = 0;
  if (why) return why;
  if (d->op == OP_LOAD || d->op == OP_AMO) h->sb |= 1u << d->rd, h->sb_cause[d->rd] = ST_LOAD;
  else if (d->op >= OP_MULDIV && (d->uses & USE_RD)) h->sb |= 1u << d->rd, h->sb_cause[d->rd] = waits_for[d->unit];
  h->sb &= ~1u;
  if (h->pc == pc) h->pc = next;
  return 0;
}

static int blocked(const Hart *h, const Dec *d) {
  uint32_t need = 0;
  if (d->uses & USE_RS1) need |= 1u << d->rs1;
  if (d->uses & USE_RS2) need |= 1u << d->rs2;
  if (d->uses & USE_RD) need |= 1u << d->rd;
  need &= h->sb;
  return need ? (int)h->sb_cause[__builtin_ctz(need)] : 0;
}

// A cycle in which the port waited for a result that had been ready before is not the producer's fault.
static int blame(const Hart *h, int why) {
  bool late = (h->n0.lrsp && h->lrsp[0].when + 1 < h->cl->now && !h->lrsp[0].write) || (h->n0.rsp && h->rsp[0].when < h->cl->now);
  return late && (why == ST_LOAD || why == ST_FP || why == ST_MULDIV || why == ST_SSR) ? ST_PORT : why;
}

// The one write port of the registers: the issuing instruction, else a load, else an answer of another unit.
static void retire(Hart *h, bool port_free) {
  if (h->n0.lrsp) {
    const MemRsp *r = &h->lrsp[0];
    if (r->write || port_free) {
      if (!r->write) {
        if (r->rd) h->x[r->rd] = (uint32_t)r->data;
        h->sb &= ~(1u << r->rd), h->loads--, h->loads_done++, port_free = false;
      }
      h->mem--;
      h->lrsp[0] = h->lrsp[1], h->n.lrsp--;
    }
  }
  if (!h->n0.rsp || !port_free) return;
  if (h->rsp[0].rd) h->x[h->rsp[0].rd] = h->rsp[0].data;
  h->sb &= ~(1u << h->rsp[0].rd);
  h->rsp[0] = h->rsp[1], h->n.rsp--;
}

// What ends a stall of this cause.
static uint8_t needs(const Hart *h, int why, bool registers) {
  if (h->cl->flags & F_STATS) return NEED_LOOK;
  if (registers) return NEED_RESULT;
  return why == ST_OFFLOAD && h->n.acc == 2 ? NEED_ROOM : NEED_CHANGE;
}

void hart_cycle(Hart *h) {
  bool writes = false;
  h->needs = NEED_LOOK;
  if (h->parked) {
    h->instret++;
  } else if (h->wait_barrier || h->cl->now < h->resume) {
    count_core(h, h->pc - 4, ST_BARRIER);
  } else {
    uint32_t pc = h->pc;
    int why = h->l0.hit ? 0 : ST_ICACHE;
    const Dec *d = why ? 0 : fetch(h);
    if (d) {
      why = blocked(h, d);
      bool registers = why;
      writes = !why && (d->uses & WRITE_RD) && d->rd;
      if (!why) why = execute(h, d);
      else why = blame(h, why);
      if (why) h->stall = (uint8_t)why, h->needs = needs(h, why, registers);
      if (!why) event(h->cl, EV_CORE, h->id, pc, d->word);
    }
    count_core(h, pc, why);
    if (h->pc != h->l0.calm_pc) h->cl->look |= 1u << h->id;
  }
  if (h->n0.lrsp | h->n0.rsp) retire(h, !writes), h->needs = NEED_LOOK;
}

bool hart_idle(const Hart *h) {
  const Counts *n = &h->n;
  bool waits = h->wait_barrier || h->parked;
  return waits && !(n->req | n->fpreq | n->rq | n->lrsp | n->acc | n->rsp | h->fp.busy_movers | h->l0.pending | h->l0.pre_valid) && fpss_quiet(h);
}

void hart_slept(Hart *h) {
  uint64_t n = h->cl->now - h->asleep_since;
  if (h->parked) { h->instret += n; return; }
  h->stalls[ST_BARRIER] += n;
  if (!(h->cl->flags & F_STATS)) return;
  PcStat *s = stat_of(h->cl, h->pc - 4);
  s->cycles += n, s->stalls[ST_BARRIER] += n;
}
