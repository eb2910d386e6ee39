/* Unpacked numbers and the one rounding step, shared by the files fp*.c; not for the rest of the simulator. */
#ifndef PERFDOJO_SNITCH_FP_SOFT_H
#define PERFDOJO_SNITCH_FP_SOFT_H

#include "fp.h"

__extension__ typedef unsigned __int128 u128;

struct fp_layout {
    int man;  /* stored bits of the significand */
    int bias; /* and the largest exponent of a finite value */
    int width;
    uint64_t inf;
};

/* Here, so that a constant format makes its layout constant. */
static const struct fp_layout fp_layouts[6] = {
    [FP_S] = {23, 127, 32, 0x7f800000u},
    [FP_D] = {52, 1023, 64, UINT64_C(0x7ff0000000000000)},
    [FP_H] = {10, 15, 16, 0x7c00},
    [FP_AH] = {7, 127, 16, 0x7f80},
    [FP_B] = {2, 15, 8, 0x7c},
    [FP_AB] = {3, 7, 8, 0x78},
};

enum fp_kind { NUM_ZERO, NUM_FINITE, NUM_INF, NUM_QNAN, NUM_SNAN };

/* FINITE: (-1)^sign * sig * 2^(exp-63), bit 63 of sig set. */
struct fp_num {
    enum fp_kind kind;
    bool sign;
    int exp;
    uint64_t sig;
};

/* (-1)^sign * sig * 2^(exp-126), bit 127 clear, bit 126 set unless sig is 0. The lowest bit may stand for "and a bit
 * more": then the true value lies strictly between the two even neighbours of sig. */
struct fp_wide {
    bool sign;
    int exp;
    u128 sig;
};

struct fp_num fp_unpack(enum fp_fmt f, uint64_t v);
/* Rounds sig * 2^(exp-63), bit 63 of sig set, lowest bit sticky. */
uint64_t fp_round(enum fp_fmt f, bool sign, int exp, uint64_t sig, enum fp_rm rm, unsigned *flags);
/* Rounds a wide number; a zero keeps its sign. */
uint64_t fp_round_wide(enum fp_fmt f, struct fp_wide x, enum fp_rm rm, unsigned *flags);
struct fp_wide fp_widen(struct fp_num a);
struct fp_wide fp_product(struct fp_num a, struct fp_num b);
/* Sum with at least 100 right bits and a sticky one; an exact zero of unlike signs has the sign IEEE gives it. */
struct fp_wide fp_wide_add(struct fp_wide x, struct fp_wide y, enum fp_rm rm);
/* Whether rounding in this mode adds one to the part kept; half_and_rest is 0 (exact), 1 (below half), 2 (half), 3. */
bool fp_rounds_up(bool sign, bool odd, unsigned half_and_rest, enum fp_rm rm);

/* The soft versions, for every format and mode; fp.c takes a host instruction where it gives the same. */
uint64_t fp_soft_add(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags);
uint64_t fp_soft_mul(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags);
uint64_t fp_soft_fma(enum fp_fmt f, uint64_t a, uint64_t b, uint64_t c, enum fp_rm rm, unsigned *flags);

static inline uint64_t fp_mask(enum fp_fmt f) { return ~UINT64_C(0) >> (64 - fp_layouts[f].width); }
static inline uint64_t fp_sign_bit(enum fp_fmt f) { return UINT64_C(1) << (fp_layouts[f].width - 1); }

#endif
