// Decoded form of an instruction word.
#ifndef PD_DECODE_H
#define PD_DECODE_H
#include <stdbool.h>
#include <stdint.h>

enum {  // op
  OP_NONE, OP_ILLEGAL, OP_LUI, OP_AUIPC, OP_JAL, OP_JALR, OP_BEQ, OP_BNE, OP_BLT, OP_BGE, OP_BLTU, OP_BGEU,
  OP_ADD, OP_SUB, OP_SLL, OP_SLT, OP_SLTU, OP_XOR, OP_SRL, OP_SRA, OP_OR, OP_AND,
  OP_ADDI, OP_SLLI, OP_SLTI, OP_SLTIU, OP_XORI, OP_SRLI, OP_SRAI, OP_ORI, OP_ANDI,
  OP_LOAD, OP_STORE, OP_AMO, OP_FENCE, OP_FENCE_I, OP_ECALL, OP_EBREAK, OP_MRET, OP_WFI, OP_CSR,
  // handed over to another unit from here on
  OP_MULDIV, OP_SCFGW, OP_SCFGR, OP_SCFGRI, OP_DMA, OP_FREP, OP_FCSR, OP_FP, OP_FLOAD, OP_FSTORE
};
enum { UNIT_FP, UNIT_MULDIV, UNIT_DMA, UNIT_SSR };
enum {  // fop; the vector forms follow the order of their funct7
  F_ADD, F_SUB, F_MUL, F_DIV_, F_SQRT, F_MADD, F_MSUB, F_NMSUB, F_NMADD, F_SGNJ, F_SGNJN, F_SGNJX, F_MIN, F_MAX,
  F_LE, F_LT, F_EQ, F_CLASS, F_TO_W, F_TO_WU, F_FROM_W, F_FROM_WU, F_CVT, F_MV_X, F_MV_F,
  F_VADD, F_VSUB, F_VMUL, F_VDIV, F_VMIN, F_VMAX, F_VSQRT, F_VMAC, F_VMRE, F_VSGNJ, F_VSGNJN, F_VSGNJX,
  F_VEQ, F_VNE, F_VLT, F_VGE, F_VLE, F_VGT, F_VCPKA, F_VCPKB, F_VSUM, F_VSUMEX, F_VDOTPEX, F_VNDOTPEX, F_VCVT
};
enum { FMT_S, FMT_D, FMT_H, FMT_B };                 // encoding of the fmt field; the alternatives are chosen by fmode
enum { PIPE_ADDMUL, PIPE_DIVSQRT, PIPE_NONCOMP, PIPE_CONV, PIPE_DOTP };  // operation groups, in arbitration order
enum { USE_RS1 = 1, USE_RS2 = 2, USE_RD = 4, WRITE_RD = 8 };            // integer registers
enum { FR_RS1 = 1, FR_RS2 = 2, FR_RS3 = 4, FR_RD = 8 };                 // FP registers read
enum { FW_RD = 1, FP_DIRECT = 2, FP_REP = 4, FP_VEC = 8 };  // FP register written; path past the buffer; replicate; packed

typedef struct {
  uint32_t word;
  int32_t imm;
  uint8_t op, rd, rs1, rs2, rs3;
  uint8_t uses, unit, size, sub;    // sub: funct3 of loads, CSR and muldiv, AMO kind, DMA funct7; rm: 0 where nothing is rounded
  uint8_t fop, fmt, from, pipe, reads, flags, rm;
  uint32_t fregs, fbit;             // FP registers read and written, as bits
} Dec;
void decode_regs(Dec *d);           // fills fregs and fbit from the register numbers

typedef struct { bool divider; } DecodeOptions;
void decode(Dec *d, uint32_t word, bool divider);
void decode_fp(Dec *d, uint32_t word, bool divider);   // opcodes of FP arithmetic, scalar and packed
#endif
