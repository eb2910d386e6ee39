/* bfloat16: the upper half of a float, computed by way of float. */
#pragma once
#include "cuda_runtime.h"

namespace perfdojo
{
inline unsigned short bfloat16_bits(float value)
{
    unsigned bits = perfdojo_bits<unsigned>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (unsigned short)0x7fffu; /* the canonical NaN of the device */
    return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
} // namespace perfdojo

struct alignas(2) __nv_bfloat16 {
    unsigned short perfdojo_raw;
    __nv_bfloat16() = default;
    __nv_bfloat16(float v) : perfdojo_raw(perfdojo::bfloat16_bits(v)) {}
    __nv_bfloat16(double v) : perfdojo_raw(perfdojo::bfloat16_bits((float)v)) {}
    __nv_bfloat16(int v) : perfdojo_raw(perfdojo::bfloat16_bits((float)v)) {}
    operator float() const { return perfdojo_bits<float>((unsigned)perfdojo_raw << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;

inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    __nv_bfloat16 b;
    b.perfdojo_raw = bits;
    return b;
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 b) { return b.perfdojo_raw; }
inline __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
inline __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
inline float __bfloat162float(__nv_bfloat16 b) { return (float)b; }
inline __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a + (float)b); }
inline __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a - (float)b); }
inline __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a * (float)b); }
inline __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
inline __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) { return __hadd(a, b); }
inline __nv_bfloat16 operator-(__nv_bfloat16 a, __nv_bfloat16 b) { return __hsub(a, b); }
inline __nv_bfloat16 operator*(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmul(a, b); }
inline __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) { return __hdiv(a, b); }

struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {(float)v.x, (float)v.y}; }
