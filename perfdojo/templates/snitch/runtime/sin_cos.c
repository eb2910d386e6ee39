/* sin and cos of f64: |x| = n pi/2 + r + low, |r| <= pi/4. */

/* (sin(r) - r) / r^3 in powers of r^2, for |r| <= pi/4 */
static const double pd_sin_terms[] = {
  -0x1.5555555555555p-3, 0x1.111111111111p-7, -0x1.a01a01a01992fp-13, 0x1.71de3a545f835p-19,
  -0x1.ae645410e9193p-26, 0x1.61217d923a998p-33, -0x1.ab16f5bc68a29p-41,
};

/* (cos(r) - 1 + r^2 / 2) / r^4 in powers of r^2 */
static const double pd_cos_terms[] = {
  0x1.5555555555555p-5, -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16, -0x1.27e4fa16cc1bcp-22,
  0x1.1eeb67d014ecep-29, -0x1.907cd8f26aa3ep-37,
};

/* 2/pi behind the point */
static const uint32_t pd_two_over_pi[] = {
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
  0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
  0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
  0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
  0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
};

/* a + b exactly, as the rounded sum and its error, for |a| >= |b| or a = 0 */
static inline double pd_exact_sum(double a, double b, double *error) {
  const double sum = a + b;
  *error = b - (sum - a);
  return sum;
}

/* sin(n pi/2 + r + low) */
static inline double pd_quarter(uint32_t n, double r, double low) {
  const double z = r * r, z2 = z * z;
  double y;
  if ((n & 1) != 0) {
    const double *const c = pd_cos_terms;
    const double a0 = fma(c[1], z, c[0]), a1 = fma(c[3], z, c[2]), a2 = fma(c[5], z, c[4]);
    const double p = fma(fma(a2, z2, a1), z2, a0);
    const double half = 0.5 * z, first = 1.0 - half;
    y = first + (((1.0 - first) - half) + fma(z2, p, -r * low));
  } else {
    const double *const c = pd_sin_terms;
    const double a0 = fma(c[1], z, c[0]), a1 = fma(c[3], z, c[2]), a2 = fma(c[5], z, c[4]);
    const double p = fma(fma(fma(c[6], z2, a2), z2, a1), z2, a0);
    y = r + fma(r * z, p, fma(-0.5 * z, low, low));
  }
  return (n & 2) != 0 ? -y : y;
}

/* n, of which the last two bits count, and r + low, for finite a >= 0 */
static inline uint32_t pd_reduce(double a, double *r, double *low) {
  if (PD_RARELY(a >= 0x1p20)) {
    return pd_reduce_large(a, r, low);
  }
  /* n times the first 33 bits of pi/2 is exact, and so is the difference */
  const double n = fma(a, 0x1.45f306dc9c883p-1, 0x1.8p52) - 0x1.8p52;
  const double near = fma(-n, 0x1.921fb544p+0, a);
  const double second = n * 0x1.0b4611a626331p-34;
  const double sum = near - second, part = sum - near;
  const double error = (near - (sum - part)) - (second + part); /* Knuth */
  *r = sum;
  *low = error - fma(n, 0x1.0b4611a626331p-34, -second) - n * 0x1.1701b839a2520p-88;
  return (uint32_t)__builtin_lrint(n);
}

/* a = m 2^e. Bits of 2/pi that make multiples of 4 quarters drop out; the 192 bits behind them give a * 2/pi
   to 2^-137, and no f64 is nearer than 2^-62 to a multiple of pi/2 (M. H. Payne, R. N. Hanek, ACM SIGNUM 18(1),
   1983). */
static PD_COLD uint32_t pd_reduce_large(double a, double *r, double *low) {
  const uint32_t high = pd_high_of_f64(a);
  const uint32_t m[] = {pd_low_of_f64(a), (high & 0xfffff) | 0x100000};
  /* the first bit that is needed, counted from 0: e - 2; at least 0 with 64 bits that are 0 in front */
  const uint32_t first = (high >> 20) - 1023 - 52 - 2 + 64;
  uint32_t product[] = {0, 0, 0, 0, 0, 0}; /* in units of 2^-190, the last word first */
  for (int32_t i = 0; i < 6; i++) {
    const uint32_t word = first / 32 + 5 - (uint32_t)i, shift = first % 32;
    const uint32_t left = word < 2 ? 0 : pd_two_over_pi[word - 2];
    const uint32_t right = word < 1 ? 0 : pd_two_over_pi[word - 1];
    const uint32_t bits = shift == 0 ? left : left << shift | right >> (32 - shift);
    uint64_t carry = 0;
    for (int32_t j = 0; j < 2 && i + j < 6; j++) {
      carry += (uint64_t)bits * m[j] + product[i + j];
      product[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    for (int32_t j = i + 2; j < 6; j++) {
      carry += product[j];
      product[j] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  const uint32_t quarters = product[5] >> 30;
  /* the rest is a signed fraction of a quarter; from a half on it belongs to the next one */
  const int32_t top = (int32_t)(product[5] << 2 | product[4] >> 30);
  double sum = (double)top * 0x1p-32, rest = 0.0, unit = 0x1p-64;
  for (int32_t i = 4; i > 0; i--) {
    double error;
    sum = pd_exact_sum(sum, (double)(product[i] << 2 | product[i - 1] >> 30) * unit, &error);
    rest += error;
    unit *= 0x1p-32;
  }
  *r = sum * 0x1.921fb54442d18p+0;
  *low = fma(sum, 0x1.921fb54442d18p+0, -*r) + fma(sum, 0x1.1a62633145c07p-54, rest * 0x1.921fb54442d18p+0);
  return quarters + (top < 0);
}

double sin(double x) {
  if (PD_RARELY(!(fabs(x) < INFINITY))) {
    return NAN;
  }
  double r, low;
  const uint32_t n = pd_reduce(fabs(x), &r, &low);
  const double y = pd_quarter(n, r, low);
  return copysign(1.0, x) * y;
}

double cos(double x) {
  if (PD_RARELY(!(fabs(x) < INFINITY))) {
    return NAN;
  }
  double r, low;
  const uint32_t n = pd_reduce(fabs(x), &r, &low);
  return pd_quarter(n + 1, r, low);
}
