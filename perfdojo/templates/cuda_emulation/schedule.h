/* Runs the threads of a block until all have ended; barriers, and what the lanes of a warp do together. */
namespace
{
std::vector<unsigned> ready;
unsigned ended, at_barrier;
void (*thread_body)();

void yield_thread(State state)
{
    unsigned mine = me;
    threads[mine].state = state;
    switch_fiber(fibers[mine], scheduler_fiber);
}

void wake(unsigned t)
{
    threads[t].state = READY;
    ready.push_back(t);
}

std::string waits(unsigned t)
{
    const Thread &w = threads[t];
    if (w.state == ENDED) return "has ended";
    const char *what = w.state == AT_BARRIER ? "__syncthreads" : w.what;
    return say("waits in %s at %s:%d", what, base_name(w.file), w.line);
}

/* Nobody can go on: name somebody who waits, and who does not come. */
[[noreturn]] void fail_deadlock()
{
    for (unsigned t = 0; t < thread_count; t++) {
        if (threads[t].state != IN_WARP) continue;
        for (unsigned k = 0; k < 32; k++) {
            unsigned other = (t & ~31u) + k;
            if (!(threads[t].mask >> k & 1)) continue;
            const Thread &o = threads[other];
            if (other < thread_count && o.state == IN_WARP && o.what == threads[t].what && o.mask == threads[t].mask) continue;
            me = t;
            if (other >= thread_count)
                fail("deadlock", say("%s with mask %#x, whose lane %u does not exist", waits(t).c_str(), threads[t].mask, k));
            if (o.state == IN_WARP && o.mask != threads[t].mask && o.what == threads[t].what)
                fail("deadlock", say("%s with mask %#x, but thread %s with mask %#x", waits(t).c_str(), threads[t].mask,
                                     thread_name(other).c_str(), o.mask));
            fail("deadlock", say("%s with mask %#x, whose lane %u, thread %s, %s", waits(t).c_str(), threads[t].mask, k,
                                 thread_name(other).c_str(), waits(other).c_str()));
        }
    }
    unsigned waiting = 0, missing = 0;
    while (waiting + 1 < thread_count && threads[waiting].state != AT_BARRIER) waiting++;
    while (missing + 1 < thread_count && threads[missing].state == AT_BARRIER) missing++;
    me = waiting;
    fail("deadlock", say("%s, which thread %s does not reach: it %s", waits(waiting).c_str(), thread_name(missing).c_str(),
                         waits(missing).c_str()));
}

void next_epoch()
{
    if (!++epoch) fail("not-runnable", "the emulation counts 4294967295 barriers at most");
    for (unsigned w = 0; w <= (thread_count - 1) >> 5; w++) {
        if (!clocks_used[w]) continue;
        memset(clocks[w], 0, sizeof clocks[w]);
        for (unsigned k = 0; k < 32; k++) clocks[w][k][k] = 1;
        clocks_used[w] = false;
    }
}

void release_barrier()
{
    for (unsigned t = 1; t < thread_count; t++)
        if (threads[t].line != threads[0].line) {
            me = t;
            fail("deadlock", say("%s, while thread (0,0,0) %s", waits(t).c_str(), waits(0).c_str()));
        }
    next_epoch();
    at_barrier = 0;
    for (unsigned t = 0; t < thread_count; t++) wake(t);
}

/* Whether all lanes of the running thread's mask have come; lanes that do something else have diverged. */
bool all_lanes_came()
{
    const Thread &mine = threads[me];
    for (unsigned k = 0; k < 32; k++) {
        if (!(mine.mask >> k & 1)) continue;
        unsigned t = (me & ~31u) + k;
        if (t >= thread_count || threads[t].state != IN_WARP || threads[t].mask != mine.mask) return false;
        if (threads[t].what != mine.what || threads[t].line != mine.line)
            fail("deadlock", say("%s, while thread %s, a lane of its mask, %s", waits(me).c_str(), thread_name(t).c_str(),
                                 waits(t).c_str()));
    }
    return true;
}

void join_clocks(unsigned mask)
{
    uint32_t(*warp)[32] = clocks[me >> 5], most[32] = {};
    clocks_used[me >> 5] = true;
    for (unsigned k = 0; k < 32; k++)
        for (unsigned j = 0; mask >> k & 1 && j < 32; j++) most[j] = std::max(most[j], warp[k][j]);
    for (unsigned k = 0; k < 32; k++) {
        if (!(mask >> k & 1)) continue;
        memcpy(warp[k], most, sizeof most);
        if (++warp[k][k] > MOST_CLOCK) fail("not-runnable", say("more than %u __syncwarp without a barrier", MOST_CLOCK));
    }
}

void run_block(Three block, uint64_t number)
{
    blockIdx = block;
    block_number = number;
    block_start = epoch;
    block_epochs.emplace_back(epoch, number);
    ended = at_barrier = 0;
    ready.clear();
    for (unsigned t = 0; t < thread_count; t++) {
        start_fiber(t, thread_body);
        wake(t);
    }
    while (ended < thread_count) {
        if (ready.empty()) fail_deadlock();
        unsigned k = draw_below((unsigned)ready.size());
        me = ready[k];
        ready[k] = ready.back();
        ready.pop_back();
        threadIdx = thread_index(me);
        set_stamp();
        switch_fiber(scheduler_fiber, fibers[me]);
    }
    next_epoch();
}
} // namespace

extern "C" {
unsigned perfdojo_lane(void) { return me & 31; }

void perfdojo_barrier(int line, const char *file)
{
    threads[me].line = line, threads[me].file = file;
    threads[me].state = AT_BARRIER;
    if (++at_barrier == thread_count) release_barrier();
    yield_thread(threads[me].state);
}

void perfdojo_together(const char *what, unsigned mask, int line, const char *file, void *brings,
                       void (*resolve)(void **, unsigned))
{
    Thread &mine = threads[me];
    unsigned warp = me & ~31u;
    mine.line = line, mine.file = file, mine.what = what, mine.mask = mask, mine.brings = brings;
    mine.state = IN_WARP;
    if (!(mask >> (me & 31) & 1))
        fail("deadlock", say("calls %s at %s:%d with mask %#x, which does not name its lane %u", what, base_name(file), line,
                             mask, me & 31));
    if (all_lanes_came()) {
        void *lanes[32] = {};
        for (unsigned k = 0; k < 32; k++)
            if (mask >> k & 1) lanes[k] = threads[warp + k].brings;
        resolving = true;
        resolve(lanes, mask);
        resolving = false;
        for (unsigned k = 0; k < 32; k++)
            if (mask >> k & 1) wake(warp + k);
    }
    yield_thread(mine.state);
}

static void resolve_syncwarp(void **, unsigned mask) { join_clocks(mask); }

void perfdojo_syncwarp(unsigned mask, int line, const char *file)
{
    perfdojo_together("__syncwarp", mask, line, file, nullptr, resolve_syncwarp);
}
}
