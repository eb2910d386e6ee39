// d[0] = the sum of 1000 elements, by a tree in dynamic shared memory.
#include <cuda_runtime.h>
#ifndef SYNC
#define SYNC __syncthreads()
#endif
#ifndef INSIDE
#define INSIDE
#endif
#ifndef LEAVE
#define LEAVE
#endif
#ifndef FILLS
#define FILLS true
#endif
#ifndef BYTES
#define BYTES 1024
#endif
#ifndef THREADS
#define THREADS 256
#endif

__global__ void total_kernel(const float *s, float *d)
{
    extern __shared__ float part[];
    const unsigned t = threadIdx.x;
    float sum = 0;
    for (unsigned k = t; k < 1000; k += 256) sum += s[k];
    LEAVE;
    if (FILLS) part[t] = sum;
    SYNC;
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
            INSIDE;
        }
        SYNC;
    }
    if (t == 0) d[0] = part[0];
}

extern "C" int total(const float *s, float *d, cudaStream_t stream)
{
    void *args[] = {&s, &d};
#ifdef ASK
    if (cudaError_t e = cudaFuncSetAttribute(total_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES)) return e;
#endif
    return cudaLaunchKernel((const void *)total_kernel, dim3(1), dim3(THREADS), args, BYTES, stream);
}
