/* What the emulated device is doing now, and how it says where something went wrong. */
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct Three {
    unsigned x, y, z;
};

extern "C" {
Three threadIdx, blockIdx, blockDim, gridDim;
}

namespace
{
struct Kernel {
    size_t offset, shared_bytes;
    std::string name, signature;
    size_t dynamic_most; /* as cudaFuncSetAttribute allows; 0: never asked */
};

enum State : unsigned char { READY, AT_BARRIER, IN_WARP, ENDED };

struct Thread {
    State state;
    int line;
    const char *file, *what;
    unsigned mask;
    void *brings;
    void (*resolve)(void **, unsigned);
};

std::vector<Kernel> kernels;
Kernel *kernel; /* null while the host runs */
Thread threads[1024];
unsigned me, thread_count;
uint64_t block_number, seed;

/* Epochs count barriers, of all blocks of all launches: what happened in an earlier one of a block is over. */
uint32_t epoch = 1, block_start = 1, launch_start = 1;
std::vector<std::pair<uint32_t, uint64_t>> block_epochs; /* of this launch: first epoch, number of the block */

char *library, *library_end;

std::string say(const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return text;
}

std::string block_name(uint64_t b)
{
    return say("(%u,%u,%u)", (unsigned)(b % gridDim.x), (unsigned)(b / gridDim.x % gridDim.y),
               (unsigned)(b / gridDim.x / gridDim.y));
}

Three thread_index(unsigned t)
{
    return {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
}

std::string thread_name(unsigned t)
{
    Three i = thread_index(t);
    return say("(%u,%u,%u)", i.x, i.y, i.z);
}

size_t place_of(const void *pc) { return (char *)pc >= library && (char *)pc < library_end ? (char *)pc - library : 0; }

const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : nullptr;
    return slash ? slash + 1 : path ? path : "?";
}

[[noreturn]] void fail(const char *status, const std::string &text, size_t first = 0, size_t second = 0)
{
    std::string where;
    if (kernel)
        where = say("kernel %s, block %s, thread %s: ", kernel->name.c_str(), block_name(block_number).c_str(),
                    thread_name(me).c_str());
    stop_at(status, (where + text + say(" (seed %llu)", (unsigned long long)seed)).c_str(), first, second);
}
} // namespace
