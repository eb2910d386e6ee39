/* Functions of device code that the host's mathematics lacks. */
#pragma once

template <class T> T __ldg(const T *address) { return *address; }
template <class To, class From> To perfdojo_bits(From value)
{
    static_assert(sizeof(To) == sizeof(From), "the same size");
    To result;
    memcpy(&result, &value, sizeof(To));
    return result;
}

inline int __float_as_int(float v) { return perfdojo_bits<int>(v); }
inline unsigned __float_as_uint(float v) { return perfdojo_bits<unsigned>(v); }
inline float __int_as_float(int v) { return perfdojo_bits<float>(v); }
inline float __uint_as_float(unsigned v) { return perfdojo_bits<float>(v); }
inline long long __double_as_longlong(double v) { return perfdojo_bits<long long>(v); }
inline double __longlong_as_double(long long v) { return perfdojo_bits<double>(v); }

inline float rsqrtf(float v) { return (float)(1 / sqrt((double)v)); }
inline double rsqrt(double v) { return 1 / sqrt(v); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1 / a; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __int2float_rn(int v) { return (float)v; }
inline int __float2int_rn(float v) { return (int)rintf(v); }
inline int __float2int_rz(float v) { return (int)v; }

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }

#define PERFDOJO_LEAST(T)                                                                        \
    inline T min(T a, T b) { return b < a ? b : a; }                                             \
    inline T max(T a, T b) { return a < b ? b : a; }
PERFDOJO_LEAST(int)
PERFDOJO_LEAST(unsigned)
PERFDOJO_LEAST(long)
PERFDOJO_LEAST(unsigned long)
PERFDOJO_LEAST(long long)
PERFDOJO_LEAST(unsigned long long)
#undef PERFDOJO_LEAST
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
