/* Memory that the launcher asks for, each piece between pages that nobody may touch; and what was launched. */
namespace
{
struct Launch {
    std::string kernel;
    Three grid, block;
    size_t dynamic;
};
std::vector<Launch> launches;

void note_launch(const Kernel &k, size_t dynamic) { launches.push_back({k.name, gridDim, blockDim, dynamic}); }

size_t pages(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

int allocate(void **memory, size_t bytes)
{
    char *all = (char *)mmap(nullptr, pages(bytes) + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + 4096, pages(bytes), PROT_READ | PROT_WRITE)) return 2;
    size_t count = 0;
    for (Region *r : regions) count += r->kind == Region::WORKSPACE || r->kind == Region::FREED;
    char *data = all + 4096;
    memset(data, 0x7f, pages(bytes));
    add_region(say("workspace %zu", count + 1).c_str(), data, bytes, Region::WORKSPACE);
    *memory = data;
    return 0;
}

int release(void *memory)
{
    if (!memory) return 0;
    for (Region *r : regions) {
        if (r->start != memory || r->kind != Region::WORKSPACE) continue;
        r->kind = Region::FREED;
        mprotect(r->start, pages(r->bytes), PROT_NONE);
        return 0;
    }
    fail("memory-overwrite", say("the launcher frees %p, which is no workspace", memory));
}

void release_workspaces()
{
    for (Region *r : regions) {
        if (r->kind == Region::WORKSPACE)
            fail("memory-leak", say("%s of %zu bytes is not freed", r->name.c_str(), r->bytes));
        if (r->kind == Region::FREED) munmap(r->start - 4096, pages(r->bytes) + 8192);
    }
}
} // namespace

extern "C" {
int cudaMallocAsync(void **memory, size_t bytes, void *) { return allocate(memory, bytes); }
int cudaMalloc(void **memory, size_t bytes) { return allocate(memory, bytes); }
int cudaFreeAsync(void *memory, void *) { return release(memory); }
int cudaFree(void *memory) { return release(memory); }
int cudaMemsetAsync(void *memory, int value, size_t bytes, void *)
{
    if (!bytes) return 0;
    define((char *)memory, bytes);
    memset(memory, value, bytes);
    return 0;
}
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, void *)
{
    if (!bytes) return 0;
    Region *r = find_region((const char *)from);
    if (!r || (const char *)from + bytes > r->start + r->bytes)
        fail("out-of-bounds", say("the launcher copies %zu bytes from %p, which no argument or workspace holds", bytes, from));
    define((char *)to, bytes);
    memcpy(to, from, bytes);
    return 0;
}
int cudaGetLastError(void) { return 0; }
int cudaPeekAtLastError(void) { return 0; }
int cudaStreamSynchronize(void *) { return 0; }
int cudaDeviceSynchronize(void) { return 0; }
const char *cudaGetErrorString(int) { return "an error of the emulated device"; }

/* The launches of this run as JSON. */
void write_launches(FILE *f)
{
    const char *comma = "";
    for (const Launch &l : launches) {
        fprintf(f, "%s{\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"dynamic\": %zu}", comma,
                l.kernel.c_str(), l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z, l.dynamic);
        comma = ", ";
    }
}
}
