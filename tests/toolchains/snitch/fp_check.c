/* Loops over many operands, called through ctypes by test_fp.py: too many for one call each. */
#include "fp_soft.h"

/* out[256 * a + b] = result | flags << 8, for every pair of an 8-bit format. */
void all_pairs(int multiply, enum fp_fmt f, enum fp_rm rm, uint16_t *out) {
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            unsigned flags = 0;
            uint64_t r = multiply ? fp_mul(f, a, b, rm, &flags) : fp_add(f, a, b, rm, &flags);
            out[256 * a + b] = (uint16_t)(r | flags << 8);
        }
    }
}

static uint64_t next(uint64_t *state) {
    /* xorshift64, Marsaglia 2003 */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* A third of the patterns is uniform, a third has few significant bits, a third is close in exponent to 1. */
static uint64_t pattern(enum fp_fmt f, uint64_t *state) {
    const struct fp_layout *l = &fp_layouts[f];
    uint64_t bits = next(state) & fp_mask(f), kind = next(state) >> 20;
    uint64_t fraction = (UINT64_C(1) << l->man) - 1;
    if (kind % 3 == 0) return bits;
    if (kind % 3 == 1) return bits & ~(fraction >> (kind / 3 % (l->man + 1)));
    uint64_t near = (uint64_t)(l->bias + (int)(kind / 3 % 8) - 4) << l->man;
    return (bits & (fp_sign_bit(f) | fraction)) | near;
}

/* Operations in which fp_add, fp_mul or fp_fma and the soft version differ in result or flags; what[] is the first. */
int64_t fast_against_soft(enum fp_fmt f, uint64_t seed, int64_t count, uint64_t what[6]) {
    int64_t differing = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t a = pattern(f, &seed), b = pattern(f, &seed), c = pattern(f, &seed), fast, soft;
        /* An eighth of the products lies next to the smallest normal number. */
        unsigned ignored = 0;
        uint64_t normal = UINT64_C(1) << fp_layouts[f].man;
        if ((i & 7) == 7) b = (fp_div(f, normal, a, RNE, &ignored) + next(&seed) % 3 - 1) & fp_mask(f);
        enum fp_rm rm = f == FP_D ? RNE : (enum fp_rm)(next(&seed) >> 20) % 5;
        unsigned before = next(&seed) >> 20 & FP_NX, flags = before, soft_flags = before;
        if (i % 3 == 0) {
            fast = fp_add(f, a, b, rm, &flags);
            soft = fp_soft_add(f, a, b, rm, &soft_flags);
        } else if (i % 3 == 1) {
            fast = fp_mul(f, a, b, rm, &flags);
            soft = fp_soft_mul(f, a, b, rm, &soft_flags);
        } else {
            /* Those have a tiny addend, half of the others one that nearly cancels the product. */
            if ((i & 7) == 7) c &= fp_sign_bit(f) | 1;
            else if (i & 8) c = fp_soft_mul(f, a, b, RNE, &ignored) ^ fp_sign_bit(f) ^ (next(&seed) & 1);
            fast = fp_fma(f, a, b, c, rm, false, false, &flags);
            soft = fp_soft_fma(f, a, b, c, rm, &soft_flags);
        }
        if (fast == soft && flags == soft_flags) continue;
        if (differing++ == 0) {
            uint64_t first[6] = {(uint64_t)(i % 3), a, b, c, fast, soft};
            for (int j = 0; j < 6; j++) what[j] = first[j];
        }
    }
    return differing;
}
