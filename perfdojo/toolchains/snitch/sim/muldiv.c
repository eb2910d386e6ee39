// The multiplier and the serial divider that all harts share.
#include "units.h"

enum { IDLE, DIVIDE, FINISH };

static uint32_t product(uint32_t f3, uint32_t a, uint32_t b) {
  int64_t sa = (int32_t)a, sb = (int32_t)b;
  if (f3 == 0) return a * b;
  if (f3 == 1) return (uint32_t)((uint64_t)(sa * sb) >> 32);
  if (f3 == 2) return (uint32_t)((uint64_t)(sa * (int64_t)(uint64_t)b) >> 32);
  return (uint32_t)(((uint64_t)a * b) >> 32);
}

static uint32_t quotient(uint32_t f3, uint32_t a, uint32_t b) {
  bool is_signed = !(f3 & 1), rem = f3 & 2;
  if (!b) return rem ? a : 0xffffffffu;
  if (is_signed && a == 0x80000000u && b == 0xffffffffu) return rem ? 0 : a;
  if (is_signed) return (uint32_t)(rem ? (int32_t)a % (int32_t)b : (int32_t)a / (int32_t)b);
  return rem ? a % b : a / b;
}

static int zeros(uint32_t v) { return v ? __builtin_clz(v) : 32; }

// Steps of the divider: positions by which the divisor is shifted to the dividend; below 0 the result is 0 at once.
static int steps(uint32_t f3, uint32_t a, uint32_t b) {
  bool is_signed = !(f3 & 1);
  if (is_signed && a >> 31) a = ~a << 1;
  if (is_signed && b >> 31) b = ~b;
  return b ? zeros(b) - zeros(a) : 32;
}

void muldiv_present(Cluster *c) {
  MulDiv *m = &c->md;
  bool div = m->div_state == FINISH || (m->div_state == DIVIDE && m->div_zero);
  uint32_t req = m->mul_valid | (uint32_t)div << 1;
  m->offered = 0;
  if (!req) return;
  if (m->out.lock && (m->out.held & ~req)) m->out.lock = 0;
  bool is_div = arb_try(&m->out, req);
  Hart *h = &c->hart[is_div ? m->div_hart : m->mul_hart];
  h->answers |= 1u << FROM_MULDIV, h->md_data = is_div ? m->div_res : m->mul_res, h->md_rd = is_div ? m->div_rd : m->mul_rd;
  m->offered = is_div ? 2 : 1;
}

static void step_divider(MulDiv *m, bool taken) {
  if (taken) { m->div_state = IDLE; return; }
  if (m->div_state != DIVIDE) return;
  if (m->div_zero || m->div_cnt == 0) m->div_state = FINISH;
  else m->div_cnt--;
}

static bool start(Cluster *c, Hart *h, const Offload *o, bool mul_free, bool div_free) {
  MulDiv *m = &c->md;
  uint32_t f3 = o->dec->sub;
  if (f3 < 4) {
    if (!mul_free) return false;
    m->mul_valid = 1, m->mul_hart = (uint8_t)h->id, m->mul_rd = o->dec->rd, m->mul_res = product(f3, o->a, o->b);
    return true;
  }
  if (!div_free) return false;
  int n = steps(f3, o->a, o->b);
  m->div_state = DIVIDE, m->div_hart = (uint8_t)h->id, m->div_rd = o->dec->rd, m->div_res = quotient(f3, o->a, o->b);
  m->div_zero = n < 0, m->div_cnt = (uint32_t)n;
  return true;
}

void muldiv_accept(Cluster *c) {
  MulDiv *m = &c->md;
  bool div_idle = m->div_state == IDLE;
  if (m->offered) {
    Hart *h = &c->hart[m->offered == 2 ? m->div_hart : m->mul_hart];
    bool taken = !(h->answers >> FROM_MULDIV & 1);
    uint32_t req = m->mul_valid | (uint32_t)(m->div_state == FINISH || (m->div_state == DIVIDE && m->div_zero)) << 1;
    arb_done(&m->out, req, taken);
    h->answers &= (uint8_t)~(1u << FROM_MULDIV), m->waiting -= taken;
    if (taken && m->offered == 1) m->mul_valid = 0;
    step_divider(m, taken && m->offered == 2);
  } else {
    step_divider(m, false);
  }
  uint32_t want = 0;
  for (uint32_t i = 0; i < c->harts; i++) {
    const Hart *h = &c->hart[i];
    if (h->n0.acc && h->n.acc && h->acc[0].dec->unit == UNIT_MULDIV) want |= 1u << i;
  }
  if (!want) return;
  Hart *h = &c->hart[arb_try(&m->in, want)];
  bool got = start(c, h, &h->acc[0], !m->mul_valid, div_idle);
  arb_done(&m->in, want, got);
  if (got) h->acc[0] = h->acc[1], h->n.acc--;
}
