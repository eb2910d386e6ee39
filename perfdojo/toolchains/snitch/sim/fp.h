/* Floating-point arithmetic of the simulated FPU: pure functions on raw bits. */
#ifndef PERFDOJO_SNITCH_FP_H
#define PERFDOJO_SNITCH_FP_H

#include <stdbool.h>
#include <stdint.h>

/* A value is passed and returned unboxed, in the low bits of a uint64_t; bits above the format's width are ignored
 * on entry and zero on return. Flags are or-ed into *flags: a caller that passes its sticky fflags word, rather than a
 * fresh zero, is served faster. No function has state; all expect the host to round to nearest.
 *
 * What is computed: IEEE 754 as the RISC-V F and D extensions prescribe it, in every format.
 * - A NaN result is the canonical one; only a signaling NaN operand, infinity * 0 (even with a quiet NaN addend),
 *   infinity - infinity, 0/0, inf/inf and roots of negative numbers raise NV.
 * - Underflow is judged after rounding, and raised only with NX. Subnormals are computed, never flushed.
 * - min, max: of one NaN and one number, the number; -0 is below +0; a signaling NaN raises NV (RISC-V 2.2,
 *   minimumNumber of IEEE 754-2019). FPnew's source does the same.
 * - eq raises NV for signaling NaNs only, lt and le for all NaNs.
 * - A conversion to an integer saturates and then raises NV alone; a NaN gives the largest integer.
 *
 * What is known of the hardware: the measured words of packed operations (tests/toolchains/snitch/measured.py) agree.
 * No program has measured flags, modes other than RNE, or operands at the borders; for these the source of FPnew was
 * read (pulp-platform/cvfpu, other commits than the e5aa6a0 that was measured). Flags, never results, differ there from
 * RISC-V in four places, which are not copied:
 * - UF is raised where the rounded result's exponent field is 0, so not for a tiny value rounded up to a normal one;
 * - a conversion to int32 of a value that rounds to -2^31 from that binade raises NV;
 * - an integer that overflows a narrow format raises NV and NX instead of OF and NX;
 * - sums of three see no NX where the parts that were shifted out of the adder happen to cancel.
 */
enum fp_fmt {
    FP_S,  /* binary32 */
    FP_D,  /* binary64 */
    FP_H,  /* binary16 */
    FP_AH, /* 1-8-7, "alternative half", bfloat16 */
    FP_B,  /* 1-5-2 */
    FP_AB, /* 1-4-3, with infinities and NaNs as IEEE has them */
};
enum fp_rm { RNE, RTZ, RDN, RUP, RMM };
enum fp_flag { FP_NX = 1, FP_UF = 2, FP_OF = 4, FP_DZ = 8, FP_NV = 16 };

int fp_width(enum fp_fmt f);                    /* bits */
uint64_t fp_nan(enum fp_fmt f);                 /* the canonical NaN: positive, quiet, payload zero */
uint64_t fp_box(enum fp_fmt f, uint64_t v);     /* ones above the value */
uint64_t fp_unbox(enum fp_fmt f, uint64_t reg); /* the canonical NaN where the upper bits are not all ones */

uint64_t fp_add(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags);
uint64_t fp_sub(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags);
uint64_t fp_mul(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags);
/* (neg_product ? -(a*b) : a*b) + (neg_addend ? -c : c), rounded once. */
uint64_t fp_fma(enum fp_fmt f, uint64_t a, uint64_t b, uint64_t c, enum fp_rm rm, bool neg_product, bool neg_addend,
                unsigned *flags);
uint64_t fp_div(enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags);
uint64_t fp_sqrt(enum fp_fmt f, uint64_t a, enum fp_rm rm, unsigned *flags);

uint64_t fp_min(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags);
uint64_t fp_max(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags);
uint64_t fp_sgnj(enum fp_fmt f, uint64_t a, uint64_t b);
uint64_t fp_sgnjn(enum fp_fmt f, uint64_t a, uint64_t b);
uint64_t fp_sgnjx(enum fp_fmt f, uint64_t a, uint64_t b);
bool fp_eq(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags);
bool fp_lt(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags);
bool fp_le(enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags);
uint32_t fp_class(enum fp_fmt f, uint64_t a); /* the ten-bit mask of fclass */

uint64_t fp_cvt(enum fp_fmt to, enum fp_fmt from, uint64_t a, enum fp_rm rm, unsigned *flags);
int32_t fp_to_i32(enum fp_fmt f, uint64_t a, enum fp_rm rm, unsigned *flags);
uint32_t fp_to_u32(enum fp_fmt f, uint64_t a, enum fp_rm rm, unsigned *flags);
uint64_t fp_from_i32(enum fp_fmt f, int32_t x, enum fp_rm rm, unsigned *flags);
uint64_t fp_from_u32(enum fp_fmt f, uint32_t x, enum fp_rm rm, unsigned *flags);

/* Packed operations on whole 64-bit registers, lane 0 in the low bits; the flags of all lanes are or-ed. With
 * `replicate`, lane 0 of rs2 stands for all its lanes. A NaN makes every compare but FP_VNE 0. A signaling NaN, and for
 * the four ordered compares any NaN, raises NV and gives 0, for FP_VNE too (FPnew's source). */
enum fp_vop {
    FP_VADD, FP_VSUB, FP_VMUL, FP_VDIV, FP_VSQRT, FP_VMIN, FP_VMAX,
    FP_VMAC,                           /* rd + rs1*rs2 */
    FP_VMRE,                           /* rd - rs1*rs2 */
    FP_VSGNJ, FP_VSGNJN, FP_VSGNJX,
    FP_VEQ, FP_VNE, FP_VLT, FP_VGE, FP_VLE, FP_VGT, /* result: bit i of the integer register is lane i */
};
uint64_t fp_vec(enum fp_vop op, enum fp_fmt f, uint64_t rd, uint64_t rs1, uint64_t rs2, bool replicate, enum fp_rm rm,
                unsigned *flags);

/* Packed operations with a source and a result format. Lanes of the result that an operation does not write are ones,
 * except for cast-and-pack, which keeps them.
 *
 * Sums of three (sums, dot products) are computed exactly and rounded once. FPnew's unit (fpnew_sdotp_multi) is
 * documented to add the two largest terms, then the third, and to round at the end alone. Assumed, because its adders
 * are wide but finite: that nothing is lost before. By its source that can happen, for FP16 to FP32, only where terms lie
 * about 2^50 or more apart, or where the largest one has a subnormal factor and cancels. Measured sums were exact.
 * A zero sum is -0 where all three terms are -0, or in RDN where their signs differ or they cancel; else +0.
 *
 * `replicate` is for the dot products only: there the decoder puts replicated lane 0 of rs2 (as wide as a source lane)
 * in place of the *accumulator*, while the products take rs2 as it is. So the source has it; the one measurement only
 * said that the obvious meaning is wrong. */
enum fp_wop {
    FP_WCVT,            /* vfcvt: lanes from lane 0 up, as many as both formats have */
    FP_WCVTU,           /* vfcvtu: a widening conversion reads the upper half of rs1 */
    FP_WCPKA, FP_WCPKB, FP_WCPKC, FP_WCPKD, /* lane 0 of rs1 and of rs2 to lanes 0,1 | 2,3 | 4,5 | 6,7 of rd */
    FP_WSUM, FP_WNSUM,     /* rd lane i +- (rs1 lane 2i + rs1 lane 2i+1); upper half becomes ones */
    FP_WSUMEX, FP_WNSUMEX, /* the same with results twice as wide, so that they fill the register */
    FP_WDOTPEX, FP_WNDOTPEX, /* rd lane i +- (rs1 2i * rs2 2i + rs1 2i+1 * rs2 2i+1) */
};
uint64_t fp_vec_wide(enum fp_wop op, enum fp_fmt to, enum fp_fmt from, uint64_t rd, uint64_t rs1, uint64_t rs2,
                     bool replicate, enum fp_rm rm, unsigned *flags);

#endif
