/* Runs a kernel on a Snitch cluster: calls it, times the calls, looks at what it left, and ends.
 *
 * Made for one kernel by perfdojo-plan.h, which defines
 *   KERNEL        its symbol
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
 * every simulator can read them. Registers that a callee keeps are filled and looked at, so that a kernel that
 * breaks the calling convention is found.
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

    /* sets \bit of t5 unless \register holds KEPT_MARK + \number */
    .macro kept register, number, bit
    li t6, KEPT_MARK + \number
    beq \register, t6, 9f
    li t6, 1 << \bit
    or t5, t5, t6
9:
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
    sw s2, FRAME_REPETITION(s1)
    la t1, perfdojo_offsets
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7
    lw t0, 4*\k(t1)
    add a\k, s4, t0
    .endr
#if ARGUMENTS > 8
    addi sp, sp, -(((ARGUMENTS - 8) * 4 + 15) & ~15)
    addi t1, t1, 32
    li t2, ARGUMENTS - 8
    mv t3, sp
1:  lw t0, 0(t1)
    add t0, t0, s4
    sw t0, 0(t3)
    addi t1, t1, 4
    addi t3, t3, 4
    addi t2, t2, -1
    bnez t2, 1b
#endif
    sw sp, 12(s1)
    la t0, kept_floats
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fld fs\k, 8*\k(t0)
    .endr
    csrr t0, mcycle
    sw t0, FRAME_BEFORE(s1)
    .irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    li s\k, KEPT_MARK + \k
    .endr
    fscsr zero
    la t0, KERNEL
    fmv.x.w t6, fs11
    mv t6, t6
    fence
    barrier
    .balign 64
    barrier
    csrr s0, mcycle
    jalr t0
    fmv.x.w t0, fs0
    mv t0, t0
    csrr t1, mcycle
    barrier
    csrr t2, mcycle
#if !MULTI
    mv t2, t1
#endif

    csrr t3, mhartid
    li t4, CORES
    bltu t3, t4, 1f
    mv t3, t4
1:  la t4, perfdojo_frames
    slli t6, t3, FRAME_SHIFT
    add t4, t4, t6
    li t5, 0
    .irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    kept s\k, \k, \k
    .endr
    lw t6, FRAME_BEFORE(t4)     /* s0 holds when the call began: behind this, and not behind its end */
    sub t6, s0, t6
    bltz t6, 1f
    sub t6, t1, s0
    bgez t6, 2f
1:  ori t5, t5, 1
2:  lw t6, 12(t4)
    beq sp, t6, 1f
    li t6, 1 << BIT_SP
    or t5, t5, t6
1:  frrm t6
    beqz t6, 1f
    li t6, 1 << BIT_ROUNDING
    or t5, t5, t6
    fscsr zero
1:  mv s1, t4
    lw sp, FRAME_SP(s1)
    lw s2, FRAME_REPETITION(s1)
    mv s5, s0
    mv s0, t3
    mv s6, t1
    mv s7, t2
    mv s8, t5
    mv s9, a0
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    fsd fs\k, FRAME_FLOATS+8*\k(s1)
    .endr
    .rept 60                    /* write streams reach memory without anybody waiting for them */
    nop
    .endr
    fence
    la t0, kept_floats
    addi t1, s1, FRAME_FLOATS
    li t2, 12
    li t3, 1 << BIT_FLOATS
1:  lw t4, 0(t0)
    lw t5, 0(t1)
    bne t4, t5, 2f
    lw t4, 4(t0)
    lw t5, 4(t1)
    beq t4, t5, 3f
2:  or s8, s8, t3
3:  slli t3, t3, 1
    addi t0, t0, 8
    addi t1, t1, 8
    addi t2, t2, -1
    bnez t2, 1b

    la s10, perfdojo_results + RESULTS_HARTS
    slli t0, s0, RESULTS_SHIFT
    add s10, s10, t0
    slli t0, s2, 4
    add t0, t0, s10
    sw s5, 0(t0)
    sw s6, 4(t0)
    sw s7, 8(t0)
    sw s9, 12(t0)
    lw t1, RESULTS_KEPT(s10)
    or t1, t1, s8
    sw t1, RESULTS_KEPT(s10)
    li t0, STACK_BYTES
    sub t0, sp, t0
    li t1, STACK_MARK
    lw t2, 0(t0)
    lw t3, 4(t0)
    xor t2, t2, t1
    xor t3, t3, t1
    or t2, t2, t3
    lw t3, RESULTS_STACK(s10)
    or t3, t3, t2
    sw t3, RESULTS_STACK(s10)
    fence
    barrier
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

#if !IN_MAIN
    .balign 64
copy_area:                      /* a0 from, a1 to; every CORES-th block of 64 bytes is this caller's; keeps s0.. */
    li t0, CORES
    bgeu s0, t0, 2f
    li t1, AREA_BYTES
    add t1, a0, t1
    slli t2, s0, 6
    add a0, a0, t2
    add a1, a1, t2
    bgeu a0, t1, 2f
1:  fld ft0, 0(a0)
    fld ft1, 8(a0)
    fld ft2, 16(a0)
    fld ft3, 24(a0)
    fld ft4, 32(a0)
    fld ft5, 40(a0)
    fld ft6, 48(a0)
    fld ft7, 56(a0)
    fsd ft0, 0(a1)
    fsd ft1, 8(a1)
    fsd ft2, 16(a1)
    fsd ft3, 24(a1)
    fsd ft4, 32(a1)
    fsd ft5, 40(a1)
    fsd ft6, 48(a1)
    fsd ft7, 56(a1)
    addi a0, a0, 64 * CORES
    addi a1, a1, 64 * CORES
    bltu a0, t1, 1b
    fmv.x.w t6, ft7
    mv t6, t6
    fence
2:  ret
#endif

    .section .constants, "aw"
    .balign 8
kept_floats:
    .double 1001.5, 1002.5, 1003.5, 1004.5, 1005.5, 1006.5, 1007.5, 1008.5, 1009.5, 1010.5, 1011.5, 1012.5

    .section .plan, "aw"
    .balign 64
    .globl perfdojo_plan
perfdojo_plan:
    .word 2, 1

    .section .htif, "aw"
    .balign 64
    .globl tohost
tohost:
    .dword 0
    .balign 64
    .globl fromhost
fromhost:
    .dword 0

    .section .results, "aw"
    .balign 64
    .globl perfdojo_results
perfdojo_results:
    .word 0x4a444650            /* magic, done, exit code, trapped, mcause, mepc, hart */
    .zero RESULTS_HARTS - 4
    .zero CALLERS << RESULTS_SHIFT

    .section .bss.harness, "aw", @nobits
    .balign 64
perfdojo_finished:
    .zero 64
perfdojo_frames:
    .zero CALLERS << FRAME_SHIFT

    .section .stacks, "aw", @nobits
    .balign 64
    .zero STACK_BYTES * CALLERS

#include "perfdojo-arguments.inc"
