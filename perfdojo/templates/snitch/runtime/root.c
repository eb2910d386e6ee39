/* Square roots: an inverse root by iteration, and a last step that rounds correctly. */

/* 1 / sqrt(x) to 2^-20, by y0, which is 3.5 % off at most: x y0^2 = 1 - 2 r, 1 / sqrt(1 - 2 r) by a cubic */
static inline double pd_inverse_root(double x, double y0) {
  const double g = x * y0, h = 0.5 * y0;
  const double r = fma(-g, h, 0.5);
  const double z = r * r, u = fma(0x1.412c92922ce7bp+1, r, 0x1.814def1346aecp+0);
  return y0 * fma(u, z, fma(0x1.ffffd351c9b77p-1, r, 0x1.ffffe72e36318p-1));
}

/* g + (x - g^2) / (g + sqrt x), g = x y: the root within 2^-59, rounded once; y as of `pd_inverse_root` */
static inline double pd_root(double x, double y, double *half) {
  const double g = x * y, h = 0.5 * y, h3 = 0.75 * y;
  const double r = fma(-g, h, 0.5), d = fma(-g, g, x);
  const double slope = fma(r, h3, h); /* 1 / (g + sqrt x) = h (1 + 1.5 r + ...) */
  const double t = fma(1.5, r, 1.0);
  const double root = fma(d, slope, g), growth = r * t;
  *half = fma(h, growth, h); /* 1 / (2 sqrt x) */
  return root;
}

/* The root of an f32, unless it is an f32 itself, is at least 2^-51 of its size away from the middle of two f32,
   and none is such a middle: a second rounding does no harm. */
float sqrtf(float x) {
  const uint32_t bits = pd_bits_of_f32(x);
  const double wide = (double)x;
  double half;
  const double inverse = pd_inverse_root(wide, (double)pd_f32_of_bits(0x5f374750u - (bits >> 1)));
  float y = (float)pd_root(wide, inverse, &half);
  PD_KEEP(y);
  if (PD_RARELY(bits - 0x00800000 >= 0x7f000000)) {
    return pd_root_special_f32(x);
  }
  return y;
}

static PD_COLD float pd_root_special_f32(float x) {
  return (float)pd_root_special_f64((double)x);
}

/* The last step is correctly rounded. Let ulp(sqrt x) be 1, so that x is a multiple of 2^52, m = k + 1/2 the
   middle next to the root, and 4 x = 4 m^2 - c, c = 1 mod 8. g is k or k + 1, as it is within 0.51 of the root;
   with the exact h = 1 / (2 sqrt x), g + (x - g^2) h = m - (1 + c) / (8 m), up to terms of 1 / m^3. c = 1, where
   k (k + 1) is a multiple of 2^52, belongs to the mantissas 1 + 2^-52 and 4 - 2^-51 alone, which the tests try.
   For all other c, |1 + c| >= 6, and h may have a relative error of 6 / (4 m): 3 / u * 2^-53, u the mantissa of
   the root. It has (u / 2 + 1 / (2 u)) * 2^-53, from its rounding and that of x y: less, for 1 <= u <= 2. */
static inline double pd_root_f64(double x, double y) {
  double h;
  const double g = pd_root(x, y, &h);
  return fma(fma(-g, g, x), h, g);
}

static inline double pd_inverse_root_f64(double x) {
  return pd_inverse_root(x, pd_f64_of_words(0x5fe6e8eau - (pd_high_of_f64(x) >> 1), 0));
}

double sqrt(double x) {
  const uint32_t high = pd_high_of_f64(x);
  double root = pd_root_f64(x, pd_inverse_root_f64(x));
  PD_KEEP(root);
  if (PD_RARELY(high - 0x07b00000 >= 0x78400000)) { /* below 2^-900 x - g^2 would lose bits */
    return pd_root_special_f64(x);
  }
  return root;
}

static PD_COLD double pd_root_special_f64(double x) {
  if (x > 0.0 && x < INFINITY) {
    return 0x1p-180 * pd_root_f64(0x1p360 * x, pd_inverse_root_f64(0x1p360 * x));
  }
  return x < 0.0 ? NAN : x + x;
}

/* 1 / sqrt(x), each of the two rounded: the inverse root that the root needs is nearly the reciprocal */
static inline float snitch_rsqrtf(float x) {
  const uint32_t bits = pd_bits_of_f32(x);
  const double wide = (double)x;
  const double y = pd_inverse_root(wide, (double)pd_f32_of_bits(0x5f374750u - (bits >> 1)));
  double half;
  const double root = (double)(float)pd_root(wide, y, &half);
  const double e = fma(-root, y, 1.0);
  float inverse = (float)fma(y, fma(e, e, e), y);
  PD_KEEP(inverse);
  if (PD_RARELY(bits - 0x00800000 >= 0x7f000000)) {
    return __divsf3(1.0f, sqrtf(x));
  }
  return inverse;
}

/* the same for f64; see `sqrt` and `__divdf3` */
static inline double snitch_rsqrt(double x) {
  const uint32_t high = pd_high_of_f64(x);
  const double y = pd_inverse_root_f64(x), root = pd_root_f64(x, y);
  const double e = fma(-root, y, 1.0), more = fma(-root, y, 1.0 + 0x1p-38);
  const double y2 = fma(y, fma(e, more, e), y);
  double inverse = fma(fma(-root, y2, 1.0), y2, y2);
  PD_KEEP(inverse);
  if (PD_RARELY(high - 0x07b00000 >= 0x78400000)) {
    return __divdf3(1.0, sqrt(x));
  }
  return inverse;
}
