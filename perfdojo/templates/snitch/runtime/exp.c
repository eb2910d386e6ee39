/* The exponential function of f64: e^x = 2^k (1 + (e^r - 1)), k = round(x / log 2), |r| <= log(2) / 2. */

/* (e^r - 1 - r) / r^2 for |r| <= log(2) / 2 */
static const double pd_exp_terms[] = {
  0x1p-1, 0x1.5555555555556p-3, 0x1.5555555555555p-5, 0x1.11111111109adp-7,
  0x1.6c16c16c167dep-10, 0x1.a01a01a7c8d47p-13, 0x1.a01a01a47db6fp-16, 0x1.71de0d9c145dp-19,
  0x1.27e4e1ea0f53ap-22, 0x1.af38d53857513p-26, 0x1.1f66f85dfa20ep-29,
};

/* the same, from pairs of terms, so that few steps wait for one another; z = r^2 */
static inline double pd_exp_rest(double r, double z) {
  const double *const c = pd_exp_terms;
  const double a0 = fma(c[1], r, c[0]), a1 = fma(c[3], r, c[2]), a2 = fma(c[5], r, c[4]);
  const double a3 = fma(c[7], r, c[6]), a4 = fma(c[9], r, c[8]), z2 = z * z;
  const double b0 = fma(a1, z, a0), b1 = fma(a3, z, a2), b2 = fma(c[10], z, a4);
  return fma(fma(b2, z2, b1), z2, b0);
}

/* 2^k for -1022 <= k <= 1023 */
static inline double pd_power_of_two(int32_t k) {
  return pd_f64_of_words((uint32_t)(k + 1023) << 20, 0);
}

/* k = round(x / log 2), and the rest; k times the first part of log 2, of 42 bits, is exact */
static inline int32_t pd_exp_reduce(double x, double *r) {
  const double k = fma(x, 0x1.71547652b82fep+0, 0x1.8p52) - 0x1.8p52;
  *r = fma(-k, 0x1.ef35793c7673p-45, fma(-k, 0x1.62e42fefa38p-1, x));
  return (int32_t)__builtin_lrint(k);
}

double exp(double x) {
  double r;
  const int32_t k = pd_exp_reduce(x, &r);
  const double z = r * r, growth = fma(z, pd_exp_rest(r, z), r), power = pd_power_of_two(k);
  double y = fma(power, growth, power);
  PD_KEEP(y);
  if (PD_RARELY((pd_high_of_f64(x) & 0x7fffffff) >= 0x40862000)) { /* 708 */
    return pd_exp_special(x);
  }
  return y;
}

/* near the ends of the range 2^k is no f64: two factors, of which the second rounds */
static PD_COLD double pd_exp_special(double x) {
  if (!(x > -746.0)) {
    return x != x ? x + x : 0.0;
  }
  double r;
  const int32_t k = pd_exp_reduce(x < 710.0 ? x : 710.0, &r), half = k / 2;
  const double z = r * r, power = pd_power_of_two(half);
  return fma(power, fma(z, pd_exp_rest(r, z), r), power) * pd_power_of_two(k - half);
}
