/* Lanes of a packed 64-bit register. */
#ifndef PERFDOJO_SNITCH_FP_LANES_H
#define PERFDOJO_SNITCH_FP_LANES_H

#include "fp_soft.h"

static inline uint64_t fp_lane(enum fp_fmt f, uint64_t reg, int i) {
    return reg >> (i * fp_layouts[f].width) & fp_mask(f);
}

static inline uint64_t fp_put_lane(enum fp_fmt f, uint64_t reg, int i, uint64_t v) {
    int at = i * fp_layouts[f].width;
    return (reg & ~(fp_mask(f) << at)) | v << at;
}

#endif
