// Instruction words of FP arithmetic, scalar and packed, to decoded form.
#include "decode.h"

static void fp(Dec *d, uint8_t fop, uint8_t pipe, uint8_t reads) {
  d->op = OP_FP, d->unit = UNIT_FP, d->fop = fop, d->pipe = pipe, d->reads = reads, d->flags |= FW_RD;
}
static void to_x(Dec *d, uint8_t fop, uint8_t pipe, uint8_t reads, bool direct) {  // result in an x register
  fp(d, fop, pipe, reads);
  d->flags = (uint8_t)((d->flags & ~FW_RD) | (direct ? FP_DIRECT : 0)), d->uses = USE_RD;
}
static void from_x(Dec *d, uint8_t fop, uint8_t pipe, bool direct) {
  fp(d, fop, pipe, 0);
  d->uses = USE_RS1, d->flags |= direct ? FP_DIRECT : 0;
}

// Compares, conversions and moves between the register files: all but those with D (and fmv.x.w, fmv.w.x) pass the buffer by.
static void decode_mixed(Dec *d, uint32_t w) {
  uint32_t kind = w >> 27, f3 = (w >> 12) & 7;
  bool wide = d->fmt == FMT_D;
  switch (kind) {
    case 0x14: {  // flt.d is the only compare that is buffered
      if (f3 > 2) return;
      to_x(d, (uint8_t)(F_LE + f3), PIPE_NONCOMP, FR_RS1 | FR_RS2, !(wide && f3 == 1));
      return;
    }
    case 0x18: if (d->rs2 < 2) to_x(d, (uint8_t)(F_TO_W + d->rs2), PIPE_CONV, FR_RS1, !wide); return;
    case 0x1a: if (d->rs2 < 2) from_x(d, (uint8_t)(F_FROM_W + d->rs2), PIPE_CONV, !wide); return;
    case 0x1c:
      if (d->rs2) return;
      if (f3 == 1) to_x(d, F_CLASS, PIPE_NONCOMP, FR_RS1, true);
      if (f3 == 0 && !wide) to_x(d, F_MV_X, PIPE_NONCOMP, FR_RS1, d->fmt != FMT_S);
      return;
    case 0x1e: if (!d->rs2 && !f3 && !wide) from_x(d, F_MV_F, PIPE_NONCOMP, d->fmt != FMT_S); return;
    default: return;
  }
}

static void decode_scalar(Dec *d, uint32_t w, bool divider) {
  uint32_t kind = w >> 27, f3 = (w >> 12) & 7;
  switch (kind) {
    case 0: case 1: case 2: fp(d, (uint8_t)(F_ADD + kind), PIPE_ADDMUL, FR_RS1 | FR_RS2); return;
    case 3: if (divider) fp(d, F_DIV_, PIPE_DIVSQRT, FR_RS1 | FR_RS2); return;
    case 0xb: if (divider && !d->rs2) fp(d, F_SQRT, PIPE_DIVSQRT, FR_RS1); return;
    case 4: if (f3 < 3) fp(d, (uint8_t)(F_SGNJ + f3), PIPE_NONCOMP, FR_RS1 | FR_RS2); return;
    case 5: if (f3 < 2) fp(d, (uint8_t)(F_MIN + f3), PIPE_NONCOMP, FR_RS1 | FR_RS2); return;
    case 8: if (d->rs2 < 4) fp(d, F_CVT, PIPE_CONV, FR_RS1), d->from = d->rs2; return;
    default: decode_mixed(d, w); return;
  }
}

static uint8_t vec_fmt(uint32_t f3) { static const uint8_t of[4] = {FMT_S, 0xff, FMT_H, FMT_B}; return of[f3 & 3]; }

// funct7 0x4C and 0x47 carry the source format in rs2: 4 = S, 6 = H, 7 = B.
static uint8_t src_fmt(uint32_t code) { return code == 4 ? FMT_S : code == 6 ? FMT_H : code == 7 ? FMT_B : 0xff; }

static void decode_vec(Dec *d, uint32_t w, bool divider) {
  uint32_t f7 = w >> 25, f3 = (w >> 12) & 7;
  uint8_t both = FR_RS1 | FR_RS2;
  d->fmt = vec_fmt(f3), d->flags = FP_VEC | (f3 & 4 ? FP_REP : 0), d->rm = 7;
  if (d->fmt == 0xff) return;
  static const uint8_t simple[] = {[1] = F_VADD, F_VSUB, F_VMUL, F_VDIV, F_VMIN, F_VMAX, F_VSQRT, F_VMAC, F_VMRE};
  static const uint8_t later[] = {F_VSGNJ, F_VSGNJN, F_VSGNJX, F_VEQ, F_VNE, F_VLT, F_VGE, F_VLE, F_VGT};
  if (f7 == 0x47) {
    if (d->rs2 == 0x1c && f3 == 0) fp(d, F_VSUM, PIPE_DOTP, FR_RS1 | FR_RD);
    if (d->rs2 == 0x1e && f3 == 2) fp(d, F_VSUM, PIPE_DOTP, FR_RS1 | FR_RD);
    if (d->rs2 == 0x1f && f3 == 3) fp(d, F_VSUM, PIPE_DOTP, FR_RS1 | FR_RD);
    if (d->rs2 == 0x16 && f3 == 0) fp(d, F_VSUMEX, PIPE_DOTP, FR_RS1 | FR_RD), d->from = FMT_H;
    if (d->rs2 == 0x17 && f3 == 2) fp(d, F_VSUMEX, PIPE_DOTP, FR_RS1 | FR_RD), d->from = FMT_B;
    if (d->rs2 == 0 && divider) fp(d, F_VSQRT, PIPE_DIVSQRT, FR_RS1);
    return;
  }
  if (f7 >= 0x41 && f7 <= 0x49) {
    uint8_t fop = simple[f7 - 0x40];
    if (fop == F_VDIV) { if (divider) fp(d, fop, PIPE_DIVSQRT, both); return; }
    bool order = fop == F_VMIN || fop == F_VMAX;
    fp(d, fop, order ? PIPE_NONCOMP : PIPE_ADDMUL, (uint8_t)(both | (f7 >= 0x48 ? FR_RD : 0)));
    return;
  }
  if (f7 >= 0x4d && f7 <= 0x4f) fp(d, later[f7 - 0x4d], PIPE_NONCOMP, both);
  if (f7 >= 0x50 && f7 <= 0x55) to_x(d, later[f7 - 0x4d], PIPE_NONCOMP, both, true);
  if (f7 == 0x4b && (f3 == 0 || f3 == 2)) fp(d, F_VDOTPEX, PIPE_DOTP, both | FR_RD), d->from = f3 ? FMT_B : FMT_H;
  if (f7 == 0x5d && (f3 == 0 || f3 == 2)) fp(d, F_VNDOTPEX, PIPE_DOTP, both | FR_RD), d->from = f3 ? FMT_B : FMT_H;
  if (f7 == 0x58) {  // f3 0 and 2 write the lower lanes, 4 and 6 the upper ones; the first writes a whole register of .s
    if (f3 != 0 && f3 != 2 && f3 != 6) return;
    fp(d, f3 & 4 ? F_VCPKB : F_VCPKA, PIPE_CONV, (uint8_t)(both | (f3 ? FR_RD : 0)));
    d->flags &= (uint8_t)~FP_REP, d->from = FMT_S;
  }
  if (f7 == 0x4c) {
    uint8_t from = src_fmt(d->rs2);
    if (from == 0xff || (f3 & 4)) return;
    fp(d, F_VCVT, PIPE_CONV, FR_RS1), d->from = from;
  }
}

void decode_fp(Dec *d, uint32_t w, bool divider) {
  uint32_t opcode = w & 0x7f;
  if (opcode == 0x33) { decode_vec(d, w, divider); return; }
  d->fmt = (w >> 25) & 3, d->rm = (w >> 12) & 7;
  if (opcode == 0x53) decode_scalar(d, w, divider);
  else fp(d, (uint8_t)(F_MADD + (opcode - 0x43) / 4), PIPE_ADDMUL, FR_RS1 | FR_RS2 | FR_RS3);
}
