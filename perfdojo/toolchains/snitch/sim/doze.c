// Harts of which the next cycles are known to count stalls only: they are left out until something comes.
//
// A hart dozes while its integer core and its FP subsystem wait, no queue changes its length, and all that can come is an
// answer of memory, at a time that is known, or the grant of the port out of the cluster, for which it goes on asking.
#include "doze.h"
#include <string.h>
#include "fpss.h"
#include "memory.h"

static const uint64_t never = ~UINT64_C(0);

// The integer core looks at these lengths only, so that it stalls again when they are as they were.
static bool core_stays(const Hart *h) {
  const Counts *n = &h->n;
  if (n->lrsp | n->rsp) return false;
  return h->needs == NEED_RESULT || !memcmp(n, &h->n0, sizeof *n);
}

// Asks for the port out of the cluster if there is an access to make; false when it is one to the TCDM.
static bool asks_outside(Hart *h) {
  uint32_t req = (uint32_t)(h->n.req > 0) | (uint32_t)(h->n.fpreq > 0) << 1;
  if (!req || h->n.rq >= MEM_PATH) return true;
  const MemReq *q = arb_try(&h->mem_arb, req) ? &h->fp.req[0] : &h->req[0];
  if (where(q->addr) == AT_TCDM) return false;
  arb_done(&h->mem_arb, req, false);
  h->cl->soc.dozing |= 1u << h->id;
  return true;
}

void doze_try(Hart *h) {
  Cluster *c = h->cl;
  uint64_t until = h->n.rq ? h->rq[h->rq_head].when : never;
  if (until <= c->now + 1 || c->md.waiting || (c->look >> h->id & 1) || !core_stays(h)) return;
  int why = fpss_stays(h);
  if (why < 0 || !asks_outside(h)) return;
  if (until == never && !(c->soc.dozing >> h->id & 1)) return;  // nothing would end it
  h->fp_stall = (uint8_t)why, h->asleep_since = c->now + 1, h->doze_until = until;
  if (until < c->doze_until) c->doze_until = until;
  c->awake &= ~(1u << h->id), c->dozing |= 1u << h->id;
}

void doze_end(Hart *h) {
  Cluster *c = h->cl;
  uint64_t n = c->now - h->asleep_since;
  h->stalls[h->stall] += n;
  if (h->fp_stall) h->stalls[h->fp_stall] += n;
  c->dozing &= ~(1u << h->id), c->soc.dozing &= ~(1u << h->id), c->awake |= 1u << h->id;
}

void doze_end_due(Cluster *c) {
  c->doze_until = never;
  for (uint32_t left = c->dozing; left; left &= left - 1) {
    Hart *h = &c->hart[__builtin_ctz(left)];
    if (h->doze_until <= c->now) doze_end(h);
    else if (h->doze_until < c->doze_until) c->doze_until = h->doze_until;
  }
}
