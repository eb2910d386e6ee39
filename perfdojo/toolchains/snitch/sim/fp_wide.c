/* Packed operations with a source and a result format: conversions, cast-and-pack, sums and dot products. */
#include "fp_host.h"
#include "fp_lanes.h"

static bool is_smaller(struct fp_wide x, struct fp_wide y) {
    if (x.sig == 0 || y.sig == 0) return y.sig != 0;
    return x.exp < y.exp || (x.exp == y.exp && x.sig < y.sig);
}

static void put_larger_first(struct fp_wide *x, struct fp_wide *y) {
    if (!is_smaller(*x, *y)) return;
    struct fp_wide swap = *x;
    *x = *y;
    *y = swap;
}

/* Terms have 48 bits at most. So the two larger ones cancel, or leave at least 2^-48 of their size; then what the inner
 * addition jams, more than 100 bits down, is far below the last place of the sum. */
static uint64_t round_sum(enum fp_fmt f, struct fp_wide x, struct fp_wide y, struct fp_wide z, enum fp_rm rm,
                          unsigned *flags) {
    put_larger_first(&x, &y);
    put_larger_first(&y, &z);
    put_larger_first(&x, &y);
    bool cancel = x.sig == y.sig && x.exp == y.exp && x.sign != y.sign;
    if (cancel && z.sig) return fp_round_wide(f, z, rm, flags);
    return fp_round_wide(f, fp_wide_add(x, fp_wide_add(y, z, rm), rm), rm, flags);
}

/* The same by the host, where the products' sum is exact. */
static bool host_dot(enum fp_fmt to, enum fp_fmt from, const uint64_t v[4], uint64_t acc, bool negate, enum fp_rm rm,
                     uint64_t *result, unsigned *flags) {
    for (int i = 0; i < 4; i++) {
        if (!fp_is_finite(from, v[i])) return false;
    }
    if (!fp_is_finite(to, acc)) return false;
    double x = fp_host_value(from, v[0]) * fp_host_value(from, v[1]);
    double y = fp_host_value(from, v[2]) * fp_host_value(from, v[3]);
    if (negate) x = -x, y = -y;
    double sum = x + y;
    if (fp_sum_error(x, y, sum) != 0) return false;
    return fp_host_sum(to, sum, fp_host_value(to, acc), rm, result, flags);
}

/* +-(v0*v1 + v2*v3) + acc. */
static uint64_t dot(enum fp_fmt to, enum fp_fmt from, const uint64_t v[4], uint64_t acc, bool negate, enum fp_rm rm,
                    unsigned *flags) {
    uint64_t result;
    if (host_dot(to, from, v, acc, negate, rm, &result, flags)) return result;
    struct fp_num n[5];
    bool nan = false, signaling = false;
    for (int i = 0; i < 5; i++) {
        n[i] = i < 4 ? fp_unpack(from, v[i]) : fp_unpack(to, acc);
        nan |= n[i].kind >= NUM_QNAN;
        signaling |= n[i].kind == NUM_SNAN;
    }
    n[0].sign ^= negate;
    n[2].sign ^= negate;
    bool sign[3] = {n[0].sign != n[1].sign, n[2].sign != n[3].sign, n[4].sign};
    bool inf[3] = {n[0].kind == NUM_INF || n[1].kind == NUM_INF, n[2].kind == NUM_INF || n[3].kind == NUM_INF,
                   n[4].kind == NUM_INF};
    bool invalid = (inf[0] && (n[0].kind == NUM_ZERO || n[1].kind == NUM_ZERO)) ||
                   (inf[1] && (n[2].kind == NUM_ZERO || n[3].kind == NUM_ZERO));
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        invalid |= !nan && inf[i] && inf[j] && sign[i] != sign[j];
    }
    if (invalid || signaling) *flags |= FP_NV;
    if (invalid || nan) return fp_nan(to);
    for (int i = 0; i < 3; i++) {
        if (inf[i]) return fp_layouts[to].inf | (sign[i] ? fp_sign_bit(to) : 0);
    }
    return round_sum(to, fp_product(n[0], n[1]), fp_product(n[2], n[3]), fp_widen(n[4]), rm, flags);
}

static uint64_t sums(enum fp_wop op, enum fp_fmt to, enum fp_fmt from, uint64_t rd, uint64_t rs1, uint64_t rs2,
                     bool replicate, enum fp_rm rm, unsigned *flags) {
    bool products = op == FP_WDOTPEX || op == FP_WNDOTPEX;
    bool negate = op == FP_WNSUM || op == FP_WNSUMEX || op == FP_WNDOTPEX;
    uint64_t one = (uint64_t)fp_layouts[from].bias << fp_layouts[from].man;
    if (products && replicate) {
        for (int i = 0; i < 64 / fp_layouts[from].width; i++) rd = fp_put_lane(from, rd, i, fp_lane(from, rs2, 0));
    }
    uint64_t result = ~UINT64_C(0);
    for (int i = 0; i < 32 / fp_layouts[from].width; i++) {
        int even = 2 * i, odd = 2 * i + 1;
        uint64_t v[4] = {fp_lane(from, rs1, even), products ? fp_lane(from, rs2, even) : one,
                         fp_lane(from, rs1, odd), products ? fp_lane(from, rs2, odd) : one};
        result = fp_put_lane(to, result, i, dot(to, from, v, fp_lane(to, rd, i), negate, rm, flags));
    }
    return result;
}

static uint64_t convert(enum fp_wop op, enum fp_fmt to, enum fp_fmt from, uint64_t rs1, enum fp_rm rm,
                        unsigned *flags) {
    int result_width = fp_layouts[to].width, width = fp_layouts[from].width;
    bool widens = result_width > width;
    int first = op == FP_WCVTU && widens ? 32 / width : 0;
    uint64_t result = ~UINT64_C(0);
    for (int i = 0; i < 64 / (widens ? result_width : width); i++) {
        result = fp_put_lane(to, result, i, fp_cvt(to, from, fp_lane(from, rs1, first + i), rm, flags));
    }
    return result;
}

uint64_t fp_vec_wide(enum fp_wop op, enum fp_fmt to, enum fp_fmt from, uint64_t rd, uint64_t rs1, uint64_t rs2,
                     bool replicate, enum fp_rm rm, unsigned *flags) {
    if (op == FP_WCVT || op == FP_WCVTU) return convert(op, to, from, rs1, rm, flags);
    if (op > FP_WCPKD) return sums(op, to, from, rd, rs1, rs2, replicate, rm, flags);
    int at = 2 * (int)(op - FP_WCPKA);
    rd = fp_put_lane(to, rd, at, fp_cvt(to, from, fp_lane(from, rs1, 0), rm, flags));
    return fp_put_lane(to, rd, at + 1, fp_cvt(to, from, fp_lane(from, rs2, 0), rm, flags));
}
