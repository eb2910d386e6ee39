// d[i] = what thread i sees of counters that others add to; how they are ordered is chosen by a flag.
#include <cuda_runtime.h>
#ifndef FIRST
#define FIRST __syncwarp()
#endif
#ifndef SECOND
#define SECOND __syncwarp()
#endif
#ifndef WHICH
#define WHICH (threadIdx.x / 32)
#endif

__global__ void order_kernel(const int *s, int *d)
{
    __shared__ int counts[2];
    const int i = threadIdx.x;
    if (i % 32 == 0) counts[i / 32] = 0;
    FIRST;
    atomicAdd(&counts[WHICH], s[i]);
    SECOND;
    d[i] = counts[i / 32];
}

extern "C" int order(const int *s, int *d, cudaStream_t stream)
{
    void *args[] = {&s, &d};
    return cudaLaunchKernel((const void *)order_kernel, dim3(1), dim3(64), args, 0, stream);
}
