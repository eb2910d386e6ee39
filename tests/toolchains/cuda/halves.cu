// Conversions of all halves and bfloat16 to float, and of floats to both.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void halves_kernel(const __half *h, const __nv_bfloat16 *b, const float *f, float *from_h, float *from_b,
                              __half *to_h, __nv_bfloat16 *to_b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    from_h[i] = __half2float(h[i]);
    from_b[i] = __bfloat162float(b[i]);
    to_h[i] = __float2half(f[i]);
    to_b[i] = __float2bfloat16(f[i]);
}

extern "C" int halves(const __half *h, const __nv_bfloat16 *b, const float *f, float *from_h, float *from_b,
                      __half *to_h, __nv_bfloat16 *to_b, cudaStream_t stream)
{
    void *args[] = {&h, &b, &f, &from_h, &from_b, &to_h, &to_b};
    return cudaLaunchKernel((const void *)halves_kernel, dim3(256), dim3(256), args, 0, stream);
}
