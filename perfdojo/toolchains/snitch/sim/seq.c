// Sequencer between the integer core and the FP subsystem: ring buffer and two nested hardware loops.
#include "seq.h"

bool seq_takes_frep(const Seq *s) {
  if (!s->loops) return true;
  const Loop *o = &s->loop[0];
  return !s->all_in && ((seq_wr(s) - o->base) & (RING - 1)) <= o->max_inst;
}

static void start_loop(Seq *s, const Offload *f, uint8_t wr) {
  uint32_t w = f->dec->word;
  s->loop[s->loops++] = (Loop){.max_iter = (uint16_t)f->a, .max_inst = (w >> 20) & 31, .smax = (w >> 12) & 7,
                              .smask = (w >> 8) & 15, .base = wr};
}

static bool last_inst(const Loop *l) { return l->inst == l->max_inst; }
static bool last_iter(const Loop *l) { return l->iter == l->max_iter; }

static void count_inst(Loop *l) {
  if (!last_inst(l)) { l->inst++; return; }
  l->inst = 0;
  l->iter = last_iter(l) ? 0 : (uint16_t)(l->iter + 1);
}

// Moves the read pointer, the loop counters and the active level past the instruction that was issued.
static bool advance(Seq *s, bool *loop_ended) {
  Loop *l = s->loop;
  if (!s->active) {
    s->rd = s->base = (s->rd + 1) & (RING - 1), s->count--;
    return false;
  }
  bool inner_ends = s->idx == 1 && last_inst(&l[1]) && last_iter(&l[1]);
  bool counts = s->idx == 0 || last_iter(&l[1]);     // the outer loop counts an inner instruction in its last pass
  bool nest_ends = last_inst(&l[0]) && last_iter(&l[0]) && counts;
  *loop_ended = inner_ends || nest_ends;
  const Loop *stays = &l[inner_ends ? 0 : s->idx];
  uint8_t next = (s->rd + 1) & (RING - 1);
  if (!nest_ends && last_inst(stays)) next = stays->base;
  if (s->idx == s->loops - 1) {
    const Loop *cur = &l[s->idx];
    if (nest_ends) s->stagger = 0;
    else if (last_inst(cur)) s->stagger = last_iter(cur) || s->stagger == cur->smax ? 0 : s->stagger + 1;
  }
  uint8_t step = l[0].max_inst + 1;
  if (s->idx == 1) count_inst(&l[1]);
  if (counts) count_inst(&l[0]);
  s->rd = next;
  if (nest_ends) s->base = (s->base + step) & (RING - 1), s->count -= step;
  return nest_ends;
}

void seq_step_nest(Seq *s) {
  bool loop_ended = false;
  advance(s, &loop_ended);
  if (loop_ended) s->idx = 0;
  else if (seq_enters(s)) s->idx = 1;
}

// The common case: a nest runs on and nothing arrives. False when the general rules are needed.
static bool inside_nest(Seq *s, bool issued) {
  if (!s->active || seq_enters(s)) return false;
  if (!issued) return true;
  if (seq_ends(s)) return false;
  seq_step(s);
  return true;
}

bool seq_cycle(Seq *s, bool issued, const Offload *append, const Offload *frep) {
  if (!append && !frep && inside_nest(s, issued)) return false;
  uint8_t wr = seq_wr(s), loops_before = s->loops;
  bool was_active = s->active, loop_ended = false, nest_ends = false;
  if (issued) nest_ends = advance(s, &loop_ended);
  bool last_of_nest = loops_before && append && wr == ((s->loop[0].base + s->loop[0].max_inst) & (RING - 1));
  if (last_of_nest) s->all_in = 1;
  else if (nest_ends) s->all_in = 0;
  if (nest_ends) s->loops = 0;
  if (nest_ends || frep) s->pure = 0;
  if (append) s->ring[wr] = (RingEntry){append->dec, append->pc, append->a, append->addr}, s->count++;
  if (frep) start_loop(s, frep, wr);
  if (nest_ends) {
    s->active = s->idx = 0;
  } else {
    if (s->loops && s->rd == s->loop[0].base) s->active = 1;
    if (loop_ended) s->idx = 0;
    else if (was_active && s->idx == 0 && s->loops == 2 && s->rd == s->loop[1].base) s->idx = 1;
  }
  return nest_ends;
}
