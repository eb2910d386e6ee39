/* Tensor-core products of a warp: 16x16x16 of half or bfloat16, 16x16x8 of tf32, summed in float.
 *
 * CUDA leaves open which lane holds which element, so programs may only treat all elements alike. Here lane k
 * holds a run of them in row-major order. Products are exact and summed in double: the device, whose order and
 * rounding are not documented, is less exact.
 */
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

extern "C" {
void perfdojo_access(const void *address, size_t bytes, int writes, const void *from);
void perfdojo_matrix(const void *address, size_t line_bytes, const void *from);
}

namespace nvcuda
{
namespace wmma
{
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision
{
struct tf32 {};
} // namespace precision

template <class T> struct element_of {
    typedef T type;
};
template <> struct element_of<precision::tf32> {
    typedef float type;
};

template <class Use, int M, int N, int K> struct extents;
template <int M, int N, int K> struct extents<matrix_a, M, N, K> {
    enum { rows = M, columns = K };
};
template <int M, int N, int K> struct extents<matrix_b, M, N, K> {
    enum { rows = K, columns = N };
};
template <int M, int N, int K> struct extents<accumulator, M, N, K> {
    enum { rows = M, columns = N };
};

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment : extents<Use, M, N, K> {
    typedef typename element_of<T>::type element_type;
    enum { num_elements = extents<Use, M, N, K>::rows * extents<Use, M, N, K>::columns / 32 };
    static constexpr int num_storage_elements = num_elements;
    element_type x[num_elements];
};

inline float __float_to_tf32(float value) /* to nearest, ties away from zero, as cvt.rna does */
{
    unsigned bits = perfdojo_bits<unsigned>(value);
    if ((bits & 0x7f800000u) == 0x7f800000u) return value;
    return perfdojo_bits<float>((bits + 0x1000u) & ~0x1fffu);
}

/* What the unit takes of a number: of a tf32, the lower 13 bits are ignored. */
template <class T> struct operand {
    static double of(float v) { return (double)v; }
};
template <> struct operand<precision::tf32> {
    static double of(float v) { return (double)perfdojo_bits<float>(perfdojo_bits<unsigned>(v) & ~0x1fffu); }
};

inline PERFDOJO_UNSEEN void resolve_nothing(void **, unsigned) {}

inline void meet(const char *what, int line, const char *file)
{
    char nothing;
    perfdojo_together(what, 0xffffffffu, line, file, &nothing, resolve_nothing);
}

template <class F, class T> PERFDOJO_UNSEEN void move_elements(F &f, T *address, unsigned stride, bool rows, bool out)
{
    perfdojo_matrix(address, stride * sizeof(T), __builtin_return_address(0));
    for (int k = 0; k < F::num_elements; k++) {
        unsigned e = perfdojo_lane() * F::num_elements + (unsigned)k;
        unsigned row = e / F::columns, column = e % F::columns;
        T *at = address + (rows ? row * stride + column : column * stride + row);
        perfdojo_access(at, sizeof(T), out, __builtin_return_address(0));
        if (out) *at = f.x[k];
        else f.x[k] = *at;
    }
}

template <class L> struct is_row_major {
    enum { value = 0 };
};
template <> struct is_row_major<row_major> {
    enum { value = 1 };
};

template <class Use, int M, int N, int K, class T, class L, class E>
__forceinline__ void load_matrix_sync(fragment<Use, M, N, K, T, L> &f, const E *address, unsigned stride, PERFDOJO_PLACE)
{
    meet("load_matrix_sync", line, file);
    move_elements(f, const_cast<E *>(address), stride, is_row_major<L>::value, false);
}

template <int M, int N, int K, class T>
__forceinline__ void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *address, unsigned stride, layout_t layout,
                      PERFDOJO_PLACE)
{
    meet("load_matrix_sync", line, file);
    move_elements(f, const_cast<T *>(address), stride, layout == mem_row_major, false);
}

template <int M, int N, int K, class T>
__forceinline__ void store_matrix_sync(T *address, const fragment<accumulator, M, N, K, T> &f, unsigned stride, layout_t layout,
                       PERFDOJO_PLACE)
{
    meet("store_matrix_sync", line, file);
    move_elements(const_cast<fragment<accumulator, M, N, K, T> &>(f), address, stride, layout == mem_row_major, true);
}

template <class Use, int M, int N, int K, class T, class L, class V>
void fill_fragment(fragment<Use, M, N, K, T, L> &f, const V &value)
{
    for (auto &x : f.x) x = value;
}

template <class D, class A, class B, class C> struct Product {
    D *d;
    const A *a;
    const B *b;
    const C *c;
};

template <int M, int N, int K, class D, class T, class A, class B, class C>
PERFDOJO_UNSEEN void resolve_product(void **lanes, unsigned)
{
    typedef Product<D, A, B, C> P;
    static double sum[M * N];
    for (int e = 0; e < M * N; e++) sum[e] = (double)(float)((P *)lanes[e / C::num_elements])->c->x[e % C::num_elements];
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) {
            int at = i * K + k;
            double x = operand<T>::of((float)((P *)lanes[at / A::num_elements])->a->x[at % A::num_elements]);
            for (int j = 0; j < N; j++) {
                int bt = k * N + j;
                sum[i * N + j] += x * operand<T>::of((float)((P *)lanes[bt / B::num_elements])->b->x[bt % B::num_elements]);
            }
        }
    for (int e = 0; e < M * N; e++) ((P *)lanes[e / D::num_elements])->d->x[e % D::num_elements] = (float)sum[e];
}

template <int M, int N, int K, class S, class T, class LA, class LB>
void mma_sync(fragment<accumulator, M, N, K, S> &d, const fragment<matrix_a, M, N, K, T, LA> &a,
              const fragment<matrix_b, M, N, K, T, LB> &b, const fragment<accumulator, M, N, K, S> &c, PERFDOJO_PLACE)
{
    typedef fragment<accumulator, M, N, K, S> D;
    typedef fragment<matrix_a, M, N, K, T, LA> A;
    typedef fragment<matrix_b, M, N, K, T, LB> B;
    Product<D, A, B, D> mine{&d, &a, &b, &c};
    perfdojo_together("mma_sync", 0xffffffffu, line, file, &mine, resolve_product<M, N, K, D, T, A, B, D>);
}
} // namespace wmma
} // namespace nvcuda
