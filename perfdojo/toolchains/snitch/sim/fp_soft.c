/* Addition, multiplication and fused multiply-add in integer arithmetic, for every format and rounding mode. */
#include "fp_soft.h"

struct fp_num fp_unpack(enum fp_fmt f, uint64_t v) {
    const struct fp_layout *l = &fp_layouts[f];
    bool sign = (v & fp_sign_bit(f)) != 0;
    uint64_t abs = v & (fp_sign_bit(f) - 1);
    uint64_t frac = abs & ((UINT64_C(1) << l->man) - 1);
    if (abs == 0) return (struct fp_num){NUM_ZERO, sign, 0, 0};
    if (abs == l->inf) return (struct fp_num){NUM_INF, sign, 0, 0};
    if (abs > l->inf) return (struct fp_num){frac >> (l->man - 1) ? NUM_QNAN : NUM_SNAN, sign, 0, 0};
    int stored = (int)(abs >> l->man);
    if (stored) {
        uint64_t hidden = UINT64_C(1) << l->man;
        return (struct fp_num){NUM_FINITE, sign, stored - l->bias, (frac | hidden) << (63 - l->man)};
    }
    int zeros = __builtin_clzll(frac);
    return (struct fp_num){NUM_FINITE, sign, 1 - l->bias - l->man + 63 - zeros, frac << zeros};
}

bool fp_rounds_up(bool sign, bool odd, unsigned half_and_rest, enum fp_rm rm) {
    switch (rm) {
    case RNE: return half_and_rest > 2 || (half_and_rest == 2 && odd);
    case RDN: return sign && half_and_rest;
    case RUP: return !sign && half_and_rest;
    case RMM: return half_and_rest >= 2;
    default: return false;
    }
}

/* The bits below place `drop` of sig, as fp_rounds_up wants them; 0 < drop < 64. */
static unsigned remainder_class(uint64_t sig, int drop) {
    uint64_t below = sig << (64 - drop);
    return (unsigned)(below >> 63) << 1 | ((below << 1) != 0);
}

static uint64_t shift_jam(uint64_t sig, int by) {
    if (by >= 64) return sig != 0;
    return by ? sig >> by | ((sig << (64 - by)) != 0) : sig;
}

static u128 wide_shift_jam(u128 sig, int by) {
    if (by >= 128) return sig != 0;
    return by ? sig >> by | ((sig << (128 - by)) != 0) : sig;
}

uint64_t fp_round(enum fp_fmt f, bool sign, int exp, uint64_t sig, enum fp_rm rm, unsigned *flags) {
    const struct fp_layout *l = &fp_layouts[f];
    uint64_t top = sign ? fp_sign_bit(f) : 0;
    int drop = 63 - l->man;
    int stored = exp + l->bias;
    if (exp > l->bias) {
        *flags |= FP_OF | FP_NX;
        return top | (l->inf - !fp_rounds_up(sign, true, 3, rm));
    }
    bool tiny = false;
    if (stored < 1) {
        /* Tininess is judged after rounding, as if the exponent had no lower bound. */
        uint64_t kept = sig >> drop;
        kept += fp_rounds_up(sign, kept & 1, remainder_class(sig, drop), rm);
        tiny = stored < 0 || kept >> (l->man + 1) == 0;
        sig = shift_jam(sig, 1 - stored);
        stored = 1;
    }
    unsigned rest = remainder_class(sig, drop);
    uint64_t kept = sig >> drop;
    if (rest) *flags |= tiny ? FP_NX | FP_UF : FP_NX;
    /* The leading bit of kept, where there is one, adds the one that is missing in the exponent field. */
    uint64_t word = ((uint64_t)(stored - 1) << l->man) + kept + fp_rounds_up(sign, kept & 1, rest, rm);
    if (word == l->inf) *flags |= FP_OF | FP_NX;
    return top | word;
}

uint64_t fp_round_wide(enum fp_fmt f, struct fp_wide x, enum fp_rm rm, unsigned *flags) {
    if (x.sig == 0) return x.sign ? fp_sign_bit(f) : 0;
    uint64_t high = (uint64_t)(x.sig >> 63);
    return fp_round(f, x.sign, x.exp, high | ((x.sig << 65) != 0), rm, flags);
}

struct fp_wide fp_widen(struct fp_num a) {
    return (struct fp_wide){a.sign, a.exp, (u128)a.sig << 63};
}

struct fp_wide fp_product(struct fp_num a, struct fp_num b) {
    bool sign = a.sign != b.sign;
    u128 sig = (u128)a.sig * b.sig;
    if (sig == 0) return (struct fp_wide){sign, 0, 0};
    /* Significands have 53 bits at most: the bit shifted out is 0. */
    if (sig >> 127) return (struct fp_wide){sign, a.exp + b.exp + 1, sig >> 1};
    return (struct fp_wide){sign, a.exp + b.exp, sig};
}

/* No rounding error arises: where bits are lost, the operands' exponents differ by more than 20, and then the result
 * loses one leading bit at most, so the jammed bit stays far below the last place of any format. */
struct fp_wide fp_wide_add(struct fp_wide x, struct fp_wide y, enum fp_rm rm) {
    if (x.sig == 0 && y.sig == 0) return (struct fp_wide){x.sign == y.sign ? x.sign : rm == RDN, 0, 0};
    if (y.sig == 0) return x;
    if (x.sig == 0) return y;
    if (x.exp < y.exp || (x.exp == y.exp && x.sig < y.sig)) {
        struct fp_wide swap = x;
        x = y;
        y = swap;
    }
    u128 shifted = wide_shift_jam(y.sig, x.exp - y.exp);
    if (x.sign == y.sign) {
        u128 sum = x.sig + shifted;
        if (sum >> 127) return (struct fp_wide){x.sign, x.exp + 1, sum >> 1 | (sum & 1)};
        return (struct fp_wide){x.sign, x.exp, sum};
    }
    u128 rest = x.sig - shifted;
    if (rest == 0) return (struct fp_wide){rm == RDN, 0, 0};
    uint64_t high = (uint64_t)(rest >> 64);
    int zeros = (high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)rest)) - 1;
    return (struct fp_wide){x.sign, x.exp - zeros, rest << zeros};
}

uint64_t fp_soft_add(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags) {
    struct fp_num x = fp_unpack(f, a), y = fp_unpack(f, b);
    bool opposite = x.kind == NUM_INF && y.kind == NUM_INF && x.sign != y.sign;
    if (x.kind == NUM_SNAN || y.kind == NUM_SNAN || opposite) *flags |= FP_NV;
    if (x.kind >= NUM_QNAN || y.kind >= NUM_QNAN || opposite) return fp_nan(f);
    if (x.kind == NUM_INF) return a & fp_mask(f);
    if (y.kind == NUM_INF) return b & fp_mask(f);
    return fp_round_wide(f, fp_wide_add(fp_widen(x), fp_widen(y), rm), rm, flags);
}

uint64_t fp_soft_mul(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags) {
    struct fp_num x = fp_unpack(f, a), y = fp_unpack(f, b);
    bool invalid = (x.kind == NUM_INF && y.kind == NUM_ZERO) || (x.kind == NUM_ZERO && y.kind == NUM_INF);
    if (x.kind == NUM_SNAN || y.kind == NUM_SNAN || invalid) *flags |= FP_NV;
    if (x.kind >= NUM_QNAN || y.kind >= NUM_QNAN || invalid) return fp_nan(f);
    if (x.kind == NUM_INF || y.kind == NUM_INF) return fp_layouts[f].inf | (x.sign != y.sign ? fp_sign_bit(f) : 0);
    return fp_round_wide(f, fp_product(x, y), rm, flags);
}

uint64_t fp_soft_fma(enum fp_fmt f, uint64_t a, uint64_t b, uint64_t c, enum fp_rm rm, unsigned *flags) {
    struct fp_num x = fp_unpack(f, a), y = fp_unpack(f, b), z = fp_unpack(f, c);
    bool infinite = x.kind == NUM_INF || y.kind == NUM_INF;
    /* Infinity times zero raises NV even where the addend is a quiet NaN (RISC-V's choice). */
    bool invalid = (x.kind == NUM_INF && y.kind == NUM_ZERO) || (x.kind == NUM_ZERO && y.kind == NUM_INF);
    bool nan = x.kind >= NUM_QNAN || y.kind >= NUM_QNAN || z.kind >= NUM_QNAN;
    bool signaling = x.kind == NUM_SNAN || y.kind == NUM_SNAN || z.kind == NUM_SNAN;
    bool opposite = !nan && infinite && z.kind == NUM_INF && (x.sign != y.sign) != z.sign;
    if (invalid || signaling || opposite) *flags |= FP_NV;
    if (invalid || nan || opposite) return fp_nan(f);
    if (infinite) return fp_layouts[f].inf | (x.sign != y.sign ? fp_sign_bit(f) : 0);
    if (z.kind == NUM_INF) return c & fp_mask(f);
    return fp_round_wide(f, fp_wide_add(fp_product(x, y), fp_widen(z), rm), rm, flags);
}
