/* x^y of f64: e^(y log x) with the logarithm in two parts, to 2^-66 of its size. */

/* (log(1 + r) - r + r^2 / 2) / r^3 for -0.0056 <= r <= 0.0079 */
static const double pd_pow_terms[] = {
  0x1.5555555555555p-2, -0x1.0000000000007p-2, 0x1.9999999995271p-3, -0x1.5555555282721p-3,
  0x1.24924e88599c1p-3, -0x1.0002b9488cbecp-3, 0x1.c3db638ad4f06p-4,
};

/* log x + e0 log 2 for normal x > 0, and what its rounding left */
static inline double pd_log_exact(double x, int32_t e0, double *low) {
  const uint32_t high = pd_high_of_f64(x), above = high - 0x3fe60000; /* see `pd_log_normal` */
  const double *const row = pd_log_table[above >> 13 & 127];
  const double e = (double)(((int32_t)above >> 20) + e0);
  const double m = pd_with_high(x, high - (above & 0xfff00000));
  /* c m - 1 = r + r_low */
  const double product = m * row[0], r_low = fma(m, row[0], -product), r = product - 1.0;
  const double first = fma(e, 0x1.62e42fefa38p-1, row[1]); /* exact */
  const double sum = first + r, sum_low = (first - sum) + r;
  const double half = 0.5 * r, square = half * r, square_low = fma(half, r, -square);
  const double next = sum - square, next_low = (sum - next) - square;
  const double *const c = pd_pow_terms;
  const double z = r * r;
  const double a0 = fma(c[1], r, c[0]), a1 = fma(c[3], r, c[2]), a2 = fma(c[5], r, c[4]);
  const double p = fma(fma(fma(c[6], z, a2), z, a1), z, a0);
  const double slope = fma(-r, r_low, r_low);
  const double small = fma(e, 0x1.ef35793c7673p-45, row[2]) + (slope - square_low);
  const double rest = (sum_low + next_low) + fma(z * r, p, small);
  const double y = next + rest;
  *low = (next - y) + rest;
  return y;
}

/* e^(a + low) */
static inline double pd_exp_exact(double a, double low) {
  const double k = fma(a, 0x1.71547652b82fep+0, 0x1.8p52) - 0x1.8p52;
  const double near = fma(-k, 0x1.62e42fefa38p-1, a), second = fma(-k, 0x1.ef35793c7673p-45, low);
  const double r = near + second, r_low = (near - r) + second, z = r * r;
  const double growth = r + fma(z, pd_exp_rest(r, z), r_low);
  const int32_t power = (int32_t)__builtin_lrint(k), half = power / 2;
  const double scale = pd_power_of_two(half);
  return fma(scale, growth, scale) * pd_power_of_two(power - half);
}

double pow(double x, double y) {
  const double size = fabs(x);
  double sign = 1.0;
  if (PD_RARELY(!(x > 0.0 && x < INFINITY && fabs(y) < INFINITY))) {
    if (x == 1.0 || y == 0.0) {
      return 1.0;
    }
    if (x != x || y != y) {
      return x + y;
    }
    const bool whole = rint(y) == y, odd = whole && fabs(y) < 0x1p53 && rint(0.5 * y) != 0.5 * y;
    sign = x < 0.0 || (x == 0.0 && copysign(1.0, x) < 0.0) ? odd ? -1.0 : 1.0 : 1.0;
    if (fabs(y) == INFINITY) {
      return size == 1.0 ? 1.0 : (size > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    }
    if (size == 0.0 || size == INFINITY) {
      return sign * ((size > 0.0) == (y > 0.0) ? INFINITY : 0.0);
    }
    if (x < 0.0 && !whole) {
      return NAN;
    }
  }
  const bool small = size < 0x1p-1022;
  double low;
  const double logarithm = pd_log_exact(small ? size * 0x1p54 : size, small ? -54 : 0, &low);
  const double a = y * logarithm;
  if (PD_RARELY(!(fabs(a) < 746.0))) {
    return sign * (a > 0.0 ? INFINITY : 0.0);
  }
  return sign * pd_exp_exact(a, fma(y, logarithm, -a) + y * low);
}
