/* f32 tanh and sigmoid of arrays, as exp_array.c; the work of three blocks is static, as it would fill the stack. */

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

/* compute all but a first element that is not aligned, which makes the count odd, and those from the result on */
static int32_t pd_in_blocks(void blocks(const float *, float *, int32_t, int32_t, float *), const float *x, float *y,
                            int32_t n) {
  static _Alignas(8) float work[768];
  if (n < 24 || !pd_streamable(x, y) || !pd_streamable(y, y)) {
    return 0;
  }
  const int32_t first = ((uintptr_t)x & 7) != 0;
  int32_t whole = (n - first) & ~3;
  const int32_t block = pd_even_blocks(&whole);
  blocks(x + first, y + first, whole, block, work);
  return first + whole;
}

void snitch_tanh_f32_array(const float *restrict x, float *restrict y, int32_t n) {
  void snitch_tanh_blocks(const float *, float *, int32_t, int32_t, float *); /* snitch_tanh.S */
  int32_t done = pd_in_blocks(snitch_tanh_blocks, x, y, n);
  if ((done & 1) != 0) {
    y[0] = pd_tanh_f32(x[0]);
  }
  for (; done < n; done++) {
    y[done] = pd_tanh_f32(x[done]);
  }
}

void snitch_sigmoid_f32_array(const float *restrict x, float *restrict y, int32_t n) {
  void snitch_sigmoid_blocks(const float *, float *, int32_t, int32_t, float *); /* snitch_sigmoid.S */
  int32_t done = pd_in_blocks(snitch_sigmoid_blocks, x, y, n);
  if ((done & 1) != 0) {
    y[0] = pd_sigmoid_f32(x[0]);
  }
  for (; done < n; done++) {
    y[done] = pd_sigmoid_f32(x[done]);
  }
}
