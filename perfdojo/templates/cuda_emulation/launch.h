/* Kernel launches: what the device refuses, and calling a function of which only the kinds of parameters are known. */
namespace
{
void *kernel_address;
long long integers[6];
double floats[8];
long long spilled[64];

/* Parameters as the System V ABI for x86-64 and that for AArch64 place them: integers and floats in registers, in
 * order each for itself, then all others on the stack. AArch64 has two more integer registers. */
#if defined(__aarch64__)
enum { INTEGER_REGISTERS = 8 };
long long more_integers[2];
#define MORE_TYPES , long long, long long
#define MORE_VALUES , more_integers[0], more_integers[1]
#else
enum { INTEGER_REGISTERS = 6 };
#define MORE_TYPES
#define MORE_VALUES
#endif
#define EIGHT(a) a, a, a, a, a, a, a, a
#define EIGHT_OF(a, k) a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5], a[k + 6], a[k + 7]

typedef void (*General)(long long, long long, long long, long long, long long, long long MORE_TYPES, double, double,
                        double, double, double, double, double, double, EIGHT(long long), EIGHT(long long),
                        EIGHT(long long), EIGHT(long long), EIGHT(long long), EIGHT(long long), EIGHT(long long),
                        EIGHT(long long));

void thread_main()
{
    ((General)kernel_address)(integers[0], integers[1], integers[2], integers[3], integers[4], integers[5] MORE_VALUES,
                              EIGHT_OF(floats, 0), EIGHT_OF(spilled, 0), EIGHT_OF(spilled, 8), EIGHT_OF(spilled, 16),
                              EIGHT_OF(spilled, 24), EIGHT_OF(spilled, 32), EIGHT_OF(spilled, 40),
                              EIGHT_OF(spilled, 48), EIGHT_OF(spilled, 56));
    if (!pending[me].copies.empty()) drop_copies(me);
    ended++;
    yield_thread(ENDED);
}

long long integer_value(char kind, const void *p)
{
    switch (kind) {
    case 'p': return *(const long long *)p;
    case 'i': return *(const int32_t *)p;
    case 'I': return *(const uint32_t *)p;
    case 's': return *(const int16_t *)p;
    case 'S': return *(const uint16_t *)p;
    case 'b': return *(const int8_t *)p;
    default: return *(const uint8_t *)p;
    }
}

void place_parameters(const Kernel &k, void **args)
{
    int used_integers = 0, used_floats = 0, used_stack = 0;
    for (size_t n = 0; n < k.signature.size(); n++) {
        char kind = k.signature[n];
        if (kind == '?')
            fail("not-runnable", say("parameter %zu of kernel %s has a type that the emulation does not pass", n + 1,
                                     k.name.c_str()));
        if (used_stack == 64) fail("not-runnable", "the emulation passes 64 parameters on the stack at most");
        if (kind == 'f' || kind == 'd') {
            long long bits = 0;
            memcpy(&bits, args[n], kind == 'f' ? 4 : 8);
            if (used_floats < 8) memcpy(&floats[used_floats++], &bits, 8);
            else spilled[used_stack++] = bits;
            continue;
        }
        long long value = integer_value(kind, args[n]);
        if (used_integers < 6) integers[used_integers++] = value;
#if defined(__aarch64__)
        else if (used_integers < 8) more_integers[used_integers++ - 6] = value;
#endif
        else spilled[used_stack++] = value;
    }
}

void refuse(const Kernel &k, const char *what, unsigned long long has, unsigned long long most)
{
    fail("launch-refused", say("kernel %s: %llu %s, but %s takes %llu at most", k.name.c_str(), has, what,
                               device_limits.device, most));
}

void check_launch(const Kernel &k, Three grid, Three block, size_t dynamic)
{
    const limits &l = device_limits;
    unsigned long long count = (unsigned long long)block.x * block.y * block.z;
    const struct {
        const char *what;
        unsigned long long has, most;
    } rules[] = {
        {"threads in a block", count, l.threads},
        {"threads along x of a block", block.x, l.block_x},
        {"threads along y of a block", block.y, l.block_y},
        {"threads along z of a block", block.z, l.block_z},
        {"blocks along x", grid.x, l.grid_x},
        {"blocks along y", grid.y, l.grid_y},
        {"blocks along z", grid.z, l.grid_z},
        {"bytes of static shared memory", k.shared_bytes, l.shared_static},
        {"bytes of shared memory in a block", k.shared_bytes + dynamic, l.shared_most},
    };
    for (const auto &r : rules)
        if (r.has > r.most) refuse(k, r.what, r.has, r.most);
    if (!count || !grid.x || !grid.y || !grid.z)
        fail("launch-refused", say("kernel %s: a launch of no blocks or no threads", k.name.c_str()));
    size_t asked = std::max(k.dynamic_most, l.shared_static - std::min(l.shared_static, k.shared_bytes));
    if (dynamic > asked)
        fail("launch-refused", say("kernel %s: %zu bytes of dynamic shared memory, but without cudaFuncSetAttribute "
                                   "it gets %zu at most", k.name.c_str(), dynamic, asked));
}

Kernel *find_kernel(const void *address)
{
    for (Kernel &k : kernels)
        if (library + k.offset == address) return &k;
    fail("not-runnable", say("a launch of what is no kernel, at %p", address));
}

/* A pattern, so that what a block leaves in shared memory does not help the next one. */
void fill_shared(const Kernel &, size_t dynamic)
{
    for (const SharedArray &a : shared_arrays) memset(shared_region.start + a.offset, 0x7f, a.bytes);
    memset(shared_region.start + dynamic_offset, 0x7f, dynamic);
}
} // namespace

extern "C" {
int cudaLaunchKernel(const void *address, Three grid, Three block, void **args, size_t dynamic, void *)
{
    Kernel *k = find_kernel(address);
    check_launch(*k, grid, block, dynamic);
    place_parameters(*k, args);
    kernel_address = const_cast<void *>(address);
    thread_body = thread_main;
    gridDim = grid, blockDim = block;
    thread_count = block.x * block.y * block.z;
    dynamic_bytes = dynamic;
    launch_start = ++epoch; /* what the host did before is over */
    block_epochs.clear();
    note_launch(*k, dynamic);
    uint64_t count = (uint64_t)grid.x * grid.y * grid.z, step = 1, at = draw() % count;
    if (count > 2) /* blocks in the order at, at + step, ...: all of them, as step has no divisor in common with count */
        do step = 1 + draw() % (count - 1);
        while (std::__gcd(step, count) != 1);
    kernel = k;
    for (uint64_t n = 0; n < count; n++, at = (at + step) % count) {
        fill_shared(*k, dynamic);
        run_block({(unsigned)(at % grid.x), (unsigned)(at / grid.x % grid.y), (unsigned)(at / grid.x / grid.y)}, at);
    }
    kernel = nullptr;
    near_from = near_to = 0;
    return 0;
}

int cudaFuncSetAttribute(const void *address, int attribute, int value)
{
    if (attribute != 8) return 0;
    Kernel *k = find_kernel(address);
    if (value < 0 || (size_t)value + k->shared_bytes > device_limits.shared_most) return 1;
    k->dynamic_most = (size_t)value;
    return 0;
}
}
