/* The scalar operations. */
#include "fp_host.h"

int fp_width(enum fp_fmt f) { return fp_layouts[f].width; }

uint64_t fp_nan(enum fp_fmt f) { return fp_layouts[f].inf | UINT64_C(1) << (fp_layouts[f].man - 1); }

uint64_t fp_box(enum fp_fmt f, uint64_t v) { return v | ~fp_mask(f); }

uint64_t fp_unbox(enum fp_fmt f, uint64_t reg) {
    return (reg | fp_mask(f)) == ~UINT64_C(0) ? reg & fp_mask(f) : fp_nan(f);
}

uint64_t fp_add(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags) {
    uint64_t result;
    return fp_host_add(f, a, b, rm, &result, flags) ? result : fp_soft_add(f, a, b, rm, flags);
}

uint64_t fp_sub(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags) {
    return fp_add(f, a, b ^ fp_sign_bit(f), rm, flags);
}

uint64_t fp_mul(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags) {
    uint64_t result;
    return fp_host_mul(f, a, b, rm, &result, flags) ? result : fp_soft_mul(f, a, b, rm, flags);
}

uint64_t fp_fma(enum fp_fmt f, uint64_t a, uint64_t b, uint64_t c, enum fp_rm rm, bool neg_product, bool neg_addend,
                unsigned *flags) {
    uint64_t top = fp_sign_bit(f), result;
    if (neg_product) a ^= top;
    if (neg_addend) c ^= top;
    return fp_host_fma(f, a, b, c, rm, &result, flags) ? result : fp_soft_fma(f, a, b, c, rm, flags);
}

uint64_t fp_div(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags) {
    struct fp_num x = fp_unpack(f, a), y = fp_unpack(f, b);
    uint64_t top = x.sign != y.sign ? fp_sign_bit(f) : 0;
    bool invalid = x.kind == y.kind && (x.kind == NUM_ZERO || x.kind == NUM_INF);
    if (x.kind == NUM_SNAN || y.kind == NUM_SNAN || invalid) *flags |= FP_NV;
    if (x.kind >= NUM_QNAN || y.kind >= NUM_QNAN || invalid) return fp_nan(f);
    if (x.kind == NUM_INF) return top | fp_layouts[f].inf;
    if (x.kind == NUM_ZERO || y.kind == NUM_INF) return top;
    if (y.kind == NUM_ZERO) {
        *flags |= FP_DZ;
        return top | fp_layouts[f].inf;
    }
    bool smaller = x.sig < y.sig;
    u128 dividend = (u128)x.sig << (63 + smaller);
    uint64_t quotient = (uint64_t)(dividend / y.sig);
    bool rest = (u128)quotient * y.sig != dividend;
    return fp_round(f, top != 0, x.exp - y.exp - smaller, quotient | rest, rm, flags);
}

/* Integer square root, one bit a step; 2^126 <= x < 2^128 gives 64 bits. */
static uint64_t root(u128 x, bool *exact) {
    uint64_t r = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t trial = r | UINT64_C(1) << bit;
        if ((u128)trial * trial <= x) r = trial;
    }
    *exact = (u128)r * r == x;
    return r;
}

uint64_t fp_sqrt(enum fp_fmt f, uint64_t a, enum fp_rm rm, unsigned *flags) {
    struct fp_num x = fp_unpack(f, a);
    bool invalid = x.sign && (x.kind == NUM_FINITE || x.kind == NUM_INF);
    if (x.kind == NUM_SNAN || invalid) *flags |= FP_NV;
    if (x.kind >= NUM_QNAN || invalid) return fp_nan(f);
    if (x.kind != NUM_FINITE) return a & fp_mask(f);
    int odd = x.exp & 1;
    bool exact;
    uint64_t r = root((u128)x.sig << (63 + odd), &exact);
    return fp_round(f, false, (x.exp - odd) / 2, r | !exact, rm, flags);
}

/* Order of two values that are not NaN: -0 below +0. */
static bool below(enum fp_fmt f, uint64_t a, uint64_t b) {
    uint64_t top = fp_sign_bit(f);
    a &= fp_mask(f), b &= fp_mask(f);
    return (a & top ? fp_mask(f) - a : a | top) < (b & top ? fp_mask(f) - b : b | top);
}

static uint64_t pick(enum fp_fmt f, uint64_t a, uint64_t b, bool want_max, unsigned *flags) {
    enum fp_kind x = fp_unpack(f, a).kind, y = fp_unpack(f, b).kind;
    if (x == NUM_SNAN || y == NUM_SNAN) *flags |= FP_NV;
    if (x >= NUM_QNAN && y >= NUM_QNAN) return fp_nan(f);
    if (x >= NUM_QNAN) return b & fp_mask(f);
    if (y >= NUM_QNAN) return a & fp_mask(f);
    return (below(f, a, b) != want_max ? a : b) & fp_mask(f);
}

uint64_t fp_min(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags) { return pick(f, a, b, false, flags); }
uint64_t fp_max(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags) { return pick(f, a, b, true, flags); }

uint64_t fp_sgnj(enum fp_fmt f, uint64_t a, uint64_t b) {
    uint64_t top = fp_sign_bit(f);
    return (a & fp_mask(f) & ~top) | (b & top);
}
uint64_t fp_sgnjn(enum fp_fmt f, uint64_t a, uint64_t b) { return fp_sgnj(f, a, ~b); }
uint64_t fp_sgnjx(enum fp_fmt f, uint64_t a, uint64_t b) { return fp_sgnj(f, a, a ^ b); }

bool fp_eq(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags) {
    enum fp_kind x = fp_unpack(f, a).kind, y = fp_unpack(f, b).kind;
    if (x == NUM_SNAN || y == NUM_SNAN) *flags |= FP_NV;
    if (x >= NUM_QNAN || y >= NUM_QNAN) return false;
    return (x == NUM_ZERO && y == NUM_ZERO) || ((a ^ b) & fp_mask(f)) == 0;
}

bool fp_lt(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags) {
    enum fp_kind x = fp_unpack(f, a).kind, y = fp_unpack(f, b).kind;
    if (x >= NUM_QNAN || y >= NUM_QNAN) {
        *flags |= FP_NV;
        return false;
    }
    return !(x == NUM_ZERO && y == NUM_ZERO) && below(f, a, b);
}

bool fp_le(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags) {
    enum fp_kind x = fp_unpack(f, a).kind, y = fp_unpack(f, b).kind;
    if (x >= NUM_QNAN || y >= NUM_QNAN) {
        *flags |= FP_NV;
        return false;
    }
    return (x == NUM_ZERO && y == NUM_ZERO) || !below(f, b, a);
}

uint32_t fp_class(enum fp_fmt f, uint64_t a) {
    struct fp_num x = fp_unpack(f, a);
    if (x.kind == NUM_SNAN) return 1u << 8;
    if (x.kind == NUM_QNAN) return 1u << 9;
    if (x.kind == NUM_INF) return x.sign ? 1u << 0 : 1u << 7;
    if (x.kind == NUM_ZERO) return x.sign ? 1u << 3 : 1u << 4;
    bool normal = x.exp >= 1 - fp_layouts[f].bias;
    if (normal) return x.sign ? 1u << 1 : 1u << 6;
    return x.sign ? 1u << 2 : 1u << 5;
}
