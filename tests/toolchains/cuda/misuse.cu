// y = x, 64 elements; flags let the kernel or the launcher do what they must not.
#include <cuda_runtime.h>
#ifndef DOES
#define DOES
#endif
#ifndef HOST
#define HOST
#endif
#ifndef ALSO
#define ALSO int
#endif
struct Pair {
    long long a, b;
};
__device__ float *kept;

__global__ void misuse_kernel(float *x, float *y, ALSO also)
{
    const int i = threadIdx.x;
    DOES;
    y[i] = x[i];
    (void)also;
}

extern "C" int misuse(const float *x, float *y, cudaStream_t stream)
{
    ALSO also{};
    void *args[] = {&x, &y, &also};
    HOST;
    return cudaLaunchKernel((const void *)misuse_kernel, dim3(1), dim3(64), args, 0, stream);
}
