/* Threads of a block as fibers: each has a stack, and runs until it stops of its own accord. */
#include <sys/mman.h>
#if !defined(__x86_64__) || defined(PERFDOJO_UCONTEXT)
#include <ucontext.h>
#define WITH_UCONTEXT 1
#endif

namespace
{
enum { STACK_BYTES = 256 << 10, MOST_THREADS = 1024 };

struct Fiber {
#ifdef WITH_UCONTEXT
    ucontext_t context;
#else
    void *sp;
#endif
};

char *stacks; /* that of fiber k starts at k * STACK_BYTES; its first page is a guard */
Fiber scheduler_fiber, fibers[MOST_THREADS];

void make_stacks()
{
    stacks = (char *)mmap(nullptr, (size_t)STACK_BYTES * MOST_THREADS, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) stop_at("out-of-memory", "no memory for the stacks of the threads", 0, 0);
    for (int k = 0; k < MOST_THREADS; k++) mprotect(stacks + (size_t)k * STACK_BYTES, 4096, PROT_NONE);
}

#ifdef WITH_UCONTEXT
void start_fiber(unsigned k, void (*body)())
{
    getcontext(&fibers[k].context);
    fibers[k].context.uc_stack.ss_sp = stacks + (size_t)k * STACK_BYTES;
    fibers[k].context.uc_stack.ss_size = STACK_BYTES;
    fibers[k].context.uc_link = nullptr;
    makecontext(&fibers[k].context, body, 0);
}

void switch_fiber(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }
#else
/* Saves what a function must leave as it was (System V ABI for x86-64), changes the stack, restores. */
extern "C" void perfdojo_switch(void **from, void *to);
asm(".text\n.globl perfdojo_switch\n.type perfdojo_switch, @function\nperfdojo_switch:\n"
    "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
    "    movq %rsp, (%rdi)\n    movq %rsi, %rsp\n"
    "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n    ret\n"
    ".size perfdojo_switch, . - perfdojo_switch\n");

void start_fiber(unsigned k, void (*body)())
{
    void **top = (void **)(stacks + (size_t)(k + 1) * STACK_BYTES);
    *--top = nullptr; /* where the body would return to; it never does */
    *--top = (void *)body;
    for (int r = 0; r < 6; r++) *--top = nullptr;
    fibers[k].sp = top;
}

void switch_fiber(Fiber &from, Fiber &to) { perfdojo_switch(&from.sp, to.sp); }
#endif

/* SplitMix64: the order of blocks and threads follows from the seed alone. */
uint64_t random_state;

uint64_t draw()
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

unsigned draw_below(unsigned n) { return (unsigned)((draw() >> 32) * n >> 32); }
} // namespace
