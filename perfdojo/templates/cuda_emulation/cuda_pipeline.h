/* Asynchronous copies into shared memory: what they bring arrives when the thread waits for it, not before. */
#pragma once
#include "cuda_runtime.h"

extern "C" {
void perfdojo_copy_async(void *to, const void *from, size_t bytes, size_t zeros);
void perfdojo_copy_commit(void);
void perfdojo_copy_wait(size_t left);
}

inline __attribute__((always_inline)) void
__pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
    perfdojo_copy_async(to, from, bytes, zeros);
}
inline void __pipeline_commit() { perfdojo_copy_commit(); }
inline void __pipeline_wait_prior(size_t left) { perfdojo_copy_wait(left); }
