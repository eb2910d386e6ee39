/* Runs a kernel on a Snitch cluster: calls it, times the calls, looks at what it left, and ends.
 *
 * Made for one kernel by perfdojo-plan.h, which defines
 *   KERNEL        its symbol
 *   WAITS         1: it returns when its results are in memory; else the harness waits for the FPU
 *   CORES         harts 0 .. CORES-1 call it together
 *   DMA_HART      number of one more hart that calls it, or -1
 *   ARGUMENTS     how many pointers it takes
 *   AREA_BYTES    bytes of all arguments with the guards around them, a multiple of 64
 *   IN_MAIN       1 when the arguments lie in main memory
 *   STACK_BYTES   of each hart
 * and by perfdojo-arguments.inc, which holds the memory. Words of `perfdojo_plan`, which is patched into the
 * finished program: repetitions (at most 4), flags (1 = keep what the first two left, 2 = compare it with
 * what is expected).
 *
 * All harts start at _start. Those that do not call the kernel arrive at every barrier, as the hardware's
 * barrier waits for the whole cluster. The program ends by (code << 1) | 1 in `tohost`; the code is 0, the
 * result of perfdojo_check, or 0x100 + mcause after a trap.
 *
 * Before call number r the arguments hold image r & 1. Image, snapshots and results lie in main memory, where
 * every simulator can read them.
 */
#include "perfdojo-plan.h"

#if DMA_HART >= 0
#define CALLERS (CORES + 1)
#else
#define CALLERS CORES
#endif
#define MULTI (CALLERS > 1)
#define FRAME_SHIFT 8
#define FRAME_SP 0
#define FRAME_REPETITION 4
#define FRAME_BEFORE 8
#define FRAME_CALL_SP 12
#define FRAME_FLOATS 16
#define RESULTS_SHIFT 7
#define RESULTS_HARTS 64
#define RESULTS_KEPT 64
#define RESULTS_STACK 68
#define STACK_MARK 0x5afe57ac
#define KEPT_MARK 0x5a5a5000
#define BIT_SP 12
#define BIT_ROUNDING 13
#define BIT_FLOATS 16

    .macro barrier
#if MULTI
    csrr x0, 0x7c2
#endif
    .endm

    .section .text.start, "ax"
    .globl _start
_start:
    csrr s0, mhartid
    la t0, trapped
    csrw mtvec, t0
    li t0, CORES
    bltu s0, t0, active
    li t0, DMA_HART
    beq s0, t0, active
parked:
    csrr x0, 0x7c2
    la t0, perfdojo_finished
    lw t0, 0(t0)
    beqz t0, parked
asleep:
    wfi
    j asleep

active:
    /* the stack of the n-th caller; the DMA hart is the last one */
    li t1, CORES
    bltu s0, t1, 1f
    mv s0, t1
1:  la sp, perfdojo_stacks_end
    li t0, STACK_BYTES
    mul t0, t0, s0
    sub sp, sp, t0
    li t0, STACK_BYTES
    sub t0, sp, t0
    li t1, STACK_MARK
    sw t1, 0(t0)
    sw t1, 4(t0)
    bnez s0, 5f
    la t0, perfdojo_data_source
    la t1, perfdojo_data
    la t2, perfdojo_data_end
2:  bgeu t1, t2, 3f
    lw t3, 0(t0)
    lw t4, 4(t0)
    sw t3, 0(t1)
    sw t4, 4(t1)
    addi t0, t0, 8
    addi t1, t1, 8
    j 2b
3:  la t1, perfdojo_bss
    la t2, perfdojo_bss_end
4:  bgeu t1, t2, 5f
    sw zero, 0(t1)
    sw zero, 4(t1)
    addi t1, t1, 8
    j 4b
5:  fence
    barrier
    la s1, perfdojo_frames
    slli t0, s0, FRAME_SHIFT
    add s1, s1, t0
    sw sp, FRAME_SP(s1)
    li s2, 0

next_call:                      /* s0 number of this caller, s1 its frame, s2 repetition */
    li s3, AREA_BYTES
    andi t0, s2, 1
    mul t0, t0, s3
    la s4, perfdojo_images
    add s4, s4, t0
#if !IN_MAIN
    mv a0, s4
    la s4, perfdojo_area
    mv a1, s4
    call copy_area
#endif
    fence
    barrier
#include "call.inc"
#if !IN_MAIN
    la t0, perfdojo_plan
    lw t0, 4(t0)
    andi t0, t0, 1
    beqz t0, 1f
    li t0, 2
    bgeu s2, t0, 1f
    la a0, perfdojo_area
    la a1, perfdojo_snapshots
    li t1, AREA_BYTES
    mul t1, t1, s2
    add a1, a1, t1
    call copy_area
1:
#endif
    fence
    barrier
    addi s2, s2, 1
    la t0, perfdojo_plan
    lw t0, 0(t0)
    bltu s2, t0, next_call
    bnez s0, parked

    la t0, perfdojo_plan
    lw t0, 4(t0)
    andi t0, t0, 2
    li a0, 0
    beqz t0, 1f
    call perfdojo_check
1:  la t0, perfdojo_results
    sw a0, 8(t0)
    fence
    li t1, 1
    sw t1, 4(t0)
    fence
    call end
    la t0, perfdojo_finished
    li t1, 1
    sw t1, 0(t0)
    fence
    csrr x0, 0x7c2
    j asleep

end:                            /* a0 exit code */
    la t0, tohost
    slli a0, a0, 1
    ori a0, a0, 1
    sw a0, 0(t0)
    fence
    ret

    .balign 64
trapped:
    la t0, perfdojo_results
    csrr a0, mcause
    sw a0, 16(t0)
    csrr t1, mepc
    sw t1, 20(t0)
    csrr t1, mhartid
    sw t1, 24(t0)
    li t1, 1
    sw t1, 12(t0)
    fence
    sw t1, 4(t0)
    fence
    addi a0, a0, 0x100
    call end
    j asleep

#include "copy.inc"
#include "memory.inc"
#include "perfdojo-arguments.inc"
