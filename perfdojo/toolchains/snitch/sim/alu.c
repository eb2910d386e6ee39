// Arithmetic of the integer core, and its CSRs.
#include "hart.h"

uint32_t alu(const Dec *d, uint32_t a, uint32_t b) {
  switch (d->op) {
    case OP_ADD: case OP_ADDI: return a + b;
    case OP_SUB: return a - b;
    case OP_SLL: case OP_SLLI: return a << (b & 31);
    case OP_SLT: case OP_SLTI: return (int32_t)a < (int32_t)b;
    case OP_SLTU: case OP_SLTIU: return a < b;
    case OP_XOR: case OP_XORI: return a ^ b;
    case OP_SRL: case OP_SRLI: return a >> (b & 31);
    case OP_SRA: case OP_SRAI: return (uint32_t)((int32_t)a >> (b & 31));
    case OP_OR: case OP_ORI: return a | b;
    default: return a & b;
  }
}

bool branch_taken(uint32_t op, uint32_t a, uint32_t b) {
  switch (op) {
    case OP_BEQ: return a == b;
    case OP_BNE: return a != b;
    case OP_BLT: return (int32_t)a < (int32_t)b;
    case OP_BGE: return (int32_t)a >= (int32_t)b;
    case OP_BLTU: return a < b;
    default: return a >= b;
  }
}

uint32_t csr_read(const Hart *h, uint32_t csr) {
  switch (csr) {
    case 0xb00: case 0xc00: return (uint32_t)h->cl->now;
    case 0xb80: case 0xc80: return (uint32_t)(h->cl->now >> 32);
    case 0xb02: case 0xc02: return (uint32_t)h->instret;
    case 0xb82: case 0xc82: return (uint32_t)(h->instret >> 32);
    case 0xf14: return h->id;
    case 0x301: return 0x40801129;
    case 0x001: return h->fcsr & 31;
    case 0x002: return (h->fcsr >> 5) & 7;
    case 0x003: return h->fcsr & 0xff;
    case 0x800: return h->fmode;
    case 0x300: return h->mstatus;
    case 0x305: return h->mtvec;
    case 0x340: return h->mscratch;
    case 0x341: return h->mepc;
    case 0x342: return h->mcause;
    default: return 0;
  }
}

void csr_write(Hart *h, uint32_t csr, uint32_t v) {
  switch (csr) {
    case 0x001: h->fcsr = (h->fcsr & ~31u) | (v & 31); break;
    case 0x002: h->fcsr = (h->fcsr & 31) | (v & 7) << 5; break;
    case 0x003: h->fcsr = v & 0xff; break;
    case 0x800: h->fmode = v & 3; break;
    case 0x300: h->mstatus = v; break;
    case 0x305: h->mtvec = v & ~3u; break;
    case 0x340: h->mscratch = v; break;
    case 0x341: h->mepc = v & ~1u; break;
    case 0x342: h->mcause = v; break;
    default: break;
  }
}
