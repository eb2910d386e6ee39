// Answers to the integer core, stream configuration, stream CSRs, checks of frep.
#include "units.h"
#include "events.h"
#include "ssr.h"

bool answer_core(Hart *h, bool fpu, const FpuOp *op) {
  uint32_t req = (uint32_t)fpu << FROM_FPU | h->answers;
  if (!req) return false;
  Arb *a = &h->rsp_arb;
  if (a->lock && (a->held & ~req)) a->lock = 0;
  uint32_t w = arb_try(a, req);
  bool ready = h->n0.rsp < 2;
  arb_done(a, req, ready);
  if (!ready) return false;
  uint32_t data = 0;
  uint8_t rd = 0;
  if (w == FROM_FPU) data = (uint32_t)op->result, rd = op->rd;
  if (w == FROM_MULDIV) data = h->md_data, rd = h->md_rd;
  if (w == FROM_DMA) data = h->dma_data, rd = h->dma_rd;
  if (w == FROM_SSR) data = h->ssr_data, rd = h->ssr_rd;
  h->answers &= (uint8_t)~(1u << w);
  h->rsp[h->n.rsp].data = data, h->rsp[h->n.rsp].rd = rd, h->rsp[h->n.rsp++].when = h->cl->now + 1;
  return w == FROM_FPU;
}

static bool configure(Hart *h, const Offload *o) {
  const Dec *d = o->dec;
  bool write = d->op == OP_SCFGW;
  uint32_t addr = d->op == OP_SCFGR || d->sub ? o->b & 0xfff : (uint32_t)d->imm, mover = addr & 31, word = addr >> 5;
  if (h->answers >> FROM_SSR & 1) return false;
  if (word > 31 || (mover >= MOVERS && mover != 31)) {
    fail(h->cl, h, o->pc, d->word, "stream configuration word %u of mover %u does not exist", word, mover);
    return false;
  }
  uint32_t first = mover == 31 ? 0 : mover, last = mover == 31 ? MOVERS - 1 : mover;
  for (uint32_t i = first; write && i <= last; i++) {
    if (!h->fp.mover[i].config_ok) return false;
  }
  h->answers |= 1u << FROM_SSR, h->ssr_rd = write ? 0 : d->rd;
  h->ssr_data = write || mover == 31 ? 0 : mover_read(&h->fp.mover[mover], word);
  if (!write) return true;
  if (word >= 17 && word < 24 && word != 20) {
    fail(h->cl, h, o->pc, d->word, "stream configuration word %u starts an index intersection, which is not modelled", word);
    return false;
  }
  if (mover == 2 && word >= 16 && word < 24) {
    fail(h->cl, h, o->pc, d->word, "mover 2 has no indirection");
    return false;
  }
  for (uint32_t i = first; i <= last; i++) mover_write(h, i, word, o->a);
  return true;
}

bool offer_unit(Hart *h, const Offload *o) {
  if (o->dec->unit == UNIT_SSR) return configure(h, o);
  if (o->dec->unit == UNIT_DMA) return dma_offer(h, o);
  return false;
}

int set_stream_csr(Hart *h, const Dec *d, uint32_t value) {
  Fpss *f = &h->fp;
  bool set = d->sub == 6 || d->sub == 2;
  if (d->imm == 0x7c0) {
    for (int i = 0; i < MOVERS && set != (f->ssr != 0); i++) {
      if (set) f->arch[i] = f->f[i];
      else f->f[i] = f->arch[i];
    }
    f->ssr = set ? STREAM_REGS : 0;
  } else if (set) f->chain |= value;
  else f->chain &= ~value, f->chain_full &= ~value;
  return 0;
}

void check_frep(Hart *h, const Offload *o, bool issued) {
  const Seq *s = &h->fp.seq;
  uint32_t w = o->dec->word, n = (w >> 20) & 31;
  bool wrong = !(h->cl->flags & F_HARDWARE);
  if (w >> 31) fail(h->cl, h, o->pc, w, "frep whose passes an index stream ends is not modelled");
  else if (wrong && (w >> 20) > 31) fail(h->cl, h, o->pc, w, "frep body of %u instructions: the buffer holds 32", (w >> 20) + 1);
  else if (s->loops >= 2) fail(h->cl, h, o->pc, w, "third nested frep: the sequencer has two loops");
  else if (wrong && s->loops && s->loop[0].max_inst == n && s->loop[0].base == ((s->base + s->count) & (RING - 1)))
    fail(h->cl, h, o->pc, w, "inner and outer frep hold the same instructions: the hardware loses passes");
  else if (wrong && !s->loops && s->count == RING && !issued)
    fail(h->cl, h, o->pc, w, "frep arrives while the 32-entry buffer is full: the hardware would repeat older instructions");
  event(h->cl, EV_FREP_BEGIN, h->id, o->pc, (o->a & 0xffff) + 1);
}

void check_inner(Hart *h, const RingEntry *e) {
  const Seq *s = &h->fp.seq;
  bool lost = s->active && s->idx == 0 && s->rd == s->loop[1].base && s->loop[1].max_iter;
  if (lost && !(h->cl->flags & F_HARDWARE))
    fail(h->cl, h, e->pc, e->dec->word, "inner and outer frep begin with this instruction, and older ones were still in the buffer: the hardware loses passes");
}

// Latency and initiation interval as measured: 21 and 19 cycles in f64, 14 and 12 in f32.
uint64_t start_divider(Hart *h, const Dec *d) {
  bool wide = d->fmt == FMT_D;
  h->fp.div_busy = h->cl->now + (wide ? 19 : 12);
  return h->cl->now + (wide ? 20 : 13);
}
