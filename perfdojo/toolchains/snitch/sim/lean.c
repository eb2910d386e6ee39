// FP subsystem in the middle of loops of arithmetic: the same steps as fpss.c with nothing else to look at.
#include "lean.h"
#include "fp_host.h"
#include "fpexec.h"
#include "fpss.h"
#include "seq.h"
#include "ssr.h"

static bool arithmetic(const Dec *d, uint8_t pipe) { return d->op == OP_FP && d->fbit && d->pipe == pipe && pipe != PIPE_DIVSQRT; }

static bool pure_loop(Hart *h, const Loop *l, uint32_t smax) {
  const Seq *s = &h->fp.seq;
  for (uint32_t i = 0; i <= l->max_inst; i++) {
    const RingEntry *e = &s->ring[(l->base + i) & (RING - 1)];
    for (uint32_t n = 0; n <= (l->smask ? smax : 0u); n++) {
      const Dec *d = n ? stagger(h, e->dec, l->smask, n) : e->dec;
      if (!arithmetic(d, s->pipe)) return false;
    }
  }
  return true;
}

// Looks once at the bodies of loops whose instructions have all arrived.
static bool pure_bodies(Hart *h) {
  Seq *s = &h->fp.seq;
  if (s->pure) return s->pure == 1;
  uint32_t smax = s->loop[s->loops - 1].smax;  // the innermost loop counts
  s->pure = 2, s->pipe = s->ring[s->loop[0].base].dec->pipe;
  for (uint32_t k = 0; k < s->loops; k++) {
    if (!pure_loop(h, &s->loop[k], smax)) return false;
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
  if (!s->active || !s->all_in || f->chain) return false;
  if ((h->cl->flags & (F_STATS | F_EVENTS)) || !input_waits(h) || !pure_bodies(h)) return false;
  if (f->pipes & ~(1u << s->pipe)) return false;
  const FpuPipe *p = &f->pipe[s->pipe];
  for (uint32_t i = 0; i < p->n; i++) {
    if (p->op[(p->head + i) & 3].acc) return false;
  }
  return true;
}

// The oldest result to its register or stream; false when a full stream does not take it.
static inline bool write_back(Fpss *f, const FpuOp *op, uint32_t *clear) {
  if (op->ssr) {
    if (!(f->lane_ok & op->bit)) return false;
    mover_push(&f->mover[op->rd], op->result);
    f->busy_movers |= (uint8_t)op->bit;
    return true;
  }
  if (op->bit & f->ssr) f->arch[op->rd] = op->result;
  else f->f[op->rd] = op->result;
  *clear = op->bit;
  return true;
}

// The cause that d does not issue, or 0.
static inline int stalled(const Fpss *f, const Dec *d, uint32_t dry, bool room) {
  if (f->sb & d->fregs) return FS_RAW;
  if (f->sb & d->fbit) return FS_WAW;
  if (dry) return FS_EMPTY;
  if (!room) return f->stream_full ? FS_FULL : FS_FPU;
  return 0;
}

static inline void start(Hart *h, FpuOp *op, const Dec *d, const RingEntry *e, enum fp_rm rm) {
  Fpss *f = &h->fp;
  unsigned flags = h->fcsr & 31;  // flags that are up need not be found again
  op->pc = e->pc, op->bit = d->fbit, op->rd = d->rd, op->acc = 0, op->ssr = (d->fbit & f->ssr) != 0;
  bool fma = d->fop == F_MADD && d->fmt == FMT_D && rm == RNE && fp_host_has_fma();
  if (!fma || !fp_host_fma_d(f->f[d->rs1], f->f[d->rs2], f->f[d->rs3], &op->result, &flags)) {
    const uint64_t v[4] = {f->f[d->rs1], f->f[d->rs2], f->f[d->rs3], f->f[d->rd]};
    op->result = fp_exec(d, v, e->a, rm, h->fmode, &flags);
  }
  h->fcsr |= flags;
  h->fpu_issues++, h->seq_issues++;
}

bool lean_cycle(Hart *h) {
  Fpss *f = &h->fp;
  Seq *s = &f->seq;
  const Loop *l = &s->loop[s->idx];
  uint64_t now = h->cl->now;
  bool runs_on = s->idx + 1 == s->loops && l->iter < l->max_iter;
  if (!runs_on && (seq_ends(s) || seq_enters(s))) return false;
  if (h->answers || (h->n.rq && h->rq[h->rq_head].when <= now)) return false;
  if (f->config_waits && f->mover[f->config_waits - 1].config_ok) return false;
  const RingEntry *e = &s->ring[s->rd];
  const Dec *d = s->stagger && l->smask ? stagger(h, e->dec, l->smask, s->stagger) : e->dec;
  uint32_t streams = d->fregs & f->ssr, dry = streams & ~(uint32_t)f->lane_ok, rm = d->rm == 7 ? (h->fcsr >> 5) & 7 : d->rm;
  if ((dry & ~(uint32_t)f->busy_movers) | (streams & f->write_lanes)) return false;  // may never come; an error
  if (rm > RMM) return false;
  FpuPipe *p = &f->pipe[s->pipe];
  uint32_t head = p->head, n = p->n, clear = 0;
  const FpuOp *oldest = &p->op[head];
  bool out = n && oldest->ready <= now;
  if (out && oldest->ssr && !(f->write_lanes & oldest->bit)) return false;
  f->stream_full = out && !write_back(f, oldest, &clear);
  if (out && !f->stream_full) {
    f->out.rr = s->pipe, n--, head = (head + 1) & 3;
    if (n && p->op[head].ready <= now) p->op[head].ready = now + 1;  // was held behind
  }
  int why = stalled(f, d, dry, n < p->depth);
  f->sb &= ~clear;
  if (!why) {
    for (; streams; streams &= streams - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(streams);
      f->f[i] = mover_pop(f, i);
    }
    FpuOp *op = &p->op[(head + n++) & 3];
    op->ready = now + p->depth;
    start(h, op, d, e, (enum fp_rm)rm);
    f->starved = 0, f->sb = (f->sb | d->fbit) & ~(uint32_t)f->ssr;
    if (runs_on) seq_step_pass(s);
    else seq_step(s);
  } else {
    h->stalls[why]++;
  }
  p->head = (uint8_t)head, p->n = (uint8_t)n;
  f->pipes = (uint8_t)((n > 0) << s->pipe);
  return true;
}
