/* Vector types of CUDA C++ with the sizes and alignments of the CUDA C++ Programming Guide. */
#pragma once

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
};

#define PERFDOJO_VECTORS(T, name, align2, align4)                                                \
    struct name##1 { T x; };                                                                     \
    struct alignas(align2) name##2 { T x, y; };                                                  \
    struct name##3 { T x, y, z; };                                                               \
    struct alignas(align4) name##4 { T x, y, z, w; };                                            \
    inline name##1 make_##name##1(T x) { return {x}; }                                           \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                   \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                           \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

PERFDOJO_VECTORS(signed char, char, 2, 4)
PERFDOJO_VECTORS(unsigned char, uchar, 2, 4)
PERFDOJO_VECTORS(short, short, 4, 8)
PERFDOJO_VECTORS(unsigned short, ushort, 4, 8)
PERFDOJO_VECTORS(int, int, 8, 16)
PERFDOJO_VECTORS(unsigned, uint, 8, 16)
PERFDOJO_VECTORS(float, float, 8, 16)

#define PERFDOJO_WIDE(T, name)                                                                   \
    struct name##1 { T x; };                                                                     \
    struct alignas(16) name##2 { T x, y; };                                                      \
    inline name##1 make_##name##1(T x) { return {x}; }                                           \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }

PERFDOJO_WIDE(long long, longlong)
PERFDOJO_WIDE(unsigned long long, ulonglong)
PERFDOJO_WIDE(double, double)
#undef PERFDOJO_VECTORS
#undef PERFDOJO_WIDE
