// State of the simulated cluster: plain structures, one step a clock cycle.
#ifndef PD_MODEL_H
#define PD_MODEL_H
#include <stdbool.h>
#include <stdint.h>
#include "decode.h"

enum {
  MAX_CORES = 8,          // compute cores
  MAX_HARTS = 9,          // and the DMA hart
  TCDM_BASE = 0x10000000, TCDM_BYTES = 128 * 1024, BANKS = 32,
  RING = 32,              // sequencer ring buffer, instructions
  MOVERS = 3, FIFO = 4, STREAM_REGS = 7,  // stream movers of a core, elements buffered in each; their registers as bits
  INT_LOADS = 4, INT_MEM = 4, FP_LOADS = 4, FP_MEM = 4, MEM_PATH = 4,  // outstanding accesses
  CAQ = 8,                // FP loads and stores handed over and not yet answered
  PAGE_BITS = 16, PAGE_WORDS = 1 << (PAGE_BITS - 2),
};

// Why the integer core or the FP subsystem did not issue in a cycle.
enum {
  ST_NONE, ST_LOAD, ST_FP, ST_MULDIV, ST_SSR, ST_DMA, ST_PORT, ST_OFFLOAD, ST_LSU, ST_FENCE, ST_ICACHE, ST_BARRIER,
  FS_RAW, FS_WAW, FS_EMPTY, FS_FULL, FS_LSU, FS_FPU, FS_IDLE, FS_FREP, STALLS
};

enum { AMO_NONE, AMO_ADD, AMO_SWAP, AMO_AND, AMO_OR, AMO_XOR, AMO_MIN, AMO_MAX, AMO_MINU, AMO_MAXU, AMO_LR, AMO_SC };

// What is counted for one instruction address (flag 2).
typedef struct { uint64_t count, cycles, fpu, stalls[STALLS]; } PcStat;

typedef struct {          // 64 KiB of memory that holds code or data
  uint8_t *bytes;
  Dec *dec;               // decoded words; op 0 = not yet decoded
  uint32_t *target;       // line to prefetch at a word, plus one; 0 = not yet known
  PcStat *stat;
} Page;

typedef struct {          // round-robin arbiter: priority, and the request set that is held while nobody grants
  uint32_t held;
  uint8_t rr, lock;
} Arb;

typedef struct {          // load or store on its way to memory
  uint32_t addr, pc;
  uint64_t data;
  uint8_t size, write, amo, fp, rd, sign, rep, hart;
} MemReq;

typedef struct {          // answer to a MemReq, in order
  uint64_t when, data;
  uint8_t fp, write, rd, rep;
} MemRsp;

typedef struct {          // instruction handed over by the integer core
  const Dec *dec;
  uint32_t pc, a, b, addr;
} Offload;

typedef struct { const Dec *dec; uint32_t pc, a, addr; } RingEntry;

typedef struct {          // one loop of the sequencer
  uint16_t max_iter, iter;
  uint8_t max_inst, inst, smax, smask, base;
} Loop;

typedef struct {
  Loop loop[2];
  uint8_t base, rd, count;          // first entry held, entry to issue next (both modulo 32), entries held
  uint8_t loops, idx, active, all_in, stagger;
  uint8_t pure, pipe;     // body known to be arithmetic of one pipeline: 0 not looked at, 1 yes, 2 no
  RingEntry ring[RING];
} Seq;

typedef struct {          // configuration of a mover (running or shadow)
  uint32_t ptr, bound[4], stride[4], rep, idx_base;
  uint8_t write, dims, indirect, done, idx_size, idx_shift, idx_merge;
} MoverCfg;

typedef struct {
  MoverCfg q, s;          // running job, shadow
  uint32_t index[4];
  struct { uint32_t ptr; uint8_t last; } out[2];  // addresses generated
  uint8_t out_n, last_sent;
  uint8_t was_done, config_ok;      // as the cycle began: no job runs; no job is queued
  uint64_t fifo[FIFO], rsp_data;
  uint8_t head, n, credits, rsp, rep, was_write, steady;
  uint64_t idx_word[4], idx_data;   // index words fetched
  uint8_t idx_head, idx_n, idx_credits, idx_byte, idx_rsp, asks;
  uint32_t idx_todo, idx_words;     // indices to use, words to fetch
  Arb port;               // data against index fetches
  uint64_t job_elems;     // elements of the last job
} Mover;

typedef struct { uint64_t ready, result; uint32_t pc, bit; uint8_t rd, acc, ssr; } FpuOp;  // bit: of rd, 0 when it goes to the core
typedef struct { FpuOp op[4]; uint8_t head, n, depth; } FpuPipe;  // results in order

typedef struct {
  Seq seq;
  uint64_t f[32];
  uint32_t sb;            // FP registers with a result under way
  uint8_t ssr, out_taken, repeats;  // registers that are streams, as bits; pipeline that delivered in this cycle, plus one; frep pass beyond the first
  uint32_t chain, chain_full;       // scalar chaining: registers, those with a value not yet read
  FpuPipe pipe[5];
  uint8_t pipes;          // bit set: pipeline not empty
  Arb out;
  uint64_t div_busy;
  MemReq req[2];          // spill register towards memory
  uint8_t loads, mem, loads_n0, mem_n0;
  uint64_t arch[MOVERS];  // ft0..ft2 while streams are on; f then holds the elements read last
  Mover mover[MOVERS];
  uint8_t busy_movers;    // bit set: mover has something to do
  uint8_t config_waits;   // lean: mover for which a configuration waits, plus one
  uint8_t write_lanes;    // bit set: the mover's buffer is in write direction
  uint8_t lane_ok;        // bit set: the mover could deliver or take an element when the cycle began
  uint8_t stream_full, starved;
  uint8_t lean;           // a loop of pure arithmetic runs and nothing that is handed over can be taken: see lean.h
  uint64_t starved_since;
  Dec altered[64];        // instructions with staggered registers, by their word
} Fpss;

typedef struct {          // instruction lines of one hart
  uint32_t tag[8], pre_line, new_line, calm_line, calm_target, calm_pc;  // calm: the line is held, so is the predicted one
  uint8_t valid, next, hit, pending, pending_way, was_miss, was_latch, pre_valid;
} L0;

// Look again; change of a queue; a result for a register; room in the register stage of the hand-over.
enum { NEED_LOOK, NEED_CHANGE, NEED_RESULT, NEED_ROOM };
typedef struct { uint8_t req, fpreq, rq, lrsp, acc, rsp, caq, caq_head; } Counts;  // entries in the queues of a hart

enum { FROM_FPU, FROM_MULDIV, FROM_DMA, FROM_SSR = 4 };  // who answers the integer core, in arbitration order

struct Cluster;
typedef struct {
  Counts n, n0;           // now, and as the cycle began
  struct Cluster *cl;
  uint32_t id, pc;
  uint32_t x[32];
  uint32_t sb, sb_cause[32];        // registers with a result under way and who brings it
  uint32_t page_tag;
  Page *page;
  uint8_t wait_barrier, parked, dma;
  uint8_t stall, needs;   // cause of the stall in the last cycle; what ends it: NEED_*
  uint8_t fp_stall;       // the same of the FP subsystem while the hart dozes
  uint64_t resume, doze_until;
  uint32_t fcsr, fmode, mtvec, mepc, mcause, mscratch, mstatus;
  Offload acc[2];         // register stage of the hand-over
  struct { uint32_t data; uint8_t rd; uint64_t when; } rsp[2];   // results for x registers
  Arb rsp_arb, mem_arb, port_arb;
  uint8_t answers, ssr_rd, dma_rd, md_rd;  // answers of other units that wait to be given: bits FROM_*
  uint32_t ssr_data, dma_data, md_data;
  MemReq req[2];          // integer accesses on their way
  uint8_t loads, mem;
  MemRsp lrsp[2];         // integer answers
  MemRsp rq[MEM_PATH];    // accesses made, answers in order
  uint8_t rq_head;
  struct { uint32_t word; uint8_t write; } caq[CAQ];
  Fpss fp;
  L0 l0;
  uint64_t instret, fpu_issues, seq_issues, offloads, loads_done, stalls[STALLS], asleep_since;
} Hart;

typedef struct {          // TCDM: bytes, an arbiter a bank, atomics in progress
  uint8_t *bytes;
  Arb bank[BANKS];
  uint8_t amo_state[BANKS];
  struct { uint32_t addr; uint8_t hart, valid; } lr[BANKS];
  uint32_t want[BANKS], touched, clash;  // ports that ask for each bank in this cycle; banks asked at all, by more than one
  uint32_t locked;        // banks whose arbiter holds a request
  uint32_t amo_busy;      // banks with an atomic in progress
  uint32_t asks;          // requests of this cycle
  uint32_t dma_banks;     // banks that the DMA takes in this cycle
  uint64_t accesses, conflicts;
} Tcdm;

typedef struct {          // shared multiplier and divider
  Arb in;
  uint8_t waiting, offered, mul_valid, mul_hart, mul_rd, div_state, div_hart, div_rd, div_zero;
  uint32_t mul_res, div_res, div_cnt;
  Arb out;
} MulDiv;

enum { DMA_QUEUE = 16 };
typedef struct { uint64_t when; uint32_t src, dst, size, sstr, dstr, reps, id; } DmaJob;
typedef struct {
  DmaJob set, queue[DMA_QUEUE];      // settings of the next transfer; the running one and those that wait
  uint8_t head, n, fin_n;
  uint32_t next_id, done_id, row, off;
  struct { uint64_t when; uint32_t id; } fin[8];  // all beats made, not yet reported
  uint64_t last_beat, last_lead;    // of the transfer before
  uint64_t row_start, hold;         // first beat of the running transfer; its next row does not begin before
  uint64_t bytes_moved, busy_cycles;
} Dma;

typedef struct { uint64_t busy[2]; Arb arb; uint32_t want, dozing; } Soc;  // harts that ask in this cycle; those that doze and ask

typedef struct {          // instruction lines of the cluster; a lookup takes one cycle
  uint32_t tag[2][128], look_line, look_ids;
  uint8_t valid[2][128], look_valid, wrote, refills, evict;
  struct { uint64_t when; uint32_t line, ids; } refill[2];
  uint64_t init_until;
  Arb in;
} L1;

typedef struct Cluster {
  uint64_t now, max_cycles;
  uint32_t cores, harts, flags, tohost;
  Hart hart[MAX_HARTS];
  Tcdm tcdm;
  MulDiv md;
  Dma dma;
  Soc soc;
  L1 l1;
  Page **pages;           // of main memory
  uint32_t barrier_n;
  uint32_t look;          // harts whose instruction fetch is not known to hit
  uint32_t awake;         // harts that are stepped; the others wait for the barrier or loop in place, with nothing under way, or doze
  uint32_t dozing;        // see doze.h
  uint64_t doze_until;    // the first answer that comes to one that dozes
  uint64_t perf_zero[16], perf_sel[16];
  uint32_t scratch[4];
  bool stop, failed, tcdm_code;     // tcdm_code: instructions were fetched from the TCDM
  uint32_t exit_code, err_hart, err_pc, err_word, trap_pc, trap_word, trap_cause;
  uint64_t err_cycle;
  char reason[256], trap_reason[160];
  void *events;           // FILE of the event log
} Cluster;

enum { F_DIV = 1, F_STATS = 2, F_EVENTS = 4, F_DMA = 8, F_HARDWARE = 16 };  // HARDWARE: go on where the hardware does the wrong thing

// Records the first error and stops the run.
void fail(Cluster *c, const Hart *h, uint32_t pc, uint32_t word, const char *format, ...);

static inline uint32_t arb_next(uint32_t req, uint32_t rr) {  // next requester above rr, else the lowest
  uint32_t up = rr >= 31 ? 0 : req & ~((2u << rr) - 1);
  return (uint32_t)__builtin_ctz(up ? up : req);
}
// Index that a binary tree of 32 leaves selects: right where only right asks, or both ask and the priority bit says so.
static inline uint32_t arb_pick(uint32_t req, uint32_t rr) {
  static const uint32_t right[5] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000};
  for (int level = 4; level >= 0; level--) {
    uint32_t r = req & right[level], l = req ^ r;
    req = !l || (r && (rr >> level & 1)) ? r : l;
  }
  return (uint32_t)__builtin_ctz(req);
}
static inline uint32_t arb_try(const Arb *a, uint32_t req) {
  if (a->lock) req = a->held;
  return req & (req - 1) ? arb_pick(req, a->rr) : (uint32_t)__builtin_ctz(req);
}
static inline void arb_done(Arb *a, uint32_t req, bool granted) {
  if (a->lock) req = a->held;
  if (granted) a->rr = (uint8_t)arb_next(req, a->rr), a->lock = 0;
  else a->held = req, a->lock = 1;
}
#endif
