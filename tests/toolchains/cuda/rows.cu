// d[i] = the sum of row i of 8 rows of 100, one warp a row.
#include <cuda_runtime.h>
#ifndef MASK
#define MASK 0xffffffffu
#endif
#ifndef WHO
#define WHO true
#endif

__global__ void rows_kernel(const float *s, float *d)
{
    const int lane = threadIdx.x, row = blockIdx.x * 2 + threadIdx.y;
    float sum = 0;
    for (int k = lane; k < 100; k += 32) sum += s[row * 100 + k];
    if (WHO)
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(MASK, sum, step);
    if (lane == 0) d[row] = sum;
}

extern "C" int rows(const float *s, float *d, cudaStream_t stream)
{
    void *args[] = {&s, &d};
    return cudaLaunchKernel((const void *)rows_kernel, dim3(4), dim3(32, 2), args, 0, stream);
}
