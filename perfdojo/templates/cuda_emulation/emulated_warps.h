/* Barriers and what the lanes of a warp do together.
 *
 * Each lane puts down what it brings and stops; the last one to come lets `resolve` fill in every lane's result.
 * The line is where the call is written: lanes that meet in different lines have diverged.
 */
#pragma once

#define PERFDOJO_PLACE int line = __builtin_LINE(), const char *file = __builtin_FILE()

typedef void (*perfdojo_resolve)(void **lanes, unsigned mask);

extern "C" {
void perfdojo_barrier(int line, const char *file);
void perfdojo_syncwarp(unsigned mask, int line, const char *file);
void perfdojo_together(const char *what, unsigned mask, int line, const char *file, void *mine, perfdojo_resolve);
unsigned perfdojo_lane(void);
}

inline void __syncthreads(PERFDOJO_PLACE) { perfdojo_barrier(line, file); }
inline void __syncwarp(unsigned mask = 0xffffffffu, PERFDOJO_PLACE) { perfdojo_syncwarp(mask, line, file); }
inline void __threadfence() {}
inline void __threadfence_block() {}

namespace perfdojo
{
template <class T> struct Shuffle {
    T value, result;
    int source; /* -1: its own */
};

template <class T> PERFDOJO_UNSEEN void resolve_shuffle(void **lanes, unsigned mask)
{
    for (int k = 0; k < 32; k++) {
        if (!(mask >> k & 1)) continue;
        Shuffle<T> *s = (Shuffle<T> *)lanes[k];
        int from = s->source < 0 ? k : s->source;
        if (mask >> from & 1) s->result = ((Shuffle<T> *)lanes[from])->value;
        else memset(&s->result, 0x7f, sizeof(T)); /* undefined in CUDA: a value that shows */
    }
}

template <class T>
T shuffle(const char *what, unsigned mask, T value, int source, int line, const char *file)
{
    static_assert(sizeof(T) <= 8, "a shuffle takes up to 8 bytes");
    Shuffle<T> mine{value, value, source};
    perfdojo_together(what, mask, line, file, &mine, resolve_shuffle<T>);
    return mine.result;
}

struct Vote {
    unsigned mine, all;
};

inline PERFDOJO_UNSEEN void resolve_vote(void **lanes, unsigned mask)
{
    unsigned all = 0;
    for (int k = 0; k < 32; k++)
        if (mask >> k & 1 && ((Vote *)lanes[k])->mine) all |= 1u << k;
    for (int k = 0; k < 32; k++)
        if (mask >> k & 1) ((Vote *)lanes[k])->all = all;
}

inline unsigned vote(const char *what, unsigned mask, int predicate, int line, const char *file)
{
    Vote mine{predicate != 0, 0};
    perfdojo_together(what, mask, line, file, &mine, resolve_vote);
    return mine.all;
}
} // namespace perfdojo

template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = 32, PERFDOJO_PLACE)
{
    int first = (int)perfdojo_lane() & ~(width - 1);
    return perfdojo::shuffle("__shfl_sync", mask, value, first + (source & (width - 1)), line, file);
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, PERFDOJO_PLACE)
{
    int lane = (int)perfdojo_lane(), first = lane & ~(width - 1), source = lane - (int)delta;
    return perfdojo::shuffle("__shfl_up_sync", mask, value, source < first ? -1 : source, line, file);
}

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, PERFDOJO_PLACE)
{
    int lane = (int)perfdojo_lane(), last = lane | (width - 1), source = lane + (int)delta;
    return perfdojo::shuffle("__shfl_down_sync", mask, value, source > last ? -1 : source, line, file);
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, PERFDOJO_PLACE)
{
    /* a lane of a later group of `width` gives its own value, one of an earlier group may be read (the guide) */
    int lane = (int)perfdojo_lane(), source = lane ^ bits, last = lane | (width - 1);
    return perfdojo::shuffle("__shfl_xor_sync", mask, value, source > last ? -1 : source, line, file);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, PERFDOJO_PLACE)
{
    return perfdojo::vote("__ballot_sync", mask, predicate, line, file);
}

inline int __all_sync(unsigned mask, int predicate, PERFDOJO_PLACE)
{
    return perfdojo::vote("__all_sync", mask, predicate, line, file) == mask;
}

inline int __any_sync(unsigned mask, int predicate, PERFDOJO_PLACE)
{
    return perfdojo::vote("__any_sync", mask, predicate, line, file) != 0;
}
