// C = A B, 96 x 96: tiles of 32 x 32, four columns a thread, float4 through dynamic shared memory of two stages.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#ifndef BEHIND
#define BEHIND __syncthreads()
#endif
#ifndef STAGE
#define STAGE(k) ((k) & 1)
#endif
enum { N = 96, TILE = 32, WORDS = TILE * TILE };

__device__ __forceinline__ void fetch(float *to, const float *from, int row, int column)
{
    __pipeline_memcpy_async(to + row * TILE + column, from + row * N + column, sizeof(float4));
}

__global__ void __launch_bounds__(256) tiled_kernel(const float *__restrict__ a, const float *__restrict__ b,
                                                    float *__restrict__ c)
{
    extern __shared__ __align__(16) float stages[];
    const int y = threadIdx.x / 8, x = 4 * (threadIdx.x % 8);
    const float *rows = a + blockIdx.y * TILE * N, *columns = b + blockIdx.x * TILE;
    float4 sum = make_float4(0, 0, 0, 0);
    fetch(stages, rows, y, x);
    fetch(stages + WORDS, columns, y, x);
    __pipeline_commit();
    for (int k = 0; k < N / TILE; k++) {
        float *left = stages + STAGE(k) * 2 * WORDS, *right = left + WORDS;
        if (k + 1 < N / TILE) {
            float *next = stages + STAGE(k + 1) * 2 * WORDS;
            fetch(next, rows + (k + 1) * TILE, y, x);
            fetch(next + WORDS, columns + (k + 1) * TILE * N, y, x);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < TILE; j++) {
            const float l = left[y * TILE + j];
            const float4 r = *reinterpret_cast<const float4 *>(right + j * TILE + x);
            sum.x = fmaf(l, r.x, sum.x), sum.y = fmaf(l, r.y, sum.y);
            sum.z = fmaf(l, r.z, sum.z), sum.w = fmaf(l, r.w, sum.w);
        }
        BEHIND;
    }
    *reinterpret_cast<float4 *>(c + (blockIdx.y * TILE + y) * N + blockIdx.x * TILE + x) = sum;
}

extern "C" int tiled(const float *a, const float *b, float *c, cudaStream_t stream)
{
    const int bytes = 4 * WORDS * sizeof(float);
    void *args[] = {&a, &b, &c};
    cudaError_t e = cudaFuncSetAttribute((const void *)tiled_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (!e) e = cudaLaunchKernel((const void *)tiled_kernel, dim3(3, 3), dim3(256), args, bytes, stream);
    return e;
}
