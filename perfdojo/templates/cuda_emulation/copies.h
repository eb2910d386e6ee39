/* Asynchronous copies: taken at once, delivered when the thread waits, as nothing says when between they arrive. */
namespace
{
struct Copy {
    char *to;
    size_t bytes;
    const void *pc;
    char data[16];
};

struct Batches {
    std::vector<Copy> copies;
    std::vector<size_t> sizes; /* of committed batches, oldest first; the rest is not committed */
};

Batches pending[1024];

void deliver(Batches &b, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const Copy &c = b.copies[k];
        size_t at = (size_t)(c.to - shared_region.start);
        for (size_t u = at >> shared_region.shift; u < (at + c.bytes) >> shared_region.shift; u++)
            shared_region.cells[u] = {stamp, 0, 0, shared_region.cells[u].write_pc, 0, 0};
        memcpy(c.to, c.data, c.bytes);
    }
    b.copies.erase(b.copies.begin(), b.copies.begin() + (ptrdiff_t)count);
}

void drop_copies(unsigned t)
{
    pending[t].copies.clear();
    pending[t].sizes.clear();
}
} // namespace

extern "C" {
void perfdojo_copy_async(void *to, const void *from, size_t bytes, size_t zeros)
{
    uint32_t pc = (uint32_t)place_of(HERE);
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
        fail("misaligned", say("@1 copies %zu bytes asynchronously, %zu of them zero; 4, 8 or 16 can be", bytes, zeros), pc);
    if ((uintptr_t)to % bytes || (uintptr_t)from % bytes)
        fail("misaligned", say("@1 copies %zu bytes from %p to %p, which are no multiples of it", bytes, from, to), pc);
    if ((size_t)((char *)to - shared_region.start) >= shared_region.bytes)
        fail("memory-overwrite", say("@1 copies asynchronously to %p, which is not in shared memory", to), pc);
    const char *source = (const char *)from;
    if ((size_t)(source - shared_region.start) < shared_region.bytes ||
        (size_t)(source - stacks) < (size_t)STACK_BYTES * MOST_THREADS)
        fail("out-of-bounds", say("@1 copies asynchronously from %p, which is not in global memory", from), pc);
    Copy c = {(char *)to, bytes, HERE, {}};
    if (bytes > zeros) touch((const char *)from, bytes - zeros, READ, HERE);
    touch((char *)to, bytes, COPY, HERE);
    memcpy(c.data, from, bytes - zeros);
    pending[me].copies.push_back(c);
}

void perfdojo_copy_commit(void)
{
    Batches &b = pending[me];
    size_t before_it = 0;
    for (size_t n : b.sizes) before_it += n;
    b.sizes.push_back(b.copies.size() - before_it);
}

void perfdojo_copy_wait(size_t left)
{
    Batches &b = pending[me];
    size_t count = 0, batches = b.sizes.size() > left ? b.sizes.size() - left : 0;
    for (size_t k = 0; k < batches; k++) count += b.sizes[k];
    b.sizes.erase(b.sizes.begin(), b.sizes.begin() + (ptrdiff_t)batches);
    deliver(b, count);
}
}
