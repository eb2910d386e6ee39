// C = A B for square matrices whose extent is a multiple of 16, through tiles in shared memory.
#include <cuda_runtime.h>
#ifndef N
#define N 64
#endif
#ifndef SYNC1
#define SYNC1 __syncthreads()
#endif
#ifndef SYNC2
#define SYNC2 __syncthreads()
#endif
#ifndef INDEX
#define INDEX(k) (k)
#endif

__global__ void __launch_bounds__(256) product_kernel(const float *__restrict__ a, const float *__restrict__ b,
                                                      float *__restrict__ c)
{
    __shared__ float left[16][16], right[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k = 0; k < N; k += 16) {
        left[y][x] = a[row * N + k + x];
        right[y][x] = b[(k + y) * N + column];
        SYNC1;
        for (int j = 0; j < 16; j++) sum = fmaf(left[y][INDEX(j)], right[j][x], sum);
        SYNC2;
    }
    c[row * N + column] = sum;
}

extern "C" int product(const float *a, const float *b, float *c, cudaStream_t stream)
{
    void *args[] = {&a, &b, &c};
    return cudaLaunchKernel((const void *)product_kernel, dim3(N / 16, N / 16), dim3(16, 16), args, 0, stream);
}
