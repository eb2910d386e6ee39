/* What a fatal signal means: which argument the address belongs to, or the stack. */

static unsigned char fault_stack[1 << 16];

/* 1 a write, 0 a read, -1 unknown. */
static int fault_writes(void *context)
{
#if defined(__x86_64__) && defined(REG_ERR)
    return (int)(((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1); /* bit 1 of the page fault code */
#else
    (void)context;
    return -1;
#endif
}

static void describe_fault(int number, siginfo_t *info, void *context)
{
    char text[NAME_BYTES + 128];
    const char *at = info->si_addr, *how[] = {"touched", "read", "written"};
    int writes = fault_writes(context);
    for (int i = 0; (number == SIGSEGV || number == SIGBUS) && i < plan.count; i++) {
        struct buffer *b = &plan.buffers[i];
        const char *data = (const char *)b->data, *region = (const char *)b->region;
        if (!region || at < region || at >= region + b->region_bytes) continue;
        if (at >= data && at < data + b->bytes)
            snprintf(text, sizeof text, "%s is an input, but its byte %td was %s", b->name, at - data, how[writes + 1]);
        else
            snprintf(text, sizeof text, "%s has %zu bytes, but its byte %td was %s", b->name, b->bytes, at - data,
                     how[writes + 1]);
        finish("fault.json", writes ? "memory-overwrite" : "crash", text);
        return;
    }
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    size_t stack = limit.rlim_cur == RLIM_INFINITY ? (size_t)1 << 30 : (size_t)limit.rlim_cur;
    size_t below = at < stack_top ? (size_t)(stack_top - at) : 0;
    if (number == SIGSEGV && info->si_code != SI_KERNEL && below + (64 << 10) > stack && below >> 32 == 0)
        snprintf(text, sizeof text, "the stack is full (its limit is %zu bytes)", stack);
    else if (number == SIGSEGV && info->si_code == SI_KERNEL)
        snprintf(text, sizeof text, "an address was not aligned as its instruction demands, or far out of range");
    else if (number == SIGILL) snprintf(text, sizeof text, "an instruction that this CPU does not have");
    else if (number == SIGSEGV || number == SIGBUS)
        snprintf(text, sizeof text, "address %p, outside of all arguments, was %s", (const void *)at, how[writes + 1]);
    else if (number == SIGFPE) snprintf(text, sizeof text, "an integer division by zero or an overflow of one");
    else snprintf(text, sizeof text, "it gave up (a check of the C library found its memory damaged)");
    finish("fault.json", "crash", text);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    describe_fault(number, info, context);
    raise(number); /* SA_RESETHAND: now it ends the process */
}

static void watch_faults(void)
{
    stack_t stack = {.ss_sp = fault_stack, .ss_size = sizeof fault_stack};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
}
