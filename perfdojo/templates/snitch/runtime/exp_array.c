/* f32 exp of arrays: the loop that all of the cluster's hardware works for, where it can be had. */

/* whether data movers reach an address, and whether it is aligned for them but for the same half word as another */
static inline bool pd_streamable(const void *x, const void *like) {
  return (uintptr_t)x >> 17 == 0x10000000u >> 17 && (((uintptr_t)x ^ (uintptr_t)like) & 7) == 0;
}

void snitch_exp_f32_array(const float *restrict x, float *restrict y, int32_t n) {
  void snitch_exp_blocks(const float *, float *, int32_t, int32_t, float *); /* snitch_exp.S */
  _Alignas(8) float work[128];
  int32_t done = 0;
  if (n >= 24 && pd_streamable(x, y) && pd_streamable(y, y) && pd_streamable(work, work)) {
    if (((uintptr_t)x & 7) != 0) {
      y[0] = pd_exp_f32(x[0]);
      done = 1;
    }
    /* two blocks at least, so that one is shifted while the other is computed */
    const int32_t whole = (n - done) & ~3, half = (whole / 2 + 3) & ~3;
    snitch_exp_blocks(x + done, y + done, whole, half < 64 ? half : 64, work);
    done += whole;
  }
  for (; done < n; done++) {
    y[done] = pd_exp_f32(x[done]);
  }
}
