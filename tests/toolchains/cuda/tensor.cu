// C = A B by tensor cores, 32 x 32, a warp for each tile of C.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
using namespace nvcuda;
#ifndef TYPE
#define TYPE __half
#define STORED __half
#define DEPTH 16
#endif
#ifndef LEFT
#define LEFT a + row * 32 + k, 32
#endif
#ifndef WARP
#define WARP true
#endif

__global__ void tensor_kernel(const STORED *a, const STORED *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, DEPTH, TYPE, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, DEPTH, TYPE, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, DEPTH, float> sum;
    const int row = blockIdx.y * 16, column = blockIdx.x * 16;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < 32; k += DEPTH) {
        wmma::load_matrix_sync(left, LEFT);
        wmma::load_matrix_sync(right, b + k * 32 + column, 32);
#ifdef ROUND
        for (int i = 0; i < left.num_elements; i++) left.x[i] = wmma::__float_to_tf32(left.x[i]);
        for (int i = 0; i < right.num_elements; i++) right.x[i] = wmma::__float_to_tf32(right.x[i]);
#endif
        if (WARP) wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * 32 + column, sum, 32, wmma::mem_row_major);
}

extern "C" int tensor(const STORED *a, const STORED *b, float *c, cudaStream_t stream)
{
    void *args[] = {&a, &b, &c};
    return cudaLaunchKernel((const void *)tensor_kernel, dim3(2, 2), dim3(32), args, 0, stream);
}
