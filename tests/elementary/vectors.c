/* Counts the f32 arguments, of all or of every STRIDE-th, for which the emitted vector loop `f` and the scalar
   FUNCTION differ in their bits; any two NaN are equal. */
#include "functions.h"
#include "f.h"

#include <stdio.h>

enum { BLOCK = 4096 };

int main(void) {
    uint64_t different = 0, blocks = (((uint64_t)1 << 32) / STRIDE + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) reduction(+ : different)
    for (uint64_t b = 0; b < blocks; b++) {
        float x[BLOCK], y[BLOCK];
        for (uint32_t i = 0; i < BLOCK; i++) {
            uint32_t bits = (uint32_t)((b * BLOCK + i) * STRIDE);
            memcpy(&x[i], &bits, sizeof bits);
        }
        f(x, y);
        for (int i = 0; i < BLOCK; i++) {
            const float scalar = FUNCTION(x[i]);
            different += memcmp(&scalar, &y[i], sizeof scalar) != 0 && !(isnan(scalar) && isnan(y[i]));
        }
    }
    printf("%llu\n", (unsigned long long)different);
    return 0;
}
