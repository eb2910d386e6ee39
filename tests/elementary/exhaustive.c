/* Runs one f32 function over all 2^32 arguments, or every STRIDE-th, and compares it with the C library's f64 function.
   Prints the largest error in ULP, the argument where it is, and the arguments where a NaN, an infinity or the
   sign of a zero is wrong. "functions.h" holds the functions; FUNCTION, REFERENCE and STRIDE are given by -D. */
#include "functions.h"

#include <stdio.h>

enum { BLOCK = 4096 };

/* What f32 is compared with: far more exact than f32, if not exact. */
static double exact_exp(double x) { return exp(x); }
static double exact_log(double x) { return log(x); }
static double exact_tanh(double x) { return tanh(x); }
static double exact_erf(double x) { return erf(x); }
static double exact_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double exact_sin(double x) { return sin(x); }
static double exact_cos(double x) { return cos(x); }
static double exact_sqrt(double x) { return sqrt(x); }
static double exact_rsqrt(double x) { return 1 / sqrt(x); }

/* Distance of f32 neighbours at |y|: the binade of the exact result counts. */
static double ulp(double y) {
    uint64_t bits;
    y = fabs(y);
    if (y < 0x1p-126) return 0x1p-149;
    if (y > 0x1p127) return 0x1p104;
    memcpy(&bits, &y, sizeof bits);
    bits = (bits & 0x7ff0000000000000u) - ((uint64_t)23 << 52);
    memcpy(&y, &bits, sizeof y);
    return y;
}

/* Error of y for the exact result r; an infinity counts as 2^128. */
static double error(double y, double r) {
    if (isnan(y) || isnan(r)) return isnan(y) && isnan(r) ? 0 : INFINITY;
    if (r == 0 && (y != 0 || signbit(y) != signbit(r))) return INFINITY;
    if (isinf(y)) y = copysign(0x1p128, y);
    if (fabs(r) > 0x1p128) r = copysign(0x1p128, r);
    return fabs(y - r) / ulp(r);
}

int main(void) {
    double worst = 0;
    uint32_t at = 0;
    uint64_t wrong = 0, blocks = (((uint64_t)1 << 32) / STRIDE + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t b = 0; b < blocks; b++) {
        float x[BLOCK], y[BLOCK];
        double largest = 0;
        uint32_t where = 0;
        for (uint32_t i = 0; i < BLOCK; i++) {
            uint32_t bits = (uint32_t)((b * BLOCK + i) * STRIDE);
            memcpy(&x[i], &bits, sizeof bits);
        }
        for (int i = 0; i < BLOCK; i++) y[i] = FUNCTION(x[i]);
        for (int i = 0; i < BLOCK; i++) {
            double e = error(y[i], REFERENCE(x[i]));
            if (isinf(e)) {
                wrong++;
            } else if (e > largest) {
                largest = e;
                memcpy(&where, &x[i], sizeof where);
            }
        }
#pragma omp critical
        if (largest > worst || (largest == worst && where < at)) {
            worst = largest;
            at = where;
        }
    }
    float x;
    memcpy(&x, &at, sizeof x);
    printf("%.6f %a %llu\n", worst, x, (unsigned long long)wrong);
    return 0;
}
