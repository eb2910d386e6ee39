/* What gcc calls for copies and fills of memory: a kernel is linked with no C library. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    if ((((uintptr_t)t | (uintptr_t)f) & 3) == 0)
        for (; bytes >= 4; bytes -= 4, t += 4, f += 4) *(uint32_t *)t = *(const uint32_t *)f;
    for (size_t k = 0; k < bytes; k++) t[k] = f[k];
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    if ((uintptr_t)t - (uintptr_t)f >= bytes) return memcpy(to, from, bytes);
    while (bytes--) t[bytes] = f[bytes];
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    char *t = to;
    for (; bytes && ((uintptr_t)t & 3); bytes--) *t++ = (char)value;
    for (; bytes >= 4; bytes -= 4, t += 4) *(uint32_t *)t = 0x01010101u * (uint8_t)value;
    while (bytes--) *t++ = (char)value;
    return to;
}
