/* Between the program that checks a kernel (emulate.c) and the emulated device (runtime.cc). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum role { INPUT, OUTPUT, INOUT };

/* What a device allows, by the names in the plan. */
struct limits {
    unsigned threads, block_x, block_y, block_z, grid_x, grid_y, grid_z;
    size_t shared_static, shared_most;
    char device[64];
};

extern struct limits device_limits;

/* A function of the library: where it starts in it, its name for people, one letter for each parameter (p a pointer or
 * integer of 8 bytes, i I 4 bytes, s S 2, b B 1, capital letters unsigned; f float, d double, ? not supported), and
 * the bytes of static shared memory that it declares. */
void know_kernel(size_t offset, const char *signature, size_t shared_bytes, const char *name);
/* An array in shared memory: where it lies in the block of thread-local storage. */
void know_shared(size_t offset, size_t bytes, const char *name);

/* The library: where it lies, and its dynamic shared memory, which has room for `room` bytes, in a block of `bytes` that
 * starts `offset` before it. */
void start_device(char *library, char *library_end, char *dynamic, size_t offset, size_t room, size_t bytes);
void start_run(uint64_t seed);
void know_argument(const char *name, char *data, size_t bytes, enum role role);
/* Ends the process where a workspace is left; float atomics: results may depend on the order. */
void end_run(void);
int float_atomics(void);

/* Report and end the process. A place in the code is written @1 or @2 in the text, and the offset is given here. */
__attribute__((noreturn)) void stop_at(const char *status, const char *text, size_t first, size_t second);

#ifdef __cplusplus
}
#endif
