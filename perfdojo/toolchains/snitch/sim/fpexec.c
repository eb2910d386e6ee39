// Values of FP instructions: picks formats and operands, leaves the arithmetic to fp.c.
#include "fpexec.h"
#include "fp.h"

enum { ALT_SRC = 1, ALT_DST = 2 };  // bits of the fmode CSR

static enum fp_fmt format(uint8_t f, bool alt) {
  static const uint8_t plain[4] = {FP_S, FP_D, FP_H, FP_B}, other[4] = {FP_S, FP_D, FP_AH, FP_AB};
  return (enum fp_fmt)(alt ? other[f] : plain[f]);
}

static uint64_t vec_exec(const Dec *d, const uint64_t v[4], uint32_t rm, uint32_t fmode, unsigned *flags) {
  static const uint8_t ops[] = {FP_VADD, FP_VSUB, FP_VMUL, FP_VDIV, FP_VMIN, FP_VMAX, FP_VSQRT, FP_VMAC, FP_VMRE,
                                FP_VSGNJ, FP_VSGNJN, FP_VSGNJX, FP_VEQ, FP_VNE, FP_VLT, FP_VGE, FP_VLE, FP_VGT};
  static const uint8_t wide[] = {FP_WCPKA, FP_WCPKB, FP_WSUM, FP_WSUMEX, FP_WDOTPEX, FP_WNDOTPEX, FP_WCVT};
  bool replicate = d->flags & FP_REP;
  enum fp_fmt to = format(d->fmt, fmode & ALT_DST);
  if (d->fop < F_VCPKA) {
    if (d->fop >= F_VEQ && d->fop <= F_VGT) to = format(d->fmt, fmode & ALT_SRC);
    return fp_vec((enum fp_vop)ops[d->fop - F_VADD], to, v[3], v[0], v[1], replicate, (enum fp_rm)rm, flags);
  }
  enum fp_fmt from = d->fop == F_VSUM ? to : format(d->from, fmode & ALT_SRC);
  return fp_vec_wide((enum fp_wop)wide[d->fop - F_VCPKA], to, from, v[3], v[0], v[1], replicate, (enum fp_rm)rm, flags);
}

// Results in an x register.
static uint64_t to_integer(const Dec *d, const uint64_t v[4], enum fp_rm rm, uint32_t fmode, unsigned *flags) {
  enum fp_fmt f = format(d->fmt, fmode & ALT_SRC);
  uint64_t a = fp_unbox(f, v[0]), b = fp_unbox(f, v[1]);
  switch (d->fop) {
    case F_LE: return fp_le(f, a, b, flags);
    case F_LT: return fp_lt(f, a, b, flags);
    case F_EQ: return fp_eq(f, a, b, flags);
    case F_CLASS: return fp_class(f, a);
    case F_TO_W: return (uint32_t)fp_to_i32(f, a, rm, flags);
    case F_TO_WU: return fp_to_u32(f, a, rm, flags);
    default: {  // fmv.x: the raw low bits, sign-extended
      int shift = 64 - fp_width(f);
      return (uint32_t)((int64_t)(v[0] << shift) >> shift);
    }
  }
}

uint64_t fp_exec(const Dec *d, const uint64_t v[4], uint32_t x, uint32_t rounding, uint32_t fmode, unsigned *flags) {
  if (d->fmt == FMT_D && d->fop <= F_NMADD) {  // the common case, where nothing is boxed
    switch (d->fop) {
      case F_ADD: return fp_add(FP_D, v[0], v[1], (enum fp_rm)rounding, flags);
      case F_SUB: return fp_sub(FP_D, v[0], v[1], (enum fp_rm)rounding, flags);
      case F_MUL: return fp_mul(FP_D, v[0], v[1], (enum fp_rm)rounding, flags);
      case F_MADD: return fp_fma(FP_D, v[0], v[1], v[2], (enum fp_rm)rounding, false, false, flags);
      default: break;
    }
  }
  if (d->flags & FP_VEC) return vec_exec(d, v, rounding, fmode, flags);
  enum fp_rm rm = (enum fp_rm)rounding;
  if ((d->fop >= F_LE && d->fop <= F_TO_WU) || d->fop == F_MV_X) return to_integer(d, v, rm, fmode, flags);
  enum fp_fmt f = format(d->fmt, fmode & ALT_DST);
  if (d->fop == F_FROM_W) return fp_box(f, fp_from_i32(f, (int32_t)x, rm, flags));
  if (d->fop == F_FROM_WU) return fp_box(f, fp_from_u32(f, x, rm, flags));
  if (d->fop == F_MV_F) return fp_box(f, x & (~UINT64_C(0) >> (64 - fp_width(f))));
  if (d->fop == F_CVT) {
    enum fp_fmt from = format(d->from, fmode & ALT_SRC);
    return fp_box(f, fp_cvt(f, from, fp_unbox(from, v[0]), rm, flags));
  }
  uint64_t a = fp_unbox(f, v[0]), b = fp_unbox(f, v[1]), c;
  switch (d->fop) {
    case F_ADD: c = fp_add(f, a, b, rm, flags); break;
    case F_SUB: c = fp_sub(f, a, b, rm, flags); break;
    case F_MUL: c = fp_mul(f, a, b, rm, flags); break;
    case F_DIV_: c = fp_div(f, a, b, rm, flags); break;
    case F_SQRT: c = fp_sqrt(f, a, rm, flags); break;
    case F_SGNJ: c = fp_sgnj(f, a, b); break;
    case F_SGNJN: c = fp_sgnjn(f, a, b); break;
    case F_SGNJX: c = fp_sgnjx(f, a, b); break;
    case F_MIN: c = fp_min(f, a, b, flags); break;
    case F_MAX: c = fp_max(f, a, b, flags); break;
    default: {  // madd, msub, nmsub, nmadd
      bool np = d->fop == F_NMSUB || d->fop == F_NMADD, na = d->fop == F_MSUB || d->fop == F_NMADD;
      c = fp_fma(f, a, b, fp_unbox(f, v[2]), rm, np, na, flags);
    }
  }
  return fp_box(f, c);
}
