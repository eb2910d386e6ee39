/* f32 tanh of arrays, as exp_array.c; the work of three blocks is static, as it would fill the stack. */

/* elements of blocks of whole elements, multiples of 4, 64 at most, of which the last one has 12 too; *whole may
   become less */
static int32_t pd_even_blocks(int32_t *whole) {
  const int32_t quads = *whole / 4, count = (quads + 15) / 16, size = (quads + count - 1) / count;
  const int32_t last = quads - (count - 1) * size;
  if (count > 1 && last < 3) {
    *whole = (count - 1) * size * 4;
  }
  return size * 4;
}

void snitch_tanh_f32_array(const float *restrict x, float *restrict y, int32_t n) {
  void snitch_tanh_blocks(const float *, float *, int32_t, int32_t, float *); /* snitch_tanh.S */
  static _Alignas(8) float work[768];
  int32_t done = 0;
  if (n >= 24 && pd_streamable(x, y) && pd_streamable(y, y)) {
    if (((uintptr_t)x & 7) != 0) {
      y[0] = pd_tanh_f32(x[0]);
      done = 1;
    }
    int32_t whole = (n - done) & ~3;
    const int32_t block = pd_even_blocks(&whole);
    snitch_tanh_blocks(x + done, y + done, whole, block, work);
    done += whole;
  }
  for (; done < n; done++) {
    y[done] = pd_tanh_f32(x[done]);
  }
}
