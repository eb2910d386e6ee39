/* Conversions between formats and between a format and 32-bit integers. */
#include "fp_soft.h"

uint64_t fp_cvt(enum fp_fmt to, enum fp_fmt from, uint64_t a, enum fp_rm rm, unsigned *flags) {
    struct fp_num x = fp_unpack(from, a);
    uint64_t top = x.sign ? fp_sign_bit(to) : 0;
    if (x.kind == NUM_SNAN) *flags |= FP_NV;
    if (x.kind >= NUM_QNAN) return fp_nan(to);
    if (x.kind == NUM_INF) return top | fp_layouts[to].inf;
    if (x.kind == NUM_ZERO) return top;
    return fp_round(to, x.sign, x.exp, x.sig, rm, flags);
}

/* The integer nearest to x in this mode, kept within low..high; NV, and no other flag, where it was outside. */
static int64_t to_integer(struct fp_num x, int64_t low, int64_t high, enum fp_rm rm, unsigned *flags) {
    if (x.kind == NUM_ZERO) return 0;
    if (x.kind >= NUM_QNAN || x.kind == NUM_INF || x.exp > 31) {
        *flags |= FP_NV;
        return x.sign && x.kind < NUM_QNAN ? low : high;
    }
    uint64_t whole = x.exp < 0 ? 0 : x.sig >> (63 - x.exp);
    uint64_t fraction = x.exp < -1 ? 1 : x.sig << (x.exp + 1);
    unsigned rest = (unsigned)(fraction >> 63) << 1 | ((fraction << 1) != 0);
    if (x.exp < -1) rest = 1;
    int64_t size = (int64_t)(whole + fp_rounds_up(x.sign, whole & 1, rest, rm));
    int64_t value = x.sign ? -size : size;
    if (value < low || value > high) {
        *flags |= FP_NV;
        return value < low ? low : high;
    }
    if (rest) *flags |= FP_NX;
    return value;
}

int32_t fp_to_i32(enum fp_fmt f, uint64_t a, enum fp_rm rm, unsigned *flags) {
    return (int32_t)to_integer(fp_unpack(f, a), INT32_MIN, INT32_MAX, rm, flags);
}

uint32_t fp_to_u32(enum fp_fmt f, uint64_t a, enum fp_rm rm, unsigned *flags) {
    return (uint32_t)to_integer(fp_unpack(f, a), 0, UINT32_MAX, rm, flags);
}

uint64_t fp_from_u32(enum fp_fmt f, uint32_t x, enum fp_rm rm, unsigned *flags) {
    if (x == 0) return 0;
    int zeros = __builtin_clzll(x);
    return fp_round(f, false, 63 - zeros, (uint64_t)x << zeros, rm, flags);
}

uint64_t fp_from_i32(enum fp_fmt f, int32_t x, enum fp_rm rm, unsigned *flags) {
    if (x >= 0) return fp_from_u32(f, (uint32_t)x, rm, flags);
    uint64_t size = (uint64_t)-(int64_t)x;
    int zeros = __builtin_clzll(size);
    return fp_round(f, true, 63 - zeros, size << zeros, rm, flags);
}
