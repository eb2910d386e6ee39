/* Who touched which memory: a cell for each unit of memory, and the rules by which two accesses are a race.
 *
 * A stamp says who and when: epoch (32 bits), flags (5), the lane's clock (17), the thread (10). Barriers of the
 * block order what lies in different epochs; within one, only __syncwarp does, by vector clocks of the lanes.
 * Nothing orders two blocks of a launch; launches follow each other.
 *
 * A cell keeps the last write and two reads that are as far from each other as any that came: from two blocks, else
 * two warps, else two lanes. So a later write by anybody is unordered with at least one of the two if it is with any.
 */
namespace
{
typedef uint64_t Stamp;
enum : uint64_t { PENDING = 1u << 31, BLOCKS = 1u << 30, WARPS = 1u << 29, MANY = 1u << 28, ATOMIC = 1u << 27 };
enum : uint32_t { MOST_CLOCK = (1u << 17) - 1 };

uint32_t clocks[32][32][32]; /* warp, lane, what it knows of each lane of its warp */
bool clocks_used[32];

uint32_t epoch_of(Stamp s) { return (uint32_t)(s >> 32); }
unsigned thread_of(Stamp s) { return (unsigned)(s & 1023); }
uint32_t clock_of(Stamp s) { return (uint32_t)(s >> 10 & MOST_CLOCK); }

Stamp stamp; /* of the running thread, now */

void set_stamp() { stamp = (uint64_t)epoch << 32 | (uint64_t)clocks[me >> 5][me & 31][me & 31] << 10 | me; }

/* Whether an access that was not atomic is over for the running thread. */
inline bool before(Stamp s, bool shared)
{
    uint32_t e = epoch_of(s);
    if (e < block_start) return shared || e < launch_start;
    if (e != epoch) return true;
    unsigned t = thread_of(s);
    if (t == me) return true;
    if (t >> 5 != me >> 5) return false;
    return clocks[me >> 5][me & 31][t & 31] >= clock_of(s);
}

/* The same for the last of some atomic ones, all of which must be over. */
bool atomics_before(Stamp s, bool shared)
{
    if (s & BLOCKS && !shared && epoch_of(s) >= launch_start) return false;
    if (epoch_of(s) != epoch || !(s & MANY)) return before(s, shared);
    unsigned t = thread_of(s);
    if (s & WARPS || t >> 5 != me >> 5) return false;
    uint32_t known = clocks[me >> 5][me & 31][t & 31];
    return t == me ? known > clock_of(s) : known >= clock_of(s);
}

struct Cell {
    Stamp written, read1, read2;
    uint32_t write_pc, read1_pc, read2_pc;
};

struct Region {
    char *start;
    size_t bytes;
    std::string name;
    enum { ARGUMENT_IN, ARGUMENT_OUT, ARGUMENT_INOUT, WORKSPACE, FREED, SHARED, MODULE } kind;
    unsigned shift; /* a unit has 1 << shift bytes */
    std::vector<Cell> cells;

    bool starts_defined() const { return kind == ARGUMENT_INOUT || kind == MODULE || kind == ARGUMENT_IN; }
};

void race(const Region &r, size_t at, const char *does, uint32_t pc, Stamp other, const char *did, uint32_t other_pc);
std::string element(const Region &r, size_t at);

/* A cell for each smaller unit, all with what the larger one knew. */
void split(Region &r, unsigned shift)
{
    std::vector<Cell> finer((r.bytes >> shift) + 1);
    for (size_t k = 0; k < finer.size(); k++) finer[k] = r.cells[k >> (r.shift - shift)];
    r.cells.swap(finer);
    r.shift = shift;
}

int distance(Stamp a, Stamp b)
{
    if ((epoch_of(a) < block_start) != (epoch_of(b) < block_start)) return 2;
    return thread_of(a) >> 5 != thread_of(b) >> 5;
}

[[noreturn]] void fail_pending(const Region &r, size_t at, const char *does, uint32_t pc, const Cell &c)
{
    fail("race", say("@1 %s %s while an asynchronous copy into it, which thread %s started at @2, is not waited for",
                     does, element(r, at).c_str(), thread_name(thread_of(c.written)).c_str()), pc, c.write_pc);
}

inline bool write_over(const Cell &c, bool shared)
{
    return c.written & ATOMIC ? atomics_before(c.written, shared) : before(c.written, shared);
}

/* Whether a read of shared memory tells nothing new, as most do: it was written before the last barrier of this block,
 * and two warps have read it since. */
inline bool settled(const Cell &c)
{
    uint32_t wrote = epoch_of(c.written);
    return wrote >= block_start && wrote < epoch && !(c.written & (PENDING | ATOMIC)) && epoch_of(c.read1) == epoch &&
           epoch_of(c.read2) == epoch && (thread_of(c.read1) ^ thread_of(c.read2)) >> 5;
}

inline void note_read(Region &r, Cell &c, size_t at, uint32_t pc)
{
    bool shared = r.kind == Region::SHARED;
    if (__builtin_expect(epoch_of(c.written) < (shared ? block_start : 1) && !r.starts_defined(), 0))
        fail("uninitialised-read", say("@1 reads %s, which nothing has written", element(r, at).c_str()), pc);
    if (c.written & PENDING && epoch_of(c.written) >= block_start) fail_pending(r, at, "reads", pc, c);
    if (__builtin_expect(!write_over(c, shared), 0)) race(r, at, "reads", pc, c.written, "writes", c.write_pc);
    if (!c.read1 || before(c.read1, shared)) {
        if (c.read2 && before(c.read2, shared)) c.read2 = 0;
    } else {
        if (c.read2 && !before(c.read2, shared) && distance(stamp, c.read1) < distance(c.read1, c.read2)) return;
        c.read2 = c.read1, c.read2_pc = c.read1_pc;
    }
    c.read1 = stamp, c.read1_pc = pc;
}

inline void check_readers(Region &r, Cell &c, size_t at, uint32_t pc)
{
    bool shared = r.kind == Region::SHARED;
    if (c.read1 && !before(c.read1, shared)) race(r, at, "writes", pc, c.read1, "reads", c.read1_pc);
    if (c.read2 && !before(c.read2, shared)) race(r, at, "writes", pc, c.read2, "reads", c.read2_pc);
}

inline void note_write(Region &r, Cell &c, size_t at, uint32_t pc, uint64_t flags)
{
    bool shared = r.kind == Region::SHARED;
    if (c.written & PENDING && epoch_of(c.written) >= block_start) fail_pending(r, at, "writes", pc, c);
    if (!write_over(c, shared)) race(r, at, "writes", pc, c.written, "writes", c.write_pc);
    check_readers(r, c, at, pc);
    c = {stamp | flags, 0, 0, pc, 0, 0};
}

void note_atomic(Region &r, Cell &c, size_t at, uint32_t pc)
{
    bool shared = r.kind == Region::SHARED;
    Stamp w = c.written;
    if (epoch_of(w) < (shared ? block_start : 1) && !r.starts_defined())
        fail("uninitialised-read", say("@1 adds to %s, which nothing has written", element(r, at).c_str()), pc);
    if (w & PENDING && epoch_of(w) >= block_start) fail_pending(r, at, "writes", pc, c);
    check_readers(r, c, at, pc);
    uint64_t flags = ATOMIC;
    if (!(w & ATOMIC)) {
        if (!before(w, shared)) race(r, at, "writes (atomically)", pc, w, "writes", c.write_pc);
    } else if (epoch_of(w) >= (shared ? block_start : launch_start)) {
        if (!shared && (w & BLOCKS || epoch_of(w) < block_start)) flags |= BLOCKS;
        if (epoch_of(w) == epoch) {
            flags |= w & (WARPS | MANY);
            if (thread_of(w) != me) flags |= MANY;
            if (thread_of(w) >> 5 != me >> 5) flags |= WARPS;
        }
    }
    c = {stamp | flags, 0, 0, pc, 0, 0};
}
} // namespace
