/* tanh of f64: a polynomial near 0, elsewhere 1 - 2 / (e^2x + 1). */

/* (tanh(x) - x) / x^3 in powers of x^2, for |x| <= 0.5625 */
static const double pd_tanh_terms[] = {
  -0x1.5555555555555p-2, 0x1.1111111111105p-3, -0x1.ba1ba1ba19d5dp-5, 0x1.664f4881ec346p-6,
  -0x1.226e352b6a427p-7, 0x1.d6d3c26abcbe7p-9, -0x1.7da216499f72dp-10, 0x1.354431e18ea6cp-11,
  -0x1.f3e303d93756p-13, 0x1.8b6e011d560bap-14, -0x1.1798f633d3391p-15, 0x1.002b1e55e95b9p-17,
};

double tanh(double x) {
  const uint32_t size = pd_high_of_f64(x) & 0x7fffffff;
  if (size < 0x3fe20000) { /* 0.5625 */
    const double *const c = pd_tanh_terms;
    const double z = x * x, z2 = z * z, z4 = z2 * z2;
    const double a0 = fma(c[1], z, c[0]), a1 = fma(c[3], z, c[2]), a2 = fma(c[5], z, c[4]);
    const double a3 = fma(c[7], z, c[6]), a4 = fma(c[9], z, c[8]), a5 = fma(c[11], z, c[10]);
    const double b0 = fma(a1, z2, a0), b1 = fma(a3, z2, a2), b2 = fma(a5, z2, a4);
    return copysign(fma(x * z, fma(fma(b2, z4, b1), z4, b0), x), x); /* the sign of -0 */
  }
  if (size >= 0x40340000) { /* from 20 on it is 1 */
    return x != x ? x + x : copysign(1.0, x);
  }
  /* e^2x = 2^k (1 + g), k >= 2: 2 / (e^2x + 1) = 2^(1-k) / w, w = 1 + g + 2^-k between 0.707 and 1.665 */
  double r;
  const int32_t k = pd_exp_reduce(2.0 * fabs(x), &r);
  const double z = r * r, small = pd_power_of_two(-k);
  const double w = (1.0 + small) + fma(z, pd_exp_rest(r, z), r);
  /* 1 / w to 1.9 % */
  const double y0 = fma(fma(0x1.5de7df88a0a52p-1, w, -0x1.372cf19760669p+1), w, 0x1.61eece689cab7p+1);
  return copysign(1.0 - pd_quotient(2.0 * small, w, y0), x);
}
