// d = softmax of each of 6 rows of 200, a block a row.
#include <cuda_runtime.h>
#ifndef REUSE
#define REUSE __syncthreads()
#endif

__device__ float all_of(float v, bool is_max, float *scratch)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, v, step);
        v = is_max ? fmaxf(v, other) : v + other;
    }
    if (lane == 0) scratch[warp] = v;
    __syncthreads();
    v = scratch[0];
    for (int k = 1; k < 4; k++) v = is_max ? fmaxf(v, scratch[k]) : v + scratch[k];
    return v;
}

__global__ void softmax_kernel(const float *s, float *d)
{
    __shared__ float scratch[4];
    const float *row = s + blockIdx.x * 200;
    float most = -INFINITY, sum = 0;
    for (int k = threadIdx.x; k < 200; k += 128) most = fmaxf(most, row[k]);
    most = all_of(most, true, scratch);
    REUSE;
    for (int k = threadIdx.x; k < 200; k += 128) sum += expf(row[k] - most);
    sum = all_of(sum, false, scratch);
    for (int k = threadIdx.x; k < 200; k += 128) d[blockIdx.x * 200 + k] = expf(row[k] - most) / sum;
}

extern "C" int softmax(const float *s, float *d, cudaStream_t stream)
{
    void *args[] = {&s, &d};
    return cudaLaunchKernel((const void *)softmax_kernel, dim3(6), dim3(128), args, 0, stream);
}
