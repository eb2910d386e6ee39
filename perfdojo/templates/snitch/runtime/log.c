/* The logarithm of f64: x = 2^e m, r = c m - 1, log x = e log 2 - log c + log(1 + r); around 1, c is 1. */

/* (log(1 + r) - r) / r^2 for -0.0056 <= r <= 0.0079 */
static const double pd_log_terms[] = {
  -0x1p-1, 0x1.555555555555dp-2, -0x1.fffffffffb0eep-3, 0x1.999999967660ep-3,
  -0x1.55555b528f46bp-3, 0x1.24954fe74c66ap-3, -0x1.fc6242b9b9046p-4,
};

/* log x + e0 log 2 for normal x > 0 whose first bits are `high` */
static inline double pd_log_normal(double x, uint32_t high, int32_t e0) {
  const uint32_t above = high - 0x3fe60000; /* bits of 0.6875 */
  const double *const row = pd_log_table[above >> 13 & 127];
  const double e = (double)(((int32_t)above >> 20) + e0);
  const double r = fma(pd_with_high(x, high - (above & 0xfff00000)), row[0], -1.0);
  const double *const c = pd_log_terms;
  const double z = r * r;
  const double a0 = fma(c[1], r, c[0]), a1 = fma(c[3], r, c[2]), a2 = fma(c[5], r, c[4]);
  const double b0 = fma(a1, z, a0), b1 = fma(c[6], z, a2);
  const double high_part = fma(e, 0x1.62e42fefa38p-1, row[1]); /* exact */
  const double low_part = fma(e, 0x1.ef35793c7673p-45, row[2]);
  return high_part + (r + fma(z, fma(b1, z * z, b0), low_part));
}

double log(double x) {
  const uint32_t high = pd_high_of_f64(x);
  if (PD_RARELY(high - 0x00100000 >= 0x7fe00000)) {
    return pd_log_special(x);
  }
  return pd_log_normal(x, high, 0);
}

static PD_COLD double pd_log_special(double x) {
  if (x > 0.0 && x < INFINITY) { /* subnormal */
    const double wide = x * 0x1p54;
    return pd_log_normal(wide, pd_high_of_f64(wide), -54);
  }
  return x == 0.0 ? -INFINITY : x < 0.0 ? NAN : x + x;
}
