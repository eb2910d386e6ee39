// Keeps 64 values at a time in the registers of a thread, which has 32: some go to local memory.
#include <cuda_runtime.h>
#ifndef BOUNDS
#define BOUNDS __launch_bounds__(1024, 2)
#endif

__global__ void BOUNDS spill_kernel(const float *x, float *y)
{
    float v[64];
    const unsigned t = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 64; k++) v[k] = x[k * 1024 + t];
#pragma unroll
    for (int k = 0; k < 64; k++) v[k] = fmaf(v[k], v[(k * 7 + 3) % 64], v[(k * 5 + 1) % 64]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 64; k++) y[k * 1024 + t] = v[k] * v[63 - k];
}

extern "C" int spill(const float *x, float *y, cudaStream_t stream)
{
    void *args[] = {&x, &y};
    return cudaLaunchKernel((const void *)spill_kernel, dim3(1), dim3(1024), args, 0, stream);
}
