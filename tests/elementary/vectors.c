/* Counts the f32 arguments, of all or of every so many-th, for which an emitted vector loop and the scalar
   function differ in their bits; any two NaN are equal. Called with the name of a function and the step. */
#include "functions.h"
HEADERS

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096 };

#define COUNT(NAME)                                                                                           \
    static uint64_t count_##NAME(uint64_t step) {                                                             \
        uint64_t different = 0, blocks = (((uint64_t)1 << 32) / step + BLOCK - 1) / BLOCK;                    \
        _Pragma("omp parallel for schedule(static) reduction(+ : different)")                                 \
        for (uint64_t b = 0; b < blocks; b++) {                                                               \
            float x[BLOCK], y[BLOCK];                                                                         \
            for (uint32_t i = 0; i < BLOCK; i++) {                                                            \
                uint32_t bits = (uint32_t)((b * BLOCK + i) * step);                                           \
                memcpy(&x[i], &bits, sizeof bits);                                                            \
            }                                                                                                 \
            v_##NAME(x, y);                                                                                   \
            for (int i = 0; i < BLOCK; i++) {                                                                 \
                const float scalar = pd_##NAME##_f32(x[i]);                                                   \
                different += memcmp(&scalar, &y[i], sizeof scalar) != 0 && !(isnan(scalar) && isnan(y[i]));   \
            }                                                                                                 \
        }                                                                                                     \
        return different;                                                                                     \
    }
#define CALL(NAME)                                                                                            \
    if (strcmp(argv[1], #NAME) == 0) different = count_##NAME(strtoull(argv[2], NULL, 10)), found = 1;

COUNTS

int main(int argc, char **argv) {
    uint64_t different = 0;
    int found = 0;
    if (argc != 3) return 2;
    CALLS
    printf("%llu\n", (unsigned long long)different);
    return found ? 0 : 2;
}
