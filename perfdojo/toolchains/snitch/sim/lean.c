// FP subsystem in the middle of a loop of arithmetic: the same steps as fpss.c with nothing else to look at.
#include "lean.h"
#include "fp.h"
#include "fpexec.h"
#include "fpss.h"
#include "seq.h"
#include "ssr.h"

enum { STREAM_REGS = 7 };

static bool arithmetic(const Dec *d, uint8_t pipe) { return d->op == OP_FP && d->fbit && d->pipe == pipe && pipe != PIPE_DIVSQRT; }

// Looks once at the body of a loop whose instructions have all arrived.
static bool pure_body(Hart *h) {
  Seq *s = &h->fp.seq;
  const Loop *l = &s->loop[0];
  if (s->pure) return s->pure == 1;
  s->pure = 2, s->pipe = s->ring[l->base].dec->pipe;
  for (uint32_t i = 0; i <= l->max_inst; i++) {
    const RingEntry *e = &s->ring[(l->base + i) & (RING - 1)];
    for (uint32_t n = 0; n <= (l->smask ? l->smax : 0u); n++) {
      const Dec *d = n ? stagger(h, e->dec, l->smask, n) : e->dec;
      if (!arithmetic(d, s->pipe)) return false;
    }
  }
  s->pure = 1;
  return true;
}

// Whether what is handed over has to wait while the loop runs; a stream configuration waits for its mover.
static bool input_waits(Hart *h) {
  h->fp.config_waits = 0;
  if (!h->n.acc) return true;
  const Dec *d = h->acc[0].dec;
  if (d->op == OP_SCFGW && !d->sub && ((uint32_t)d->imm & 31) < MOVERS) {
    h->fp.config_waits = (uint8_t)(1u + ((uint32_t)d->imm & 31));
    return true;
  }
  if (d->unit != UNIT_FP) return false;
  return d->op == OP_FREP || (d->flags & FP_DIRECT) || h->fp.seq.count == RING;
}

bool lean_possible(Hart *h) {
  const Fpss *f = &h->fp;
  const Seq *s = &f->seq;
  if (!s->active || s->loops != 1 || !s->all_in || f->chain) return false;
  if ((h->cl->flags & (F_STATS | F_EVENTS)) || !input_waits(h) || !pure_body(h)) return false;
  if (f->pipes & ~(1u << s->pipe)) return false;
  const FpuPipe *p = &f->pipe[s->pipe];
  for (uint32_t i = 0; i < p->n; i++) {
    if (p->op[(p->head + i) & 3].acc) return false;
  }
  return true;
}

static inline bool write_back(Hart *h, FpuPipe *p, uint32_t *clear) {
  Fpss *f = &h->fp;
  const FpuOp *op = &p->op[p->head];
  uint32_t bit = 1u << op->rd;
  if (op->ssr) {
    if (!(f->lane_ok & bit)) return false;
    mover_push(&f->mover[op->rd], op->result);
    f->busy_movers |= (uint8_t)bit;
  } else {
    if (f->ssr && op->rd < MOVERS) f->arch[op->rd] = op->result;
    else f->f[op->rd] = op->result;
    *clear = bit;
  }
  p->head = (p->head + 1) & 3, f->out.rr = f->seq.pipe;
  if (--p->n == 0) f->pipes = 0;
  else if (p->op[p->head].ready <= h->cl->now) p->op[p->head].ready = h->cl->now + 1;
  return true;
}

static inline int issue(Hart *h, FpuPipe *p, const Dec *d, uint32_t pc, uint32_t a) {
  Fpss *f = &h->fp;
  uint32_t streams = f->ssr ? d->fregs & STREAM_REGS : 0;
  if (f->sb & d->fregs) return FS_RAW;
  if (f->sb & d->fbit) return FS_WAW;
  if (streams & ~(uint32_t)f->lane_ok) return FS_EMPTY;
  if (p->n >= p->depth) return f->stream_full ? FS_FULL : FS_FPU;
  for (uint32_t left = streams; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    f->f[i] = mover_pop(f, i);
  }
  unsigned flags = h->fcsr & 31;  // flags that are up need not be found again
  FpuOp *op = &p->op[(p->head + p->n++) & 3];
  uint32_t rm = !(d->flags & FP_ROUNDS) ? 0 : d->rm == 7 ? (h->fcsr >> 5) & 7 : d->rm;
  if (d->fop == F_MADD && d->fmt == FMT_D) {
    op->result = fp_fma(FP_D, f->f[d->rs1], f->f[d->rs2], f->f[d->rs3], (enum fp_rm)rm, false, false, &flags);
  } else {
    const uint64_t v[4] = {f->f[d->rs1], f->f[d->rs2], f->f[d->rs3], f->f[d->rd]};
    op->result = fp_exec(d, v, a, rm, h->fmode, &flags);
  }
  op->rd = d->rd, op->acc = 0, op->pc = pc, op->ssr = f->ssr && d->rd < MOVERS;
  op->ready = h->cl->now + p->depth;
  h->fcsr |= flags, f->pipes = (uint8_t)(1u << f->seq.pipe);
  h->fpu_issues++, h->seq_issues++;
  return 0;
}

bool lean_cycle(Hart *h) {
  Fpss *f = &h->fp;
  Seq *s = &f->seq;
  Loop *l = &s->loop[0];
  bool last = l->inst == l->max_inst;
  if (last && l->iter == l->max_iter) return false;
  if (f->config_waits && f->mover[f->config_waits - 1].config_ok) return false;
  const RingEntry *e = &s->ring[s->rd];
  const Dec *d = s->stagger && l->smask ? stagger(h, e->dec, l->smask, s->stagger) : e->dec;
  uint32_t streams = f->ssr ? d->fregs & STREAM_REGS : 0, rm = d->rm == 7 ? (h->fcsr >> 5) & 7 : d->rm;
  if (streams & ~(uint32_t)f->lane_ok & ~(uint32_t)f->busy_movers) return false;  // may never come
  if (streams & f->write_lanes || rm > 4) return false;
  FpuPipe *p = &f->pipe[s->pipe];
  uint32_t clear = 0;
  bool out = p->n && p->op[p->head].ready <= h->cl->now;
  if (out && p->op[p->head].ssr && !(f->write_lanes >> p->op[p->head].rd & 1)) return false;
  f->stream_full = out && !write_back(h, p, &clear);
  int why = issue(h, p, d, e->pc, e->a);
  f->sb &= ~clear;
  if (why) { h->stalls[why]++; return true; }
  f->starved = 0;
  f->sb |= d->fbit;
  if (f->ssr) f->sb &= ~(uint32_t)STREAM_REGS;
  if (last) {
    l->inst = 0, l->iter++, s->rd = l->base;
    s->stagger = s->stagger == l->smax ? 0 : s->stagger + 1;
  } else {
    l->inst++, s->rd = (s->rd + 1) & (RING - 1);
  }
  return true;
}
