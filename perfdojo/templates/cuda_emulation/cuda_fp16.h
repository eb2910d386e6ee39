/* Half precision: stored as 16 bits, computed by way of float, which for one operation rounds the same. */
#pragma once
#include "cuda_runtime.h"

namespace perfdojo
{
/* To the nearest half, ties to even; a NaN becomes a quiet one. */
inline unsigned short half_bits(float value)
{
    unsigned bits = perfdojo_bits<unsigned>(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return (unsigned short)0x7fffu; /* the canonical NaN of the device */
    if (rest >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u); /* 65520 and more */
    if (rest < 0x38800000u) { /* below 2^-14: a multiple of 2^-24 */
        float scaled = perfdojo_bits<float>(rest) * 16777216.0f;
        return (unsigned short)(sign | (unsigned)rintf(scaled));
    }
    unsigned odd = rest >> 13 & 1;
    return (unsigned short)(sign | ((rest - 0x38000000u + 0xfffu + odd) >> 13));
}

inline float half_value(unsigned short bits)
{
    unsigned sign = (unsigned)(bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, mantissa = bits & 0x3ffu;
    if (exponent == 31) return perfdojo_bits<float>(sign | 0x7f800000u | mantissa << 13);
    if (!exponent) {
        float value = (float)mantissa / 16777216.0f;
        return sign ? -value : value;
    }
    return perfdojo_bits<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}
} // namespace perfdojo

struct alignas(2) __half {
    unsigned short perfdojo_raw;
    __half() = default;
    __half(float v) : perfdojo_raw(perfdojo::half_bits(v)) {}
    __half(double v) : perfdojo_raw(perfdojo::half_bits((float)v)) {}
    __half(int v) : perfdojo_raw(perfdojo::half_bits((float)v)) {}
    operator float() const { return perfdojo::half_value(perfdojo_raw); }
};
typedef __half half;

inline __half __ushort_as_half(unsigned short bits)
{
    __half h;
    h.perfdojo_raw = bits;
    return h;
}
inline unsigned short __half_as_ushort(__half h) { return h.perfdojo_raw; }
inline __half __float2half(float v) { return __half(v); }
inline __half __float2half_rn(float v) { return __half(v); }
inline float __half2float(__half h) { return (float)h; }
inline __half __hadd(__half a, __half b) { return __half((float)a + (float)b); }
inline __half __hsub(__half a, __half b) { return __half((float)a - (float)b); }
inline __half __hmul(__half a, __half b) { return __half((float)a * (float)b); }
inline __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
inline __half __hneg(__half a) { return __ushort_as_half(a.perfdojo_raw ^ 0x8000u); }
inline __half operator+(__half a, __half b) { return __hadd(a, b); }
inline __half operator-(__half a, __half b) { return __hsub(a, b); }
inline __half operator*(__half a, __half b) { return __hmul(a, b); }
inline __half operator/(__half a, __half b) { return __hdiv(a, b); }
inline __half &operator+=(__half &a, __half b) { return a = a + b; }
inline __half &operator-=(__half &a, __half b) { return a = a - b; }
inline __half &operator*=(__half &a, __half b) { return a = a * b; }

struct alignas(4) __half2 {
    __half x, y;
};
typedef __half2 half2;
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __half22float2(__half2 v) { return {(float)v.x, (float)v.y}; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline float __low2float(__half2 v) { return (float)v.x; }
inline float __high2float(__half2 v) { return (float)v.y; }
