// y gets what the kernel received: more parameters than registers hold, of all kinds.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void parameters_kernel(double *y, int a, unsigned b, long long c, short d, unsigned char e, bool f, int g,
                                  float p, double q, float r, float s, double t, float u, float v, float w, float x,
                                  double z, signed char h, __half half)
{
    const double all[] = {(double)a, (double)b, (double)c, (double)d, (double)e, (double)f, (double)g, p, q, r,
                          s, t, u, v, w, x, z, (double)h, (double)(float)half};
    for (unsigned k = threadIdx.x; k < 19; k += blockDim.x) y[k] = all[k];
}

extern "C" int parameters(double *y, cudaStream_t stream)
{
    int a = -1, g = 7;
    unsigned b = 4000000000u;
    long long c = -5000000000ll;
    short d = -4;
    unsigned char e = 250;
    bool f = true;
    float p = 8.5f, r = 10.5f, s = 11.5f, u = 13.5f, v = 14.5f, w = 15.5f, x = 16.5f;
    double q = 9.25, t = 12.25, z = 17.25;
    signed char h = -18;
    __half half = __float2half(19.0f);
    void *args[] = {&y, &a, &b, &c, &d, &e, &f, &g, &p, &q, &r, &s, &t, &u, &v, &w, &x, &z, &h, &half};
    return cudaLaunchKernel((const void *)parameters_kernel, dim3(1), dim3(32), args, 0, stream);
}
