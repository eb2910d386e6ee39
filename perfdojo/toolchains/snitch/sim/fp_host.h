/* Sums and products by the host's FPU, where it provably gives the same result and flags; included by the files fp*.c.
 *
 * Each function returns false where it does not answer: NaNs, infinities, results near the ends of the exponent range,
 * some zeros, and for binary64 every mode but RNE. The host's rounding mode must be the default one, to nearest.
 * Whether a result is inexact is computed, not read from the host's status word: that is slow, and hosts differ in
 * where they see underflow. Where *flags has NX already, it need not be computed.
 *
 * Error-free transformations: the sum is Knuth's TwoSum; for the fused operation see Boldo and Muller, "Exact and
 * approximated error of the FMA", IEEE Trans. Computers 60 (2011); rounding to odd before rounding to a narrower format
 * is by Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 57 (2008).
 */
#ifndef PERFDOJO_SNITCH_FP_HOST_H
#define PERFDOJO_SNITCH_FP_HOST_H

#include <float.h>
#include <string.h>

#include "fp_soft.h"

#ifdef __FAST_MATH__
#error "the error-free transformations need IEEE arithmetic: compile without -ffast-math"
#endif

/* 0 where intermediate results have excess precision (x87): then nothing here answers. */
#define FP_HOST (FLT_EVAL_METHOD == 0)

static inline double fp_as_double(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline uint64_t fp_double_bits(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static inline int fp_field(uint64_t bits) { return (int)(bits >> 52 & 0x7ff); }

static inline double fp_sum_error(double a, double b, double sum) {
    double b_seen = sum - a;
    return (a - (sum - b_seen)) + (b - b_seen);
}

/* binary64, RNE. A sum cannot underflow: what would be tiny is exact. */
static inline bool fp_host_add_d(uint64_t a, uint64_t b, uint64_t *result, unsigned *flags) {
    double x = fp_as_double(a), y = fp_as_double(b), sum = x + y;
    *result = fp_double_bits(sum);
    /* Below 2^1023 neither the sum nor what its error is computed from can overflow. */
    if (!FP_HOST || fp_field(a) >= 0x7fe || fp_field(b) >= 0x7fe) return false;
    if (!(*flags & FP_NX) && fp_sum_error(x, y, sum) != 0) *flags |= FP_NX;
    return true;
}

static inline bool fp_host_mul_d(uint64_t a, uint64_t b, uint64_t *result, unsigned *flags) {
    double left = fp_as_double(a), right = fp_as_double(b);
    *result = fp_double_bits(left * right);
    if (!FP_HOST || fp_field(*result) == 0x7ff) return false;
    /* Field 1 may be a tiny value that was rounded up. */
    if (fp_field(*result) < 2) return left == 0 || right == 0;
    if (*flags & FP_NX) return true;
    uint64_t fraction = (UINT64_C(1) << 52) - 1;
    uint64_t x = (a & fraction) | (uint64_t)(fp_field(a) != 0) << 52;
    uint64_t y = (b & fraction) | (uint64_t)(fp_field(b) != 0) << 52;
    /* Exact where the odd parts' product has 53 bits at most. */
    u128 odd = (u128)(x >> __builtin_ctzll(x)) * (y >> __builtin_ctzll(y));
    if (odd >> 53) *flags |= FP_NX;
    return true;
}

#if defined __FP_FAST_FMA
#define FP_FMA_TARGET
static inline bool fp_host_has_fma(void) { return FP_HOST; }
#elif defined __x86_64__
#define FP_FMA_TARGET __attribute__((target("fma")))
static inline bool fp_host_has_fma(void) { return FP_HOST && __builtin_cpu_supports("fma"); }
#else
#define FP_FMA_TARGET
static inline bool fp_host_has_fma(void) { return false; }
#endif

FP_FMA_TARGET static bool fp_host_fma_d(uint64_t a, uint64_t b, uint64_t c, uint64_t *result, unsigned *flags) {
    double x = fp_as_double(a), y = fp_as_double(b), z = fp_as_double(c);
    double r = __builtin_fma(x, y, z);
    *result = fp_double_bits(r);
    if (fp_field(*result) < 2 || fp_field(*result) == 0x7ff) {
        /* With a zero factor the sum is z, or a zero whose sign the host gets right. */
        return fp_field(*result) != 0x7ff && (x == 0 || y == 0);
    }
    if ((*flags & FP_NX) || x == 0 || y == 0) return true;
    /* The product's last bit must be representable, and nothing may overflow. */
    int product = fp_field(a) + fp_field(b) - 2 * 1023;
    if (product < -900 || product > 900 || fp_field(c) > 1023 + 900) return false;
    double p = x * y, p_error = __builtin_fma(x, y, -p);
    double low = z + p_error, low_error = fp_sum_error(z, p_error, low);
    double high = p + low, high_error = fp_sum_error(p, low, high);
    if ((high - r) + high_error != -low_error) *flags |= FP_NX;
    return true;
}

/* Every other format: its values and products are exact binary64 numbers, of which none is subnormal. */

static inline bool fp_is_finite(enum fp_fmt f, uint64_t v) { return (v & (fp_sign_bit(f) - 1)) < fp_layouts[f].inf; }

/* The value of a finite number of a narrow format. */
static inline double fp_host_value(enum fp_fmt f, uint64_t v) {
    if (f == FP_S) {
        uint32_t word = (uint32_t)v;
        float x;
        memcpy(&x, &word, sizeof x);
        return x;
    }
    const struct fp_layout *l = &fp_layouts[f];
    uint64_t sign = v >> (l->width - 1) << 63;
    /* The same bits read with binary64's bias, then scaled by 2^(1023 - bias): exact for subnormals too. */
    double scale = fp_as_double((uint64_t)(2 * 1023 - l->bias) << 52);
    return fp_as_double(sign | (v & (fp_sign_bit(f) - 1)) << (52 - l->man)) * scale;
}

/* Rounds a normal binary64 value, with more below its last bit where `more`, to a narrow format. */
static inline uint64_t fp_host_round(enum fp_fmt f, uint64_t bits, bool more, enum fp_rm rm, unsigned *flags) {
    bits |= more;
    if (f == FP_S && rm == RNE) {
        double exact = fp_as_double(bits);
        float r = (float)exact;
        uint32_t word;
        memcpy(&word, &r, sizeof word);
        int field = (int)(word >> 23 & 0xff);
        if (FP_HOST && field > 1 && field < 0xff) {
            if ((double)r != exact) *flags |= FP_NX;
            return word;
        }
    }
    return fp_round(f, bits >> 63, fp_field(bits) - 1023, bits << 11 | UINT64_C(1) << 63, rm, flags);
}

static inline uint64_t fp_host_zero(enum fp_fmt f, double zero) {
    return fp_double_bits(zero) >> 63 << (fp_layouts[f].width - 1);
}

/* p + c, each a finite value of a narrow format or a product of two such. */
static inline bool fp_host_sum(enum fp_fmt f, double p, double c, enum fp_rm rm, uint64_t *result, unsigned *flags) {
    double sum = p + c;
    if (!FP_HOST) return false;
    if (sum == 0) {
        /* Exact. All modes but RDN give it the sign that the host does. */
        *result = fp_host_zero(f, sum);
        return rm != RDN;
    }
    double error = fp_sum_error(p, c, sum);
    /* Towards zero, so that what is missing has the sum's own sign. */
    uint64_t bits = fp_double_bits(sum) - (error != 0 && (error < 0) != (sum < 0));
    *result = fp_host_round(f, bits, error != 0, rm, flags);
    return true;
}

static inline bool fp_host_add(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, uint64_t *result,
                               unsigned *flags) {
    if (f == FP_D) return rm == RNE && fp_host_add_d(a, b, result, flags);
    if (!fp_is_finite(f, a) || !fp_is_finite(f, b)) return false;
    return fp_host_sum(f, fp_host_value(f, a), fp_host_value(f, b), rm, result, flags);
}

static inline bool fp_host_mul(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, uint64_t *result,
                               unsigned *flags) {
    if (f == FP_D) return rm == RNE && fp_host_mul_d(a, b, result, flags);
    if (!FP_HOST || !fp_is_finite(f, a) || !fp_is_finite(f, b)) return false;
    double p = fp_host_value(f, a) * fp_host_value(f, b);
    if (p == 0) {
        *result = fp_host_zero(f, p);
        return true;
    }
    *result = fp_host_round(f, fp_double_bits(p), false, rm, flags);
    return true;
}

static inline bool fp_host_fma(enum fp_fmt f, uint64_t a, uint64_t b, uint64_t c, enum fp_rm rm, uint64_t *result,
                               unsigned *flags) {
    if (f == FP_D) return rm == RNE && fp_host_has_fma() && fp_host_fma_d(a, b, c, result, flags);
    if (!FP_HOST || !fp_is_finite(f, a) || !fp_is_finite(f, b) || !fp_is_finite(f, c)) return false;
    return fp_host_sum(f, fp_host_value(f, a) * fp_host_value(f, b), fp_host_value(f, c), rm, result, flags);
}

#endif
