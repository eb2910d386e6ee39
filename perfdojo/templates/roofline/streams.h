/* Passes over arrays of floats, in the widest vectors of the machine; `floats` counts all arrays of a pass. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define STREAM_STORE(p, v) _mm512_stream_ps(p, (__m512)(v))
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#define STREAM_STORE(p, v) _mm256_stream_ps(p, (__m256)(v))
#else
#define VECTOR_BYTES 16
#if defined(__SSE__)
#define STREAM_STORE(p, v) _mm_stream_ps(p, (__m128)(v))
#endif
#endif

#define LANES (VECTOR_BYTES / 4)
#define UNIT (8 * LANES) /* floats of one array in one turn of a loop */

typedef float wide __attribute__((vector_size(VECTOR_BYTES)));

#define LOAD(p) (*(const wide *)(p))
#define STORE(p, v) (*(wide *)(p) = (v))

static volatile float stream_sink;

/* Four parts side by side: what fetches lines ahead of one stream does not keep a memory busy. */
static void stream_read(float *a, size_t floats)
{
    size_t n = floats / 4;
    const float *b = a + n, *c = b + n, *d = c + n;
    wide s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    for (size_t i = 0; i < n; i += 2 * LANES) {
        s0 += LOAD(a + i), s1 += LOAD(a + i + LANES);
        s2 += LOAD(b + i), s3 += LOAD(b + i + LANES);
        s4 += LOAD(c + i), s5 += LOAD(c + i + LANES);
        s6 += LOAD(d + i), s7 += LOAD(d + i + LANES);
    }
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    stream_sink = s0[0];
}

/* ARRAYS of n floats; the last is written by STORE_AS with VALUE, an expression of the position k. */
#define STREAM(NAME, ARRAYS, STORE_AS, VALUE)                                                  \
    static void NAME(float *a, size_t floats)                                                  \
    {                                                                                          \
        size_t n = floats / ARRAYS;                                                            \
        const float *b = a + n;                                                                \
        float *to = a + (ARRAYS - 1) * n;                                                      \
        const wide s = (wide){0} + 1.5f;                                                       \
        (void)b, (void)s;                                                                      \
        for (size_t i = 0; i < n; i += UNIT)                                                   \
            _Pragma("GCC unroll 8") for (size_t k = i; k < i + UNIT; k += LANES) STORE_AS(to + k, VALUE); \
        __asm__ volatile("" ::: "memory");                                                     \
    }

STREAM(stream_write, 1, STORE, s)
STREAM(stream_copy, 2, STORE, LOAD(a + k))
STREAM(stream_triad, 3, STORE, LOAD(a + k) + s * LOAD(b + k))
#if defined(STREAM_STORE)
/* Stores that pass by the caches. */
STREAM(direct_write, 1, STREAM_STORE, s)
STREAM(direct_copy, 2, STREAM_STORE, LOAD(a + k))
STREAM(direct_triad, 3, STREAM_STORE, LOAD(a + k) + s * LOAD(b + k))
#endif

enum { WRITE = 0 };

static const struct {
    const char *access;
    int arrays;
    void (*run)(float *, size_t);
} STREAMS[] = {
    {"write", 1, stream_write}, {"read", 1, stream_read}, {"copy", 2, stream_copy}, {"triad", 3, stream_triad},
#if defined(STREAM_STORE)
    {"write-direct", 1, direct_write}, {"copy-direct", 2, direct_copy}, {"triad-direct", 3, direct_triad},
#endif
};
