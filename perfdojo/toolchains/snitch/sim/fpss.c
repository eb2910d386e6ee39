// FP subsystem of one core: issue, FPU pipelines, write-back.
#include "fpss.h"
#include <string.h>
#include "events.h"
#include "fpexec.h"
#include "memory.h"
#include "seq.h"
#include "ssr.h"
#include "stats.h"
#include "units.h"

enum { STREAM_REGS = 7, STARVED = 2000 };  // ft0..ft2; cycles after which a read of an idle mover is an error

void fpss_reset(Hart *h) {
  static const uint8_t depth[5] = {[PIPE_ADDMUL] = 3, [PIPE_DIVSQRT] = 2, [PIPE_NONCOMP] = 1, [PIPE_CONV] = 2, [PIPE_DOTP] = 3};
  memset(&h->fp, 0, sizeof h->fp);
  for (int g = 0; g < 5; g++) h->fp.pipe[g].depth = depth[g];
  for (int i = 0; i < MOVERS; i++) mover_reset(&h->fp.mover[i]);
}

bool fpss_quiet(const Hart *h) {
  const Fpss *f = &h->fp;
  return !f->in_flight && !f->seq.count && !h->acc_n && !h->rq_n && !h->ssr_rsp && !h->dma_rsp && !h->md_rsp;
}

// ---- write-back ----

typedef struct { FpuPipe *pipe; FpuOp *op; uint32_t heads; bool taken; } Out;

static Out fpu_out(Hart *h) {
  Fpss *f = &h->fp;
  Out o = {0};
  if (!f->in_flight) return o;
  for (uint32_t g = 0; g < 5; g++) {
    const FpuPipe *p = &f->pipe[g];
    if (p->n && p->op[p->head].ready <= h->cl->now) o.heads |= 1u << g;
  }
  if (!o.heads) return o;
  o.pipe = &f->pipe[arb_pick(o.heads, f->out.rr)];
  o.op = &o.pipe->op[o.pipe->head];
  return o;
}

static void pipe_pop(Fpss *f, Out *o, uint64_t now) {
  FpuPipe *p = o->pipe;
  p->head = (p->head + 1) & 3, p->n--, f->in_flight--;
  if (p->n && p->op[p->head].ready <= now) p->op[p->head].ready = now + 1;  // was held behind
  f->out.rr = (uint8_t)arb_next(o->heads, f->out.rr);
  o->taken = true;
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
  f->f[op->rd] = op->result, *clear |= bit;
  return true;
}

static void write_back(Hart *h, uint32_t *clear) {
  Fpss *f = &h->fp;
  Out o = fpu_out(h);
  bool acc_taken = answer_core(h, o.op && o.op->acc, o.op);
  bool port = true;
  f->stream_full = 0;
  if (o.op && o.op->acc) {
    if (acc_taken) pipe_pop(f, &o, h->cl->now);
  } else if (o.op) {
    port = false;
    f->stream_full = !write_result(h, o.op, clear);
    if (!f->stream_full) pipe_pop(f, &o, h->cl->now);
  }
  f->out_taken = o.taken ? (uint8_t)(o.pipe - f->pipe + 1) : 0;
  if (!h->rq_n) return;
  MemRsp *r = &h->rq[h->rq_head];
  if (r->when > h->cl->now) return;
  if (!r->fp) {
    if (h->lrsp_n0 == 2) return;
    h->lrsp[h->lrsp_n++] = *r;
  } else {
    if (!r->write && !port) return;
    if (!r->write) f->f[r->rd] = r->data, *clear |= 1u << r->rd, f->loads--;
    f->mem--;
    if (!r->rep) h->caq_head = (h->caq_head + 1) & (CAQ - 1), h->caq_n--;
  }
  h->rq_head = (h->rq_head + 1) & (MEM_PATH - 1), h->rq_n--;
}

// ---- issue ----

static uint32_t regs_read(const Dec *d) {
  uint32_t r = 0;
  if (d->reads & FR_RS1) r |= 1u << d->rs1;
  if (d->reads & FR_RS2) r |= 1u << d->rs2;
  if (d->reads & FR_RS3) r |= 1u << d->rs3;
  if (d->reads & FR_RD) r |= 1u << d->rd;
  return r;
}

static int starved(Hart *h, uint32_t i, uint32_t pc, const Dec *d) {
  Fpss *f = &h->fp;
  Mover *m = &f->mover[i];
  if (m->q.done && m->s.done && !m->out_n && !m->rsp && h->cl->now - f->wait_since > STARVED) {
    fail(h->cl, h, pc, d->word, "reads stream ft%u beyond its last element (the job has %llu)", i, (unsigned long long)m->job_elems);
  }
  return FS_EMPTY;
}

static uint64_t operand(Fpss *f, uint32_t reg, uint32_t streams) {
  return streams >> reg & 1 ? f->popped[reg] : f->f[reg];
}

static bool pop_streams(Hart *h, uint32_t streams, uint32_t pc, const Dec *d) {
  for (uint32_t i = 0; i < MOVERS; i++) {
    if (!(streams >> i & 1)) continue;
    Mover *m = &h->fp.mover[i];
    if (mover_writes(m)) {
      fail(h->cl, h, pc, d->word, "reads ft%u, whose mover has a write job", i);
      return false;
    }
    h->fp.popped[i] = mover_pop(m);
    h->fp.busy_movers |= (uint8_t)(1u << i);
  }
  return true;
}

static int pipe_ready(const Hart *h, const Dec *d) {
  const Fpss *f = &h->fp;
  const FpuPipe *p = &f->pipe[d->pipe];
  if (d->pipe == PIPE_DIVSQRT) return f->div_busy <= h->cl->now && p->n < p->depth;
  return p->n < p->depth || f->out_taken == d->pipe + 1;
}

static void start_fpu(Hart *h, const Dec *d, const RingEntry *e, uint32_t streams) {
  Fpss *f = &h->fp;
  uint32_t rm = d->rm == 7 ? (h->fcsr >> 5) & 7 : d->rm;
  bool rounds = d->fop < F_SGNJ || (d->fop >= F_TO_W && d->fop <= F_CVT) || (d->flags & FP_VEC);
  if (!rounds) rm = 0;
  if (rm > 4) { fail(h->cl, h, e->pc, d->word, "reserved rounding mode %u", rm); return; }
  uint64_t v[4] = {0};
  if (d->reads & FR_RS1) v[0] = operand(f, d->rs1, streams);
  if (d->reads & FR_RS2) v[1] = operand(f, d->rs2, streams);
  if (d->reads & FR_RS3) v[2] = operand(f, d->rs3, streams);
  if (d->reads & FR_RD) v[3] = operand(f, d->rd, streams);
  unsigned flags = 0;
  FpuPipe *p = &f->pipe[d->pipe];
  FpuOp *op = &p->op[(p->head + p->n++) & 3];
  bool to_fp = d->flags & FW_RD;
  op->result = fp_exec(d, v, e->a, rm, h->fmode, &flags);
  op->rd = d->rd, op->acc = !to_fp, op->pc = e->pc;
  op->ssr = to_fp && f->ssr && d->rd < MOVERS;
  op->ready = h->cl->now + p->depth;
  if (d->pipe == PIPE_DIVSQRT) op->ready = start_divider(h, d);
  h->fcsr |= flags;
  f->in_flight++;
  h->fpu_issues++;
}

static void start_memory(Hart *h, const Dec *d, const RingEntry *e, uint32_t streams) {
  Fpss *f = &h->fp;
  bool store = d->op == OP_FSTORE;
  f->req[f->req_n++] = (MemReq){.addr = e->addr, .pc = e->pc, .data = store ? operand(f, d->rs2, streams) : 0, .size = d->size,
                               .write = store, .fp = 1, .rd = d->rd, .rep = f->repeats, .hart = (uint8_t)h->id};
  f->mem++;
  if (!store) f->loads++;
}

// Tries to issue; 0 or the cause that it did not.
static int try_issue(Hart *h, const Dec *d, const RingEntry *e, uint32_t *set) {
  Fpss *f = &h->fp;
  if (d->op == OP_FCSR) return set_stream_csr(h, d, e->a);
  uint32_t reads = regs_read(d), bit = 1u << d->rd;
  bool writes = d->flags & FW_RD;
  uint32_t streams = f->ssr ? reads & STREAM_REGS : 0;
  if (f->sb & reads & ~f->chain) return FS_RAW;
  if (reads & f->chain & ~f->chain_full) return FS_RAW;
  if (writes && (f->sb & bit & ~f->chain)) return FS_WAW;
  if (streams & ~(uint32_t)f->lane_ok) return starved(h, (uint32_t)__builtin_ctz(streams & ~(uint32_t)f->lane_ok), e->pc, d);
  bool memory = d->op != OP_FP;
  if (memory) {
    bool load = d->op == OP_FLOAD;
    if (h->fpreq_n0 == 2 || f->mem_n0 >= FP_MEM || (load && f->loads_n0 >= FP_LOADS)) return FS_LSU;
  } else if (!pipe_ready(h, d)) {
    return f->stream_full ? FS_FULL : FS_FPU;
  }
  if (streams && !pop_streams(h, streams, e->pc, d)) return FS_EMPTY;
  f->chain_full &= ~(reads & f->chain);
  if (memory) start_memory(h, d, e, streams);
  else start_fpu(h, d, e, streams);
  if (writes) *set |= bit;
  return 0;
}

// Register fields moved by the stagger count; the word is decoded again when that changes more than registers.
static const Dec *staggered(Hart *h, const Dec *d, const Seq *s) {
  Fpss *f = &h->fp;
  uint32_t mask = s->loop[s->idx].smask, n = s->stagger, w = d->word;
  if (!n || !mask || !s->active) return d;
  static const uint8_t at[4] = {7, 15, 20, 27};
  for (int i = 0; i < 4; i++) {
    if (mask >> i & 1) w = (w & ~(31u << at[i])) | (((w >> at[i]) + n) & 31) << at[i];
  }
  decode(&f->altered, w, h->cl->flags & F_DIV);
  if (f->altered.op < OP_FP) fail(h->cl, h, 0, w, "staggering makes this word of 0x%08x, which the FP subsystem cannot run", d->word);
  return &f->altered;
}

void fpss_cycle(Hart *h) {
  Fpss *f = &h->fp;
  Seq *s = &f->seq;
  uint32_t clear = 0, set = 0;
  f->mem_n0 = f->mem, f->loads_n0 = f->loads;
  write_back(h, &clear);
  const RingEntry *e = seq_head(s);
  const Offload *in = h->acc_n ? &h->acc[0] : 0;
  const Offload *append = 0, *frep = 0;
  RingEntry passed;
  const Dec *d = 0;
  bool from_ring = e != 0, take = false;
  if (in && in->dec->unit == UNIT_FP) {
    if (in->dec->op == OP_FREP) { if (seq_takes_frep(s)) frep = in; }
    else if (!(in->dec->flags & FP_DIRECT)) { if (s->count < RING) append = in; }
    else if (!e) passed = (RingEntry){in->dec, in->pc, in->a, in->addr}, e = &passed;
    take = frep || append;
  } else if (in) {
    take = offer_unit(h, in);
  }
  bool issued = false;
  if (e) {
    d = from_ring ? staggered(h, e->dec, s) : e->dec;
    f->repeats = from_ring && s->active && s->loop[s->idx].iter != 0;
    if (!from_ring && s->loops) fail(h->cl, h, e->pc, d->word, "stands inside a frep body, which cannot hold this instruction");
    int why = try_issue(h, d, e, &set);
    issued = !why;
    if (issued) {
      f->wait_since = h->cl->now;
      if (from_ring) h->seq_issues++;
      event(h->cl, EV_FPU, h->id, e->pc, d->word);
    }
    count_fpu(h, e->pc, why);
    if (!from_ring && issued) take = true;
  } else {
    f->wait_since = h->cl->now;
    if (in && in->dec->op == OP_FREP && !frep) h->stalls[FS_FREP]++;
  }
  if (frep) check_frep(h, frep, issued);
  if (s->loops || append || frep || (issued && from_ring)) {
    bool ends = seq_cycle(s, issued && from_ring, append, frep);
    if (ends) event(h->cl, EV_FREP_END, h->id, 0, 0);
  }
  if (take) h->acc[0] = h->acc[1], h->acc_n--;
  f->sb = (f->sb | set) & ~clear;
  if (f->ssr) f->sb &= ~(uint32_t)STREAM_REGS;
}
