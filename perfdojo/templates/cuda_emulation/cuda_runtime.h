/* Stands in for CUDA's header where a .cu file is compiled for the host, to be checked.
 *
 * `__shared__` becomes thread_local: in a function that means static storage, it goes together with `extern`, and
 * all of it lies in one block of memory whose address the runtime knows. There is one thread of the system; a
 * thread of CUDA is a fiber on it. Accesses are seen through the calls that -fsanitize=thread adds (shadow.h).
 */
#pragma once
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vector_types.h"

#define __global__ __attribute__((noinline, noclone, used))
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __shared__ thread_local __attribute__((used))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define PERFDOJO_UNSEEN __attribute__((no_sanitize("thread", "undefined"), noinline))

/* Constant for a fiber, so `const`: a copy that the compiler keeps stays right, and reads are not looked at. The
 * latter only holds for types without a constructor. */
struct perfdojo_extents {
    unsigned x, y, z;
    operator dim3() const { return dim3(x, y, z); }
};
extern "C" const uint3 threadIdx, blockIdx;
extern "C" const perfdojo_extents blockDim, gridDim;
constexpr int warpSize = 32;

typedef struct CUstream_st *cudaStream_t;
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorMisalignedAddress = 716,
};
typedef cudaError_t cudaError;
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4 };

extern "C" {
cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize(void);
const char *cudaGetErrorString(cudaError_t error);
}

template <class T> cudaError_t cudaMallocAsync(T **memory, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync((void **)memory, bytes, stream);
}

template <class T> cudaError_t cudaMalloc(T **memory, size_t bytes) { return cudaMalloc((void **)memory, bytes); }

template <class T>
cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t s = 0)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, s);
}

template <class T> cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}

#include "emulated_atomics.h"
#include "emulated_functions.h"
#include "emulated_warps.h"
