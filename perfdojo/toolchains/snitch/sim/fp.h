/* Floating-point arithmetic of the simulated FPU: pure functions on raw bits. */
#ifndef PERFDOJO_SNITCH_FP_H
#define PERFDOJO_SNITCH_FP_H

#include <stdbool.h>
#include <stdint.h>

/* A value is passed and returned unboxed, in the low bits of a uint64_t; bits above the format's width are ignored
 * on entry and zero on return. Flags are or-ed into *flags. No function has state. */
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

int fp_width(enum fp_fmt f);          /* bits */
uint64_t fp_nan(enum fp_fmt f);       /* the canonical NaN: positive, quiet, payload zero */
uint64_t fp_box(enum fp_fmt f, uint64_t v);    /* ones above the value */
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

/* Packed operations on whole 64-bit registers; lane 0 is in the low bits. */
enum fp_vop {
    FP_VADD, FP_VSUB, FP_VMUL, FP_VDIV, FP_VSQRT, FP_VMIN, FP_VMAX,
    FP_VMAC,                           /* rd + rs1*rs2 */
    FP_VMRE,                           /* rd - rs1*rs2 */
    FP_VSGNJ, FP_VSGNJN, FP_VSGNJX,
    FP_VEQ, FP_VNE, FP_VLT, FP_VGE, FP_VLE, FP_VGT, /* result: bit i of the integer register is lane i */
};
uint64_t fp_vec(enum fp_vop op, enum fp_fmt f, uint64_t rd, uint64_t rs1, uint64_t rs2, bool replicate, enum fp_rm rm,
                unsigned *flags);

/* Packed operations with a source and a result format (equal for vfsum). */
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
