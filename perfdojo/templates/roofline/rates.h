/* Loops of multiply-adds that depend on nothing but themselves, one function for each type and vector width.
 *
 * CHAINS chains run side by side: more than latency times throughput of any unit we know (4 cycles, 2 a cycle), and as few
 * as fit in 16 registers beside two operands. A function returns the number of operations of its iterations, a
 * multiply-add counts 2.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define CHAINS 12
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define DECLARE(k) vector a##k = x + (element)k;
#define STEP(k) a##k = a##k * x + y;
#define ADD(k) sum += a##k;

/* The operands come from volatile variables, so that nothing is computed ahead; the sum goes to one. */
#define RATE(NAME, ELEMENT, BYTES, MANY)                                                    \
    static long NAME(long iterations)                                                       \
    {                                                                                       \
        typedef ELEMENT element;                                                            \
        typedef element vector MANY;                                                        \
        volatile element half = (element)0.5, one = 1;                                      \
        vector x = (vector){0} + half, y = (vector){0} + one, sum = y;                      \
        EACH(DECLARE)                                                                       \
        for (long k = 0; k < iterations; k++) {                                             \
            EACH(STEP)                                                                      \
            __asm__ volatile("" ::: "memory");                                              \
        }                                                                                   \
        EACH(ADD)                                                                           \
        element first;                                                                      \
        memcpy(&first, &sum, sizeof first);                                                 \
        volatile element sink = first;                                                      \
        (void)sink;                                                                         \
        return iterations * CHAINS * 2 * (long)(BYTES / sizeof(element));                   \
    }

/* Products of bytes or 16-bit integers summed into 32 bits: OPERATIONS are those of one such lane. */
#define DOT(NAME, VECTOR, BYTES, ZERO, SET, STEP_OF, OPERATIONS)                            \
    static long NAME(long iterations)                                                       \
    {                                                                                       \
        typedef VECTOR vector;                                                              \
        typedef int element;                                                                \
        volatile int value = 0x01020304;                                                    \
        vector x = SET(value), y = SET(value + 1), sum = ZERO();                            \
        EACH(DOT_DECLARE)                                                                   \
        for (long k = 0; k < iterations; k++) {                                             \
            EACH(STEP_OF)                                                                   \
            __asm__ volatile("" ::: "memory");                                              \
        }                                                                                   \
        EACH(ADD)                                                                           \
        volatile element sink = (int)sum[0];                                                \
        (void)sink;                                                                         \
        return iterations * CHAINS * OPERATIONS * (long)(BYTES / 4);                        \
    }
#define DOT_DECLARE(k) vector a##k = x;

RATE(f32_4, float, 4, )
RATE(f64_8, double, 8, )
RATE(i32_4, uint32_t, 4, )
RATE(f32_16, float, 16, __attribute__((vector_size(16))))
RATE(f64_16, double, 16, __attribute__((vector_size(16))))
RATE(i32_16, uint32_t, 16, __attribute__((vector_size(16))))
#if defined(__AVX2__)
RATE(f32_32, float, 32, __attribute__((vector_size(32))))
RATE(f64_32, double, 32, __attribute__((vector_size(32))))
RATE(i32_32, uint32_t, 32, __attribute__((vector_size(32))))
#define MADD_32(k) a##k = _mm256_add_epi32(a##k, _mm256_madd_epi16(x, y)); __asm__("" : "+x"(x));
DOT(i8_32, __m256i, 32, _mm256_setzero_si256, _mm256_set1_epi32, MADD_32, 4)
#endif
#if defined(__AVX512F__)
RATE(f32_64, float, 64, __attribute__((vector_size(64))))
RATE(f64_64, double, 64, __attribute__((vector_size(64))))
RATE(i32_64, uint32_t, 64, __attribute__((vector_size(64))))
#endif
#if defined(__AVX512VNNI__)
#define DPBUSD_64(k) a##k = _mm512_dpbusd_epi32(a##k, x, y);
DOT(i8_64, __m512i, 64, _mm512_setzero_si512, _mm512_set1_epi32, DPBUSD_64, 8)
#elif defined(__AVX512BW__)
#define MADD_64(k) a##k = _mm512_add_epi32(a##k, _mm512_madd_epi16(x, y)); __asm__("" : "+x"(x));
DOT(i8_64, __m512i, 64, _mm512_setzero_si512, _mm512_set1_epi32, MADD_64, 4)
#endif

static const struct {
    const char *type;
    int width;
    long (*run)(long);
} RATES[] = {
    {"f32", 4, f32_4}, {"f64", 8, f64_8}, {"i32", 4, i32_4},
    {"f32", 16, f32_16}, {"f64", 16, f64_16}, {"i32", 16, i32_16},
#if defined(__AVX2__)
    {"f32", 32, f32_32}, {"f64", 32, f64_32}, {"i32", 32, i32_32}, {"i8", 32, i8_32},
#endif
#if defined(__AVX512F__)
    {"f32", 64, f32_64}, {"f64", 64, f64_64}, {"i32", 64, i32_64},
#endif
#if defined(__AVX512VNNI__) || defined(__AVX512BW__)
    {"i8", 64, i8_64},
#endif
};
