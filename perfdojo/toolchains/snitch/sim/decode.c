// Instruction words to decoded form: rv32ima, Zicsr, and the configuration instructions of Xssr, Xfrep and Xdma.
#include "decode.h"
#include <string.h>

static int32_t imm_i(uint32_t w) { return (int32_t)w >> 20; }
static int32_t imm_s(uint32_t w) { return ((int32_t)(w & 0xfe000000) >> 20) | (int32_t)((w >> 7) & 31); }
static int32_t imm_b(uint32_t w) {
  return ((int32_t)(w & 0x80000000) >> 19) | (int32_t)((w & 0x80) << 4) | (int32_t)((w >> 20) & 0x7e0) | (int32_t)((w >> 7) & 0x1e);
}
static int32_t imm_j(uint32_t w) {
  return ((int32_t)(w & 0x80000000) >> 11) | (int32_t)(w & 0xff000) | (int32_t)((w >> 9) & 0x800) | (int32_t)((w >> 20) & 0x7fe);
}

static void alu(Dec *d, uint8_t op, uint8_t uses) { d->op = op, d->uses = (uint8_t)(uses | USE_RD | WRITE_RD); }

static void decode_imm(Dec *d, uint32_t w) {
  static const uint8_t ops[8] = {OP_ADDI, OP_SLLI, OP_SLTI, OP_SLTIU, OP_XORI, OP_SRLI, OP_ORI, OP_ANDI};
  uint32_t f3 = (w >> 12) & 7, f7 = w >> 25;
  d->imm = imm_i(w);
  if (f3 == 1 && f7) return;
  if (f3 == 5) {
    if (f7 && f7 != 0x20) return;
    d->imm &= 31;
    alu(d, f7 ? OP_SRAI : OP_SRLI, USE_RS1);
    return;
  }
  alu(d, ops[f3], USE_RS1);
}

static void decode_reg(Dec *d, uint32_t w, bool divider) {
  static const uint8_t ops[8] = {OP_ADD, OP_SLL, OP_SLT, OP_SLTU, OP_XOR, OP_SRL, OP_OR, OP_AND};
  uint32_t f3 = (w >> 12) & 7, f7 = w >> 25;
  if (f7 & 0x40) { decode_fp(d, w, divider); return; }
  if (f7 == 0) alu(d, ops[f3], USE_RS1 | USE_RS2);
  if (f7 == 0x20 && (f3 == 0 || f3 == 5)) alu(d, f3 ? OP_SRA : OP_SUB, USE_RS1 | USE_RS2);
  if (f7 != 1) return;
  d->op = OP_MULDIV, d->unit = UNIT_MULDIV, d->sub = (uint8_t)f3;
  d->uses = USE_RS1 | USE_RS2 | USE_RD;
}

static void decode_amo(Dec *d, uint32_t w) {
  static const int8_t kinds[32] = {1, 2, 10, 11, 5, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9};
  if (((w >> 12) & 7) != 2 || !kinds[w >> 27]) return;
  if ((w >> 27) == 2 && d->rs2) return;
  d->op = OP_AMO, d->sub = (uint8_t)kinds[w >> 27], d->size = 2;
  d->uses = (uint8_t)(USE_RS1 | (d->sub == 10 ? 0 : USE_RS2) | USE_RD);
}

static void decode_system(Dec *d, uint32_t w) {
  uint32_t f3 = (w >> 12) & 7, csr = w >> 20;
  if (f3 == 0) {
    if (w == 0x00000073) d->op = OP_ECALL;
    if (w == 0x00100073) d->op = OP_EBREAK;
    if (w == 0x30200073) d->op = OP_MRET;
    if (w == 0x10500073) d->op = OP_WFI;
    return;
  }
  if (f3 == 4) return;
  d->op = OP_CSR, d->sub = (uint8_t)f3, d->imm = (int32_t)csr;
  d->uses = (uint8_t)((f3 < 4 ? USE_RS1 : 0) | USE_RD | WRITE_RD);
  if (csr == 0x7c0 && (f3 == 6 || f3 == 7) && d->rd == 0 && d->rs1 == 1) {
    d->op = OP_FCSR, d->unit = UNIT_FP, d->uses = 0, d->flags = FP_DIRECT;
  }
  if (csr == 0x7c3 && (f3 == 2 || f3 == 3) && d->rd == 0) {
    d->op = OP_FCSR, d->unit = UNIT_FP, d->uses = USE_RS1, d->flags = FP_DIRECT;
  }
}

static void decode_custom1(Dec *d, uint32_t w) {  // opcode 0101011: stream configuration and DMA
  uint32_t f3 = (w >> 12) & 7, f7 = w >> 25;
  d->unit = UNIT_SSR;
  if (f3 == 2 && d->rd == 0) d->op = OP_SCFGW, d->imm = imm_i(w) & 0xfff, d->uses = USE_RS1;
  else if (f3 == 2 && d->rd == 1 && f7 == 0) d->op = OP_SCFGW, d->sub = 1, d->uses = USE_RS1 | USE_RS2, d->rd = 0;
  else if (f3 == 1 && d->rs1 == 0) d->op = OP_SCFGRI, d->imm = imm_i(w) & 0xfff, d->uses = USE_RD;
  else if (f3 == 1 && d->rs1 == 1 && f7 == 0) d->op = OP_SCFGR, d->uses = USE_RS2 | USE_RD;
  if (f3 || f7 > 8) return;
  static const uint8_t uses[9] = {3, 3, 1 | USE_RD, 3 | USE_RD, USE_RD, 2 | USE_RD, 3, 1, 3};
  d->op = OP_DMA, d->unit = UNIT_DMA, d->sub = (uint8_t)f7, d->uses = uses[f7], d->imm = d->rs2;
}

static void decode_fmem(Dec *d, uint32_t w, bool store) {
  uint32_t f3 = (w >> 12) & 7;
  if (f3 > 3) return;
  d->op = store ? OP_FSTORE : OP_FLOAD, d->unit = UNIT_FP, d->size = (uint8_t)f3, d->uses = USE_RS1;
  d->imm = store ? imm_s(w) : imm_i(w);
  d->reads = store ? FR_RS2 : 0, d->flags = store ? 0 : FW_RD;
}

void decode_regs(Dec *d) {
  uint32_t r = 0;
  if (d->reads & FR_RS1) r |= 1u << d->rs1;
  if (d->reads & FR_RS2) r |= 1u << d->rs2;
  if (d->reads & FR_RS3) r |= 1u << d->rs3;
  if (d->reads & FR_RD) r |= 1u << d->rd;
  d->fregs = r, d->fbit = d->flags & FW_RD ? 1u << d->rd : 0;
  bool rounds = d->fop < F_SGNJ || (d->fop >= F_TO_W && d->fop <= F_CVT) || (d->flags & FP_VEC);
  if (d->op == OP_FP && !rounds) d->rm = 0;
}

static void decode_word(Dec *d, uint32_t w, bool divider) {
  memset(d, 0, sizeof *d);
  d->word = w, d->op = OP_ILLEGAL;
  d->rd = (w >> 7) & 31, d->rs1 = (w >> 15) & 31, d->rs2 = (w >> 20) & 31, d->rs3 = (uint8_t)(w >> 27);
  uint32_t f3 = (w >> 12) & 7;
  switch (w & 0x7f) {
    case 0x37: alu(d, OP_LUI, 0), d->imm = (int32_t)(w & 0xfffff000); break;
    case 0x17: alu(d, OP_AUIPC, 0), d->imm = (int32_t)(w & 0xfffff000); break;
    case 0x6f: alu(d, OP_JAL, 0), d->imm = imm_j(w); break;
    case 0x67: if (!f3) alu(d, OP_JALR, USE_RS1), d->imm = imm_i(w); break;
    case 0x63: {
      static const uint8_t ops[8] = {OP_BEQ, OP_BNE, 0, 0, OP_BLT, OP_BGE, OP_BLTU, OP_BGEU};
      if (ops[f3]) d->op = ops[f3], d->uses = USE_RS1 | USE_RS2, d->imm = imm_b(w);
      break;
    }
    case 0x03:
      if ((f3 & 3) < 3 && f3 != 6) d->op = OP_LOAD, d->uses = USE_RS1 | USE_RD, d->imm = imm_i(w), d->size = f3 & 3, d->sub = (uint8_t)f3;
      break;
    case 0x23: if (f3 < 3) d->op = OP_STORE, d->uses = USE_RS1 | USE_RS2, d->imm = imm_s(w), d->size = (uint8_t)f3; break;
    case 0x13: decode_imm(d, w); break;
    case 0x33: decode_reg(d, w, divider); break;
    case 0x2f: decode_amo(d, w); break;
    case 0x0f: if (f3 < 2) d->op = f3 ? OP_FENCE_I : OP_FENCE; break;
    case 0x73: decode_system(d, w); break;
    case 0x2b: decode_custom1(d, w); break;
    case 0x0b: if (w & 0x80) d->op = OP_FREP, d->unit = UNIT_FP, d->uses = USE_RS1; break;
    case 0x07: decode_fmem(d, w, false); break;
    case 0x27: decode_fmem(d, w, true); break;
    case 0x43: case 0x47: case 0x4b: case 0x4f: case 0x53: decode_fp(d, w, divider); break;
    default: break;
  }
}

void decode(Dec *d, uint32_t w, bool divider) {
  decode_word(d, w, divider);
  if (d->op >= OP_FP) decode_regs(d);
}
