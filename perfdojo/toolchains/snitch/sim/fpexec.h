// Values of FP instructions.
#ifndef PD_FPEXEC_H
#define PD_FPEXEC_H
#include "decode.h"
// v: registers rs1, rs2, rs3, rd; x: integer operand; frm and fmode: CSRs; flags are or-ed into *flags.
// FP results come NaN-boxed, integer results in the low 32 bits. rm must be 0..4.
uint64_t fp_exec(const Dec *d, const uint64_t v[4], uint32_t x, uint32_t rm, uint32_t fmode, unsigned *flags);
#endif
