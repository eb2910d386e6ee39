// C = A B, 32 x 32, the next tiles on their way while the present ones are used (cp.async).
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#ifndef WAIT
#define WAIT(n) __pipeline_wait_prior(n)
#endif
#ifndef LAST
#define LAST __syncthreads()
#endif

__global__ void pipeline_kernel(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    __shared__ __align__(16) float left[2][16][16], right[2][16][16];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    auto fetch = [&](int k) {
        if (x < 4) {
            __pipeline_memcpy_async(&left[k % 2][y][4 * x], &a[row * 32 + 16 * k + 4 * x], 16);
            __pipeline_memcpy_async(&right[k % 2][y][4 * x], &b[(16 * k + y) * 32 + blockIdx.x * 16 + 4 * x], 16);
        }
        __pipeline_commit();
    };
    float sum = 0;
    fetch(0);
    for (int k = 0; k < 2; k++) {
        if (k + 1 < 2) fetch(k + 1);
        else __pipeline_commit();
        WAIT(1);
        __syncthreads();
        for (int j = 0; j < 16; j++) sum = fmaf(left[k % 2][y][j], right[k % 2][j][x], sum);
        LAST;
    }
    c[row * 32 + column] = sum;
}

extern "C" int pipeline(const float *a, const float *b, float *c, cudaStream_t stream)
{
    void *args[] = {&a, &b, &c};
    return cudaLaunchKernel((const void *)pipeline_kernel, dim3(2, 2), dim3(16, 16), args, 0, stream);
}
