/* Packed operations: 64-bit registers of 2, 4 or 8 lanes. */
#include "fp_soft.h"

static uint64_t lane(enum fp_fmt f, uint64_t reg, int i) { return reg >> (i * fp_layouts[f].width) & fp_mask(f); }

static uint64_t put(enum fp_fmt f, uint64_t reg, int i, uint64_t v) {
    int at = i * fp_layouts[f].width;
    return (reg & ~(fp_mask(f) << at)) | v << at;
}

/* vfne, vfge and vfgt invert eq, lt and le, but a NaN that raises NV makes them 0 as well. */
static bool compare(enum fp_vop op, enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags) {
    unsigned raised = 0;
    bool holds = op == FP_VEQ || op == FP_VNE ? fp_eq(f, a, b, &raised)
                 : op == FP_VLT || op == FP_VGE ? fp_lt(f, a, b, &raised)
                                                : fp_le(f, a, b, &raised);
    bool inverted = op == FP_VNE || op == FP_VGE || op == FP_VGT;
    *flags |= raised;
    return !raised && holds != inverted;
}

static uint64_t one_lane(enum fp_vop op, enum fp_fmt f, uint64_t d, uint64_t a, uint64_t b, enum fp_rm rm,
                         unsigned *flags) {
    switch (op) {
    case FP_VADD: return fp_add(f, a, b, rm, flags);
    case FP_VSUB: return fp_sub(f, a, b, rm, flags);
    case FP_VMUL: return fp_mul(f, a, b, rm, flags);
    case FP_VDIV: return fp_div(f, a, b, rm, flags);
    case FP_VSQRT: return fp_sqrt(f, a, rm, flags);
    case FP_VMIN: return fp_min(f, a, b, flags);
    case FP_VMAX: return fp_max(f, a, b, flags);
    case FP_VMAC: return fp_fma(f, a, b, d, rm, false, false, flags);
    case FP_VMRE: return fp_fma(f, a, b, d, rm, true, false, flags);
    case FP_VSGNJ: return fp_sgnj(f, a, b);
    case FP_VSGNJN: return fp_sgnjn(f, a, b);
    default: return fp_sgnjx(f, a, b);
    }
}

uint64_t fp_vec(enum fp_vop op, enum fp_fmt f, uint64_t rd, uint64_t rs1, uint64_t rs2, bool replicate, enum fp_rm rm,
                unsigned *flags) {
    int lanes = 64 / fp_layouts[f].width;
    uint64_t result = 0;
    for (int i = 0; i < lanes; i++) {
        uint64_t a = lane(f, rs1, i), b = lane(f, rs2, replicate ? 0 : i);
        if (op >= FP_VEQ) result |= (uint64_t)compare(op, f, a, b, flags) << i;
        else result = put(f, result, i, one_lane(op, f, lane(f, rd, i), a, b, rm, flags));
    }
    return result;
}

/* x, y and z are finite products or addends: their sum, rounded once. */
static uint64_t sum_of_three(enum fp_fmt f, struct fp_wide x, struct fp_wide y, struct fp_wide z, enum fp_rm rm,
                             unsigned *flags) {
    struct fp_wide t[3] = {x, y, z};
    /* The largest first. A zero is the smallest. */
    for (int i = 0; i < 3; i++) {
        int j = i == 1 ? 1 : 0;
        bool less = t[j].sig == 0 ? t[j + 1].sig != 0
                                  : t[j + 1].sig != 0 && (t[j].exp < t[j + 1].exp ||
                                                         (t[j].exp == t[j + 1].exp && t[j].sig < t[j + 1].sig));
        if (!less) continue;
        struct fp_wide swap = t[j];
        t[j] = t[j + 1];
        t[j + 1] = swap;
    }
    bool cancel = t[0].sig && t[0].sig == t[1].sig && t[0].exp == t[1].exp && t[0].sign != t[1].sign;
    if (cancel && t[2].sig) return fp_round_wide(f, t[2], rm, flags);
    return fp_round_wide(f, fp_wide_add(t[0], fp_wide_add(t[1], t[2], rm), rm), rm, flags);
}

static uint64_t dot(enum fp_fmt to, enum fp_fmt from, const uint64_t v[4], uint64_t acc, bool negate, enum fp_rm rm,
                    unsigned *flags) {
    struct fp_num n[5];
    unsigned nan = 0, signaling = 0;
    for (int i = 0; i < 5; i++) {
        n[i] = i < 4 ? fp_unpack(from, v[i]) : fp_unpack(to, acc);
        nan |= n[i].kind >= NUM_QNAN;
        signaling |= n[i].kind == NUM_SNAN;
    }
    n[0].sign ^= negate;
    n[2].sign ^= negate;
    bool inf[3] = {n[0].kind == NUM_INF || n[1].kind == NUM_INF, n[2].kind == NUM_INF || n[3].kind == NUM_INF,
                   n[4].kind == NUM_INF};
    bool sign[3] = {n[0].sign != n[1].sign, n[2].sign != n[3].sign, n[4].sign};
    bool invalid = (inf[0] && (n[0].kind == NUM_ZERO || n[1].kind == NUM_ZERO)) ||
                   (inf[1] && (n[2].kind == NUM_ZERO || n[3].kind == NUM_ZERO));
    if (!nan) {
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3;
            invalid |= inf[i] && inf[j] && sign[i] != sign[j];
        }
    }
    if (invalid || signaling) *flags |= FP_NV;
    if (invalid || nan) return fp_nan(to);
    for (int i = 0; i < 3; i++) {
        if (inf[i]) return fp_layouts[to].inf | (sign[i] ? fp_sign_bit(to) : 0);
    }
    return sum_of_three(to, fp_product(n[0], n[1]), fp_product(n[2], n[3]), fp_widen(n[4]), rm, flags);
}

static uint64_t one_of(enum fp_fmt f) { return (uint64_t)fp_layouts[f].bias << fp_layouts[f].man; }

static uint64_t convert(enum fp_wop op, enum fp_fmt to, enum fp_fmt from, uint64_t rs1, enum fp_rm rm,
                        unsigned *flags) {
    int width = fp_layouts[to].width > fp_layouts[from].width ? fp_layouts[to].width : fp_layouts[from].width;
    uint64_t result = ~UINT64_C(0);
    int lanes = 64 / width;
    int first = op == FP_WCVTU && fp_layouts[to].width > fp_layouts[from].width ? 32 / fp_layouts[from].width : 0;
    for (int i = 0; i < lanes; i++) result = put(to, result, i, fp_cvt(to, from, lane(from, rs1, first + i), rm, flags));
    return result;
}

uint64_t fp_vec_wide(enum fp_wop op, enum fp_fmt to, enum fp_fmt from, uint64_t rd, uint64_t rs1, uint64_t rs2,
                     bool replicate, enum fp_rm rm, unsigned *flags) {
    if (op == FP_WCVT || op == FP_WCVTU) return convert(op, to, from, rs1, rm, flags);
    if (op >= FP_WCPKA && op <= FP_WCPKD) {
        int at = 2 * (int)(op - FP_WCPKA);
        rd = put(to, rd, at, fp_cvt(to, from, lane(from, rs1, 0), rm, flags));
        return put(to, rd, at + 1, fp_cvt(to, from, lane(from, rs2, 0), rm, flags));
    }
    bool products = op >= FP_WDOTPEX;
    bool negate = op == FP_WNSUM || op == FP_WNSUMEX || op == FP_WNDOTPEX;
    int sums = 32 / fp_layouts[from].width;
    uint64_t result = ~UINT64_C(0), one = one_of(from);
    for (int i = 0; i < sums; i++) {
        uint64_t v[4] = {lane(from, rs1, 2 * i), one, lane(from, rs1, 2 * i + 1), one};
        if (products) {
            v[1] = lane(from, rs2, replicate ? 0 : 2 * i);
            v[3] = lane(from, rs2, replicate ? 0 : 2 * i + 1);
        }
        result = put(to, result, i, dot(to, from, v, lane(to, rd, i), negate, rm, flags));
    }
    return result;
}
