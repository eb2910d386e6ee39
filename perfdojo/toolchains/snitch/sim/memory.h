// Address map, main memory and peripheral registers.
#ifndef PD_MEMORY_H
#define PD_MEMORY_H
#include "model.h"
enum { AT_NONE, AT_TCDM, AT_PERIPH, AT_MAIN, AT_EXIT, AT_ZERO, AT_BOOT };
int where(uint32_t addr);
Page *page_at(Cluster *c, uint32_t addr);           // TCDM or main memory; NULL elsewhere
uint8_t *bytes_at(Cluster *c, uint32_t addr);       // one byte's place in TCDM or main memory
uint64_t load64(Cluster *c, uint32_t addr);         // aligned double word of the map outside the TCDM
// Store outside the TCDM: main memory, peripherals, end of program.
void store_out(Cluster *c, const MemReq *q);
void write_bytes(Cluster *c, uint32_t addr, uint64_t data, uint32_t bytes);  // TCDM or main memory; drops decoded words
uint32_t amo_result(uint32_t kind, uint32_t old, uint32_t operand);
#endif
