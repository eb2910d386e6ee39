/* Division without a divider: a reciprocal by Newton's iteration, and a last step that rounds correctly. */

/* a / b by y0, a reciprocal of b to 5.1 %: within 2^-63, then rounded once; exact quotients stay exact */
static inline double pd_quotient(double a, double b, double y0) {
  const double e0 = fma(-b, y0, 1.0);
  const double g0 = fma(e0, e0, e0), s0 = e0 * e0;
  const double p0 = fma(g0, s0, g0); /* e + e^2 + e^3 + e^4 */
  const double y1 = fma(y0, p0, y0); /* 5.1 %^5 = 2^-21.5 */
  const double q0 = a * y1, e1 = fma(-b, y1, 1.0);
  const double r0 = fma(-b, q0, a), y2 = fma(y1, e1, y1);
  return fma(r0, y2, q0);
}

/* a / b of f32. A quotient of two f32 that is not the middle m of two f32 (or subnormals) is at least 2^-48
   of its size away from it, as |a - m b| >= 1 in units of the last places: a second rounding does no harm. */
static inline float pd_quotient_f32(float a, float b) {
  return (float)pd_quotient((double)a, (double)b, (double)pd_f32_of_bits(0x7ef311c2u - pd_bits_of_f32(b)));
}

/* 0, inf, NaN, or the reciprocal of b would be subnormal */
static inline bool pd_is_rare_quotient_f32(float a, float b) {
  const bool odd = (pd_bits_of_f32(a) & 0x7fffffff) - 1 >= 0x7f7fffff;
  return odd | ((pd_bits_of_f32(b) >> 23 & 0xff) - 1 >= 251);
}

/* inline in a kernel, so that what depends on one operand alone can leave a loop */
static inline float snitch_divf(float a, float b) {
  float q = pd_quotient_f32(a, b);
  PD_KEEP(q);
  return PD_RARELY(pd_is_rare_quotient_f32(a, b)) ? snitch_rare_divf(a, b) : q;
}

float __divsf3(float a, float b) {
  return snitch_divf(a, b);
}

PD_COLD float snitch_rare_divf(float a, float b) {
  const double x = (double)a, y = (double)b;
  if (!(fabs(x) < INFINITY) || !(fabs(y) < INFINITY) || x == 0.0 || y == 0.0) {
    return (float)pd_quotient_limit(x, y);
  }
  return (float)pd_quotient(x, y, pd_f64_of_words(0x7fde6238u - pd_high_of_f64(y), 0)); /* normal in f64 */
}

/* a / b where one of them is 0, infinite or NaN */
static PD_COLD double pd_quotient_limit(double a, double b) {
  const double sign = copysign(1.0, a) * copysign(1.0, b);
  if (a != a || b != b) {
    return a + b;
  }
  if (fabs(a) == INFINITY || b == 0.0) {
    return fabs(b) == INFINITY || a == 0.0 ? NAN : sign * INFINITY;
  }
  return sign * 0.0;
}

/* a / b of f64. y2 is within 0.51 ULP of 1/b, so y3 is 1/b correctly rounded; q1 is within 0.51 ULP of a/b,
   so r1 is exact and q2 correctly rounded. Both steps: P. W. Markstein, IBM J. Res. Dev. 34(1), 1990.
   The first one fails where all bits of b are ones, as 1/b is a hair above the middle of two f64, if y2 lies
   below it. There e1 > 0, and 2^-40 e1 more, which is more than e1^3, puts y2 above. */
static inline double pd_quotient_f64(double a, double b) {
  const double y0 = pd_f64_of_words(0x7fde6238u - pd_high_of_f64(b), 0);
  const double e0 = fma(-b, y0, 1.0);
  const double g0 = fma(e0, e0, e0), s0 = e0 * e0;
  const double p0 = fma(g0, s0, g0);
  const double y1 = fma(y0, p0, y0); /* 2^-21.5 */
  const double q0 = a * y1, e1 = fma(-b, y1, 1.0);
  const double r0 = fma(-b, q0, a), more = fma(-b, y1, 1.0 + 0x1p-40), g1 = fma(e1, more, e1);
  const double y2 = fma(y1, g1, y1); /* 2^-61, rounded */
  const double q1 = fma(r0, y2, q0), e2 = fma(-b, y2, 1.0);
  const double r1 = fma(-b, q1, a), y3 = fma(e2, y2, y2);
  return fma(r1, y3, q1);
}

/* an intermediate result may overflow or lose bits below the normal numbers */
static inline bool pd_is_rare_quotient_f64(double a, double b) {
  const uint32_t a_exponent = pd_high_of_f64(a) >> 20 & 0x7ff, b_exponent = pd_high_of_f64(b) >> 20 & 0x7ff;
  const bool near = a_exponent - b_exponent + 1000 <= 2000;
  return !(near & (a_exponent - 120 <= 1920) & (b_exponent - 8 <= 2028));
}

/* see `snitch_divf` */
static inline double snitch_div(double a, double b) {
  double q = pd_quotient_f64(a, b);
  PD_KEEP(q);
  return PD_RARELY(pd_is_rare_quotient_f64(a, b)) ? snitch_rare_div(a, b) : q;
}

double __divdf3(double a, double b) {
  return snitch_div(a, b);
}

PD_COLD double snitch_rare_div(double a, double b) {
  if (!(fabs(a) < INFINITY) || !(fabs(b) < INFINITY) || a == 0.0 || b == 0.0) {
    return pd_quotient_limit(a, b);
  }
  const uint64_t sign = (pd_bits_of_f64(a) ^ pd_bits_of_f64(b)) >> 63 << 63;
  int32_t a_exponent, b_exponent;
  uint64_t rest = pd_split_f64(fabs(a), &a_exponent);
  const uint64_t divisor = pd_split_f64(fabs(b), &b_exponent);
  uint64_t quotient = 0;
  for (int32_t k = 0; k < 56; k++) { /* one bit a step: rest < 2 divisor */
    const bool fits = rest >= divisor;
    quotient = quotient << 1 | fits;
    rest = (fits ? rest - divisor : rest) << 1;
  }
  /* 55 bits, or 56 when the quotient of the mantissas is at least 1; the last one is odd when there is a rest */
  return pd_join_f64(sign, a_exponent - b_exponent, quotient | (rest != 0));
}

/* the 53-bit integer m of a = m 2^(exponent - 52), for finite a > 0 */
static inline uint64_t pd_split_f64(double a, int32_t *exponent) {
  const bool small = a < 0x1p-1022;
  const uint64_t bits = pd_bits_of_f64(small ? a * 0x1p54 : a);
  *exponent = (int32_t)(bits >> 52) - 1023 - (small ? 54 : 0);
  return (bits & 0xfffffffffffff) | 0x10000000000000;
}

/* m 2^(exponent - 55) to nearest even, for 2^54 <= m < 2^56; the last bit stands for all behind it */
static PD_COLD double pd_join_f64(uint64_t sign, int32_t exponent, uint64_t m) {
  if (m >> 55 == 0) {
    m <<= 1;
    exponent -= 1;
  }
  int32_t biased = exponent + 1023;
  if (biased > 2046) {
    return pd_f64_of_bits(sign | 0x7ff0000000000000);
  }
  if (biased < 1) { /* subnormal: fewer bits */
    const int32_t less = 1 - biased < 57 ? 1 - biased : 57;
    m = m >> less | ((m & (((uint64_t)1 << less) - 1)) != 0);
    biased = 1;
  }
  const uint32_t behind = (uint32_t)m & 7; /* 3 bits more than fit */
  const uint64_t rounded = (m >> 3) + (behind > 4 || (behind == 4 && (m & 8) != 0));
  /* the leading bit of a normal number, and a carry, count in the exponent */
  return pd_f64_of_bits(sign | (((uint64_t)(biased - 1) << 52) + rounded));
}
