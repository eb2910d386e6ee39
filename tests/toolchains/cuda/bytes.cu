// d = s reversed in each block of 64 bytes: neighbours in one word belong to different threads.
#include <cuda_runtime.h>
#ifndef SHIFT
#define SHIFT 0
#endif

__constant__ int last[1] = {63};

__global__ void bytes_kernel(const signed char *s, signed char *d)
{
    __shared__ signed char kept[64];
    const int i = threadIdx.x, first = blockIdx.x * 64;
    kept[i] = s[first + i];
    __syncthreads();
    d[first + i / (1 + SHIFT)] = kept[last[0] - i];
}

extern "C" int bytes(const signed char *s, signed char *d, cudaStream_t stream)
{
    void *args[] = {&s, &d};
    return cudaLaunchKernel((const void *)bytes_kernel, dim3(3), dim3(64), args, 0, stream);
}
