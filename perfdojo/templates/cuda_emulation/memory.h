/* Memory that a kernel may touch, and what the compiler's instrumentation tells of each access. */
namespace
{
std::vector<Region *> regions; /* of global memory, by address */
Region shared_region, module_region;
Region *last_region = &shared_region;

struct SharedArray {
    size_t offset, bytes;
    std::string name;
};
std::vector<SharedArray> shared_arrays; /* by offset */
size_t dynamic_offset, dynamic_room, dynamic_bytes;

bool in_dynamic(size_t offset) { return offset - dynamic_offset < dynamic_room; }

/* The array that was accessed last, or dynamic shared memory, as offsets; nothing while the host runs. */
size_t near_from, near_to;

const SharedArray *array_at(size_t offset)
{
    for (const SharedArray &a : shared_arrays)
        if (offset - a.offset < a.bytes) return &a;
    return nullptr;
}

/* What lies at a byte of a region, for people. */
std::string element(const Region &r, size_t at)
{
    if (r.kind != Region::SHARED) return say("byte %zu of %s", at, r.name.c_str());
    if (in_dynamic(at)) return say("byte %zu of dynamic shared memory", at - dynamic_offset);
    const SharedArray *a = array_at(at);
    return a ? say("byte %zu of %s in shared memory", at - a->offset, a->name.c_str()) : "shared memory";
}

void race(const Region &r, size_t at, const char *does, uint32_t pc, Stamp other, const char *did, uint32_t other_pc)
{
    std::string who = "thread " + thread_name(thread_of(other)), why = "with no barrier between";
    if (epoch_of(other) < block_start) {
        auto after = std::upper_bound(block_epochs.begin(), block_epochs.end(),
                                      std::make_pair(epoch_of(other), UINT64_MAX));
        who += " of block " + block_name((after - 1)->second);
        why = "and nothing orders two blocks";
    }
    fail("race", say("@1 %s %s, which %s %s at @2, %s", does, element(r, at).c_str(), who.c_str(), did, why.c_str()),
         pc, other_pc);
}

Region *find_region(const char *p)
{
    if (p >= last_region->start && p < last_region->start + last_region->bytes) return last_region;
    auto after = std::upper_bound(regions.begin(), regions.end(), p, [](const char *a, Region *r) { return a < r->start; });
    if (after != regions.begin() && p < after[-1]->start + after[-1]->bytes) return last_region = after[-1];
    if (p >= module_region.start && p < module_region.start + module_region.bytes) return &module_region;
    return nullptr;
}

[[noreturn]] void fail_outside(const char *p, size_t bytes, bool writes, uint32_t pc)
{
    const char *does = writes ? "writes" : "reads", *status = writes ? "memory-overwrite" : "out-of-bounds";
    char *here = (char *)__builtin_frame_address(0), *lowest = stacks + (size_t)me * STACK_BYTES;
    if (here < lowest || here >= lowest + STACK_BYTES)
        fail("crash", say("the stack is full: local variables take more than %d bytes", (int)STACK_BYTES), pc);
    if (p >= stacks && p < stacks + (size_t)STACK_BYTES * MOST_THREADS)
        fail(status, say("@1 %s a local variable of thread %s", does,
                         thread_name((unsigned)((p - stacks) / STACK_BYTES)).c_str()), pc);
    const Region *near = nullptr;
    ptrdiff_t least = 1 << 20;
    for (const Region *r : regions) {
        ptrdiff_t away = p < r->start ? r->start - p : p - (r->start + r->bytes) + 1;
        if (away < least) least = away, near = r;
    }
    if (near)
        fail(status, say("@1 %s %zu bytes at byte %td of %s, which has %zu", does, bytes, p - near->start,
                         near->name.c_str(), near->bytes), pc);
    fail(status, say("@1 %s %zu bytes at %p, outside of all arguments", does, bytes, (const void *)p), pc);
}

void check_shared_bounds(size_t at, size_t bytes, bool writes, uint32_t pc)
{
    const char *does = writes ? "writes" : "reads", *status = writes ? "memory-overwrite" : "out-of-bounds";
    if (in_dynamic(at)) {
        if (at - dynamic_offset + bytes <= dynamic_bytes) {
            near_from = dynamic_offset, near_to = dynamic_offset + dynamic_bytes;
            return;
        }
        fail(status, say("@1 %s %zu bytes at byte %zu of dynamic shared memory, of which %zu bytes were asked for", does,
                         bytes, at - dynamic_offset, dynamic_bytes), pc);
    }
    const SharedArray *a = array_at(at);
    if (!a) fail(status, say("@1 %s %zu bytes of shared memory between two arrays", does, bytes), pc);
    if (at + bytes > a->offset + a->bytes)
        fail(status, say("@1 %s %zu bytes at byte %zu of %s in shared memory, which has %zu", does, bytes,
                         at - a->offset, a->name.c_str(), a->bytes), pc);
    near_from = a->offset, near_to = a->offset + a->bytes;
}

bool resolving; /* lanes of a warp meet: one fiber works on what the others brought on their stacks */

enum Access { READ, WRITE, COPY };

inline Region *region_of(const char *p, size_t bytes, bool writes, uint32_t pc)
{
    size_t at = (size_t)(p - shared_region.start);
    if (at < shared_region.bytes) {
        if (at < near_from || at + bytes > near_to) check_shared_bounds(at, bytes, writes, pc);
        return &shared_region;
    }
    Region *r = find_region(p);
    if (!r || p + bytes > r->start + r->bytes) fail_outside(p, bytes, writes, pc);
    if (r->kind == Region::FREED) fail("memory-overwrite", say("@1 uses %s, which is freed", r->name.c_str()), pc);
    if (r->kind == Region::ARGUMENT_IN && writes)
        fail("memory-overwrite", say("@1 writes %s, which is an input", element(*r, (size_t)(p - r->start)).c_str()), pc);
    return r;
}

void fit_unit(Region &r, size_t at, size_t bytes)
{
    unsigned shift = r.shift;
    while (shift && ((at | bytes) & ((1u << shift) - 1))) shift--;
    if (shift < r.shift) split(r, shift);
}

inline void touch(const char *p, size_t bytes, Access how, const void *return_address)
{
    size_t offset = (size_t)(p - shared_region.start);
    if (how == READ && bytes == 4 && offset >= near_from && offset + 4 <= near_to && shared_region.shift == 2 &&
        !(offset & 3) && settled(shared_region.cells[offset >> 2])) return;
    if ((size_t)(p - (stacks + (size_t)me * STACK_BYTES)) < STACK_BYTES && kernel) return;
    if (resolving) return;
    if (!kernel) {
        Region *r = offset < shared_region.bytes ? &shared_region : find_region(p);
        if (r && r->kind != Region::MODULE)
            fail("out-of-bounds", say("host code at @1 touches %s, memory of the device", r->name.c_str()),
                 place_of(return_address));
        return;
    }
    uint32_t pc = (uint32_t)place_of(return_address);
    Region *r = region_of(p, bytes, how != READ, pc);
    if (r->kind == Region::ARGUMENT_IN) return;
    size_t at = (size_t)(p - r->start);
    if ((at | bytes) & ((1u << r->shift) - 1)) fit_unit(*r, at, bytes);
    for (size_t k = at >> r->shift, end = (at + bytes) >> r->shift; k < end; k++)
        if (how == READ) note_read(*r, r->cells[k], k << r->shift, pc);
        else note_write(*r, r->cells[k], k << r->shift, pc, how == COPY ? (uint64_t)PENDING : 0);
}

Region *add_region(const char *name, char *start, size_t bytes, decltype(Region::kind) kind)
{
    Region *r = new Region{start, bytes, name, kind, 2, {}};
    if (kind != Region::ARGUMENT_IN) r->cells.resize((bytes >> 2) + 1);
    regions.insert(std::upper_bound(regions.begin(), regions.end(), start,
                                    [](const char *a, Region *b) { return a < b->start; }), r);
    return r;
}

/* What the host has written: over before the next launch. */
void define(char *p, size_t bytes)
{
    Region *r = find_region(p);
    if (!r || r->kind == Region::MODULE || p + bytes > r->start + r->bytes)
        fail("memory-overwrite", say("the launcher sets %zu bytes at %p, which no argument or workspace holds", bytes, (void *)p));
    if (r->cells.empty()) fail("memory-overwrite", say("the launcher writes %s, which is an input", r->name.c_str()));
    size_t at = (size_t)(p - r->start);
    fit_unit(*r, at, bytes);
    for (size_t k = at >> r->shift; k < (at + bytes) >> r->shift; k++) r->cells[k] = {(uint64_t)epoch << 32, 0, 0, 0, 0, 0};
}
} // namespace

#define HERE __builtin_return_address(0)
#define SIZE(n)                                                                                  \
    void __tsan_read##n(void *p) { touch((char *)p, n, READ, HERE); }                            \
    void __tsan_write##n(void *p) { touch((char *)p, n, WRITE, HERE); }                          \
    void __tsan_unaligned_read##n(void *p) { touch((char *)p, n, READ, HERE); }                  \
    void __tsan_unaligned_write##n(void *p) { touch((char *)p, n, WRITE, HERE); }                \
    void __tsan_volatile_read##n(void *p) { touch((char *)p, n, READ, HERE); }                   \
    void __tsan_volatile_write##n(void *p) { touch((char *)p, n, WRITE, HERE); }                 \
    void __tsan_unaligned_volatile_read##n(void *p) { touch((char *)p, n, READ, HERE); }         \
    void __tsan_unaligned_volatile_write##n(void *p) { touch((char *)p, n, WRITE, HERE); }

extern "C" {
SIZE(1) SIZE(2) SIZE(4) SIZE(8) SIZE(16)
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void *, void *) {}
void __tsan_vptr_read(void *) {}
void __tsan_read_range(void *p, size_t n) { touch((char *)p, n, READ, HERE); }
void __tsan_write_range(void *p, size_t n) { touch((char *)p, n, WRITE, HERE); }

/* The library is linked with --wrap for these, as the compiler does not look into calls of them. */
void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    if (n) touch((const char *)from, n, READ, HERE), touch((char *)to, n, WRITE, HERE);
    return memcpy(to, from, n);
}
void *__wrap_memmove(void *to, const void *from, size_t n)
{
    if (n) touch((const char *)from, n, READ, HERE), touch((char *)to, n, WRITE, HERE);
    return memmove(to, from, n);
}
void *__wrap_memset(void *to, int value, size_t n)
{
    if (n) touch((char *)to, n, WRITE, HERE);
    return memset(to, value, n);
}

void perfdojo_access(const void *p, size_t bytes, int writes, const void *from)
{
    touch((const char *)p, bytes, writes ? WRITE : READ, from);
}

/* What a load or store of a matrix by a warp takes: its first element at 256 bits, lines at 16 bytes. */
void perfdojo_matrix(const void *p, size_t line_bytes, const void *from)
{
    if ((uintptr_t)p % 32 == 0 && line_bytes % 16 == 0) return;
    uint32_t pc = (uint32_t)place_of(from);
    fail("misaligned", say("@1 has a matrix at %p with lines %zu bytes apart, not at multiples of 32 and 16", p, line_bytes), pc);
}

static int any_float_atomics;
int float_atomics(void) { return any_float_atomics; }

void perfdojo_atomic(void *address, size_t bytes, int is_float, const void *from)
{
    if (!kernel) return;
    char *p = (char *)address;
    uint32_t pc = (uint32_t)place_of(from);
    any_float_atomics |= is_float;
    if ((uintptr_t)p % bytes) fail("misaligned", say("@1 is an atomic access to %zu bytes at %p", bytes, address), pc);
    Region *r = region_of(p, bytes, true, pc);
    size_t at = (size_t)(p - r->start);
    fit_unit(*r, at, bytes);
    for (size_t k = at >> r->shift, end = (at + bytes) >> r->shift; k < end; k++) note_atomic(*r, r->cells[k], k << r->shift, pc);
}
}
