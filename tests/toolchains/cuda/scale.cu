// y = 2 x + 1 for 1000 elements, four at a time.
#include <cuda_runtime.h>
#ifndef OFFSET
#define OFFSET 0
#endif
#ifndef BELOW
#define BELOW <
#endif

__global__ void scale_kernel(const float *__restrict__ x, float *__restrict__ y, int quads)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!(i BELOW quads)) return;
    float4 v = __ldg(reinterpret_cast<const float4 *>(x + OFFSET) + i);
    v = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
    reinterpret_cast<float4 *>(y)[i] = v;
}

extern "C" int scale(const float *x, float *y, cudaStream_t stream)
{
    int quads = 250;
    void *args[] = {&x, &y, &quads};
    return cudaLaunchKernel((const void *)scale_kernel, dim3(4), dim3(64), args, 0, stream);
}
