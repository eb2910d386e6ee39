// FP subsystem of one core: issue, FPU pipelines, write-back.
#include "fpss.h"
#include <string.h>
#include "events.h"
#include "fpexec.h"
#include "lean.h"
#include "memory.h"
#include "seq.h"
#include "ssr.h"
#include "stats.h"
#include "units.h"

enum { STARVED = 2000 };  // cycles after which a read of an idle mover is an error

void fpss_reset(Hart *h) {
  static const uint8_t depth[5] = {[PIPE_ADDMUL] = 3, [PIPE_DIVSQRT] = 2, [PIPE_NONCOMP] = 1, [PIPE_CONV] = 2, [PIPE_DOTP] = 3};
  memset(&h->fp, 0, sizeof h->fp);
  for (int g = 0; g < 5; g++) h->fp.pipe[g].depth = depth[g];
  for (int i = 0; i < MOVERS; i++) mover_reset(&h->fp.mover[i]);
}

// ---- write-back ----

static inline void write_reg(Fpss *f, uint32_t rd, uint64_t v) {
  if (f->ssr >> rd & 1) f->arch[rd] = v;
  else f->f[rd] = v;
}

// Pipelines whose oldest result is ready.
static inline uint32_t heads_ready(const Fpss *f, uint64_t now) {
  uint32_t heads = 0;
  for (uint32_t left = f->pipes; left; left &= left - 1) {
    uint32_t g = (uint32_t)__builtin_ctz(left);
    const FpuPipe *p = &f->pipe[g];
    heads |= (uint32_t)(p->op[p->head].ready <= now) << g;
  }
  return heads;
}

static void pipe_pop(Fpss *f, uint32_t g, uint32_t heads, uint64_t now) {
  FpuPipe *p = &f->pipe[g];
  p->head = (p->head + 1) & 3;
  if (--p->n == 0) f->pipes &= (uint8_t)~(1u << g);
  else if (p->op[p->head].ready <= now) p->op[p->head].ready = now + 1;  // was held behind
  f->out.rr = (uint8_t)arb_next(heads, f->out.rr);
  f->out_taken = (uint8_t)(g + 1);
}

// Result into the register file or a write stream; false when it has to wait.
static bool write_result(Hart *h, const FpuOp *op, uint32_t *clear) {
  Fpss *f = &h->fp;
  uint32_t bit = 1u << op->rd;
  if (op->ssr) {
    Mover *m = &f->mover[op->rd];
    if (!mover_writes(m)) {
      fail(h->cl, h, op->pc, 0, "an FP result goes to ft%u, whose mover has no write job", op->rd);
      return false;
    }
    if (!(f->lane_ok >> op->rd & 1)) return false;
    mover_push(m, op->result);
    f->busy_movers |= (uint8_t)bit;
    return true;
  }
  if (f->chain & bit) {
    if (f->chain_full & bit) return false;
    f->chain_full |= bit;
  }
  write_reg(f, op->rd, op->result);
  *clear |= bit;
  return true;
}

// Answer of memory: to the integer core, or of an FP load when the register port is free.
static void memory_answer(Hart *h, bool port, uint32_t *clear) {
  Fpss *f = &h->fp;
  MemRsp *r = &h->rq[h->rq_head];
  if (r->when > h->cl->now) return;
  if (!r->fp) {
    if (h->n0.lrsp == 2) return;
    h->lrsp[h->n.lrsp++] = *r;
  } else {
    if (!r->write && !port) return;
    if (!r->write) write_reg(f, r->rd, r->data), *clear |= 1u << r->rd, f->loads--;
    f->mem--;
    if (!r->rep) h->n.caq_head = (h->n.caq_head + 1) & (CAQ - 1), h->n.caq--;
  }
  h->rq_head = (h->rq_head + 1) & (MEM_PATH - 1), h->n.rq--;
}

static inline void write_back(Hart *h, uint32_t *clear) {
  Fpss *f = &h->fp;
  uint64_t now = h->cl->now;
  uint32_t heads = f->pipes ? heads_ready(f, now) : 0, g = 0;
  const FpuOp *op = 0;
  bool port = true;
  f->stream_full = f->out_taken = 0;
  if (heads) {
    g = heads & (heads - 1) ? arb_pick(heads, f->out.rr) : (uint32_t)__builtin_ctz(heads);
    op = &f->pipe[g].op[f->pipe[g].head];
  }
  if ((op && op->acc) || h->answers) {
    if (answer_core(h, op && op->acc, op)) pipe_pop(f, g, heads, now);
  }
  if (op && !op->acc && !f->out_taken) {
    port = false;
    if (write_result(h, op, clear)) pipe_pop(f, g, heads, now);
    else f->stream_full = 1;
  }
  if (h->n.rq) memory_answer(h, port, clear);
}

// ---- issue ----

static int starved(Hart *h, uint32_t i, uint32_t pc, const Dec *d) {
  Fpss *f = &h->fp;
  const Mover *m = &f->mover[i];
  bool idle = m->q.done && m->s.done && !m->out_n && !m->rsp;
  if (!f->starved || !idle) f->starved = idle, f->starved_since = h->cl->now;
  else if (h->cl->now - f->starved_since > STARVED)
    fail(h->cl, h, pc, d->word, "reads stream ft%u beyond its last element (the job has %llu)", i, (unsigned long long)m->job_elems);
  return FS_EMPTY;
}

static bool pop_streams(Hart *h, uint32_t streams, uint32_t pc, const Dec *d) {
  Fpss *f = &h->fp;
  for (uint32_t left = streams; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    if (mover_writes(&f->mover[i])) {
      fail(h->cl, h, pc, d->word, "reads ft%u, whose mover has a write job", i);
      return false;
    }
    f->f[i] = mover_pop(f, i);
  }
  f->starved = 0;
  return true;
}

static inline bool pipe_ready(const Hart *h, const Dec *d) {
  const Fpss *f = &h->fp;
  const FpuPipe *p = &f->pipe[d->pipe];
  if (d->pipe == PIPE_DIVSQRT) return f->div_busy <= h->cl->now && p->n < p->depth;
  return p->n < p->depth || f->out_taken == d->pipe + 1;
}

static inline void start_fpu(Hart *h, const Dec *d, const RingEntry *e) {
  Fpss *f = &h->fp;
  uint32_t rm = d->rm == 7 ? (h->fcsr >> 5) & 7 : d->rm;
  if (rm > 4) { fail(h->cl, h, e->pc, d->word, "reserved rounding mode %u", rm); return; }
  const uint64_t v[4] = {f->f[d->rs1], f->f[d->rs2], f->f[d->rs3], f->f[d->rd]};
  unsigned flags = h->fcsr & 31;
  FpuPipe *p = &f->pipe[d->pipe];
  FpuOp *op = &p->op[(p->head + p->n++) & 3];
  op->result = fp_exec(d, v, e->a, rm, h->fmode, &flags);
  op->rd = d->rd, op->bit = d->fbit, op->acc = !d->fbit, op->pc = e->pc;
  op->ssr = (d->fbit & f->ssr) != 0;
  op->ready = d->pipe == PIPE_DIVSQRT ? start_divider(h, d) : h->cl->now + p->depth;
  h->fcsr |= flags;
  f->pipes |= (uint8_t)(1u << d->pipe);
  h->fpu_issues++;
}

static void start_memory(Hart *h, const Dec *d, const RingEntry *e) {
  Fpss *f = &h->fp;
  bool store = d->op == OP_FSTORE;
  f->req[h->n.fpreq++] = (MemReq){.addr = e->addr, .pc = e->pc, .data = store ? f->f[d->rs2] : 0, .size = d->size,
                               .write = store, .fp = 1, .rd = d->rd, .rep = f->repeats, .hart = (uint8_t)h->id};
  f->mem++;
  if (!store) f->loads++;
}

// Whether registers that it reads or writes have to come first.
static inline int hazard(const Fpss *f, const Dec *d) {
  uint32_t pending = f->sb & ~f->chain;
  if ((pending & d->fregs) | (d->fregs & f->chain & ~f->chain_full)) return FS_RAW;
  return pending & d->fbit ? FS_WAW : 0;
}

static inline bool lsu_full(const Dec *d, uint32_t fpreq, uint32_t mem, uint32_t loads) {
  return fpreq == 2 || mem >= FP_MEM || (d->op == OP_FLOAD && loads >= FP_LOADS);
}

// Tries to issue; 0 or the cause that it did not.
static inline int try_issue(Hart *h, const Dec *d, const RingEntry *e, uint32_t *set) {
  Fpss *f = &h->fp;
  if (d->op == OP_FCSR) return set_stream_csr(h, d, e->a);
  uint32_t reads = d->fregs, streams = reads & f->ssr;
  int why = hazard(f, d);
  if (why) return why;
  uint32_t dry = streams & ~(uint32_t)f->lane_ok;
  if (dry) return starved(h, (uint32_t)__builtin_ctz(dry), e->pc, d);
  bool memory = d->op != OP_FP;
  if (memory) {
    if (lsu_full(d, h->n0.fpreq, f->mem_n0, f->loads_n0)) return FS_LSU;
  } else if (!pipe_ready(h, d)) {
    return f->stream_full ? FS_FULL : FS_FPU;
  }
  if (streams && !pop_streams(h, streams, e->pc, d)) return FS_EMPTY;
  f->chain_full &= ~reads;
  if (memory) start_memory(h, d, e);
  else start_fpu(h, d, e);
  *set |= d->fbit;
  return 0;
}

const Dec *stagger(Hart *h, const Dec *d, uint32_t mask, uint32_t n) {
  Fpss *f = &h->fp;
  uint32_t w = d->word;
  static const uint8_t at[4] = {7, 15, 20, 27};
  for (int i = 0; i < 4; i++) {
    if (mask >> i & 1) w = (w & ~(31u << at[i])) | (((w >> at[i]) + n) & 31) << at[i];
  }
  Dec *altered = &f->altered[(w ^ w >> 7 ^ w >> 13 ^ w >> 20) & 63];
  if (altered->word != w) decode(altered, w, h->cl->flags & F_DIV);
  return altered;
}

static const Dec *staggered(Hart *h, const RingEntry *e, const Loop *l, uint32_t n) {
  const Dec *d = stagger(h, e->dec, l->smask, n);
  if (d->op < OP_FP) fail(h->cl, h, e->pc, d->word, "staggering makes this word of 0x%08x, which the FP subsystem cannot run", e->dec->word);
  return d;
}

// Where the handed-over instruction goes: the ring, a loop of the sequencer, straight to issue, or another unit.
typedef struct { const Offload *append, *frep, *direct; bool take; } Input;

static inline Input route(Hart *h, bool ring_has) {
  Input in = {0};
  const Offload *o = &h->acc[0];
  const Seq *s = &h->fp.seq;
  if (o->dec->unit != UNIT_FP) in.take = offer_unit(h, o);
  else if (o->dec->op == OP_FREP) in.frep = seq_takes_frep(s) ? o : 0;
  else if (!(o->dec->flags & FP_DIRECT)) in.append = s->count < RING ? o : 0;
  else in.direct = ring_has ? 0 : o;
  in.take |= in.frep || in.append;
  return in;
}

static bool issue_ring(Hart *h, const RingEntry *e, uint32_t *set) {
  Seq *s = &h->fp.seq;
  const Loop *l = &s->loop[s->idx];
  const Dec *d = s->active && s->stagger && l->smask ? staggered(h, e, l, s->stagger) : e->dec;
  h->fp.repeats = s->active && l->iter != 0;
  int why = try_issue(h, d, e, set);
  count_fpu(h, e->pc, why);
  if (why) return false;
  h->seq_issues++;
  event(h->cl, EV_FPU, h->id, e->pc, d->word);
  return true;
}

static bool issue_direct(Hart *h, const Offload *o, uint32_t *set) {
  RingEntry e = {o->dec, o->pc, o->a, o->addr};
  if (h->fp.seq.loops) fail(h->cl, h, o->pc, o->dec->word, "stands inside a frep body, which cannot hold this instruction");
  h->fp.repeats = 0;
  int why = try_issue(h, o->dec, &e, set);
  count_fpu(h, o->pc, why);
  if (!why) event(h->cl, EV_FPU, h->id, o->pc, o->dec->word);
  return !why;
}

int fpss_stays(const Hart *h) {
  const Fpss *f = &h->fp;
  const Offload *o = h->n.acc ? &h->acc[0] : 0;
  const Dec *d = f->seq.count ? f->seq.ring[f->seq.rd].dec : 0;
  if (h->answers) return -1;
  if (o && (o->dec->unit != UNIT_FP || o->dec->op == OP_FREP)) return -1;
  if (o && !(o->dec->flags & FP_DIRECT) && f->seq.count < RING) return -1;
  if (!d && o) d = o->dec;
  if (!d) return 0;
  if (d->op == OP_FCSR) return -1;
  int why = hazard(f, d);
  if (why) return why;
  if (d->fregs & f->ssr & ~(uint32_t)f->lane_ok) return -1;
  return d->op != OP_FP && lsu_full(d, h->n.fpreq, f->mem, f->loads) ? FS_LSU : -1;
}

void fpss_cycle(Hart *h) {
  Fpss *f = &h->fp;
  Seq *s = &f->seq;
  uint32_t clear = 0, set = 0;
  f->mem_n0 = f->mem, f->loads_n0 = f->loads;
  write_back(h, &clear);
  const RingEntry *e = s->count ? seq_head(s) : 0;
  Input in = {0};
  if (h->n.acc) in = route(h, e != 0);
  bool issued = false;
  if (e) issued = issue_ring(h, e, &set);
  else if (in.direct) in.take = issue_direct(h, in.direct, &set);
  else if (h->n.acc && h->acc[0].dec->op == OP_FREP && !in.frep) h->stalls[FS_FREP]++;
  if (in.frep) check_frep(h, in.frep, issued);
  if (issued && s->loops == 2) check_inner(h, e);
  if (s->loops || in.append || in.frep || issued) {
    if (seq_cycle(s, issued, in.append, in.frep)) event(h->cl, EV_FREP_END, h->id, 0, 0);
  }
  if (in.take) h->acc[0] = h->acc[1], h->n.acc--;
  f->sb = (f->sb | set) & ~clear;
  f->sb &= ~(uint32_t)f->ssr;
  f->lean = s->active && lean_possible(h);
}
