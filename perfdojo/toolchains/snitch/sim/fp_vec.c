/* Packed operations on lanes of one format. */
#include "fp_host.h"
#include "fp_lanes.h"

/* vfne, vfge and vfgt invert eq, lt and le, but a NaN that raises NV makes them 0 as well. */
static bool compare(enum fp_vop op, enum fp_fmt f, uint64_t a, uint64_t b, unsigned *flags) {
    unsigned raised = 0;
    bool holds = op == FP_VEQ || op == FP_VNE   ? fp_eq(f, a, b, &raised)
                 : op == FP_VLT || op == FP_VGE ? fp_lt(f, a, b, &raised)
                                                : fp_le(f, a, b, &raised);
    bool inverted = op == FP_VNE || op == FP_VGE || op == FP_VGT;
    *flags |= raised;
    return !raised && holds != inverted;
}

static uint64_t other(enum fp_vop op, enum fp_fmt f, uint64_t a, uint64_t b, enum fp_rm rm, unsigned *flags) {
    switch (op) {
    case FP_VDIV: return fp_div(f, a, b, rm, flags);
    case FP_VSQRT: return fp_sqrt(f, a, rm, flags);
    case FP_VMIN: return fp_min(f, a, b, flags);
    case FP_VMAX: return fp_max(f, a, b, flags);
    case FP_VSGNJ: return fp_sgnj(f, a, b);
    case FP_VSGNJN: return fp_sgnjn(f, a, b);
    default: return fp_sgnjx(f, a, b);
    }
}

/* Inlined for each format, which makes the layout constant: these are the inner loops of kernels. */
__attribute__((always_inline)) static inline uint64_t lanes_of(enum fp_vop op, enum fp_fmt f, uint64_t rd, uint64_t rs1,
                                                               uint64_t rs2, bool replicate, enum fp_rm rm,
                                                               unsigned *flags) {
    uint64_t top = fp_sign_bit(f), result = 0;
    for (int i = 0; i < 64 / fp_layouts[f].width; i++) {
        uint64_t a = fp_lane(f, rs1, i), b = fp_lane(f, rs2, replicate ? 0 : i), d = fp_lane(f, rd, i), r;
        switch (op) {
        case FP_VSUB: b ^= top; /* fall through */
        case FP_VADD: r = fp_host_add(f, a, b, rm, &r, flags) ? r : fp_soft_add(f, a, b, rm, flags); break;
        case FP_VMUL: r = fp_host_mul(f, a, b, rm, &r, flags) ? r : fp_soft_mul(f, a, b, rm, flags); break;
        case FP_VMRE: a ^= top; /* fall through */
        case FP_VMAC: r = fp_host_fma(f, a, b, d, rm, &r, flags) ? r : fp_soft_fma(f, a, b, d, rm, flags); break;
        default:
            if (op >= FP_VEQ) {
                result |= (uint64_t)compare(op, f, a, b, flags) << i;
                continue;
            }
            r = other(op, f, a, b, rm, flags);
        }
        result = fp_put_lane(f, result, i, r);
    }
    return result;
}

uint64_t fp_vec(enum fp_vop op, enum fp_fmt f, uint64_t rd, uint64_t rs1, uint64_t rs2, bool replicate, enum fp_rm rm,
                unsigned *flags) {
    switch (f) {
    case FP_S: return lanes_of(op, FP_S, rd, rs1, rs2, replicate, rm, flags);
    case FP_H: return lanes_of(op, FP_H, rd, rs1, rs2, replicate, rm, flags);
    default: return lanes_of(op, f, rd, rs1, rs2, replicate, rm, flags);
    }
}
