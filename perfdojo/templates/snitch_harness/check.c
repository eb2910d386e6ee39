/* Compares what the first call left with what is expected, on the simulated machine itself.
 *
 * For simulators from which nothing but an exit code comes back. The outputs are given as an interval for
 * every element, in numbers that are ordered as the elements are; all else (inputs, guards) must hold the
 * bytes it had before. The exit code is 32 + the number of wrong elements (200 if there are more): 32 when all is
 * well, never 0, with which a simulator may end that ran nothing. It is 240 where memory beside the outputs was
 * written, 241 for a broken calling convention, 242 for a stack that ran over, 243 where the kernel said that it
 * failed. Generated beside this: the table of checks, the intervals, and a second copy of the image.
 */
#include <stdint.h>

struct check {
    uint32_t offset;          /* of the first element in the area */
    uint32_t elements;        /* of the whole buffer; 0: words that must equal the image */
    uint32_t width;           /* bytes of an element; of the words, all bytes together */
    uint32_t kind;            /* 0 unsigned, 1 signed, 2 floating */
    uint32_t fraction;        /* bits of it when floating */
    const int64_t *intervals; /* least and greatest, for each element */
};

extern const struct check perfdojo_checks[];
extern const uint32_t perfdojo_check_count;
extern const uint32_t perfdojo_callers;
extern const uint32_t perfdojo_results[];
extern const uint8_t perfdojo_original[], perfdojo_left[];

int perfdojo_check(void);

enum { SOME_WRONG = 32, MOST = 200, MEMORY = 240, CONVENTION = 241, STACK = 242, FAILED = 243 };

/* words of perfdojo_results, as start.S lays them out */
enum { HARTS = 16, HART = 32, RETURNED = 3, KEPT = 16, STACK_WRITTEN = 17 };

/* A number that is ordered as the elements are, -0 below +0 and NaN above all. */
static int64_t ordered(const uint8_t *at, const struct check *c)
{
    uint64_t bits = 0;
    for (uint32_t k = 0; k < c->width; k++) bits |= (uint64_t)at[k] << (8 * k);
    if (c->kind == 0) return (int64_t)bits;
    uint64_t top = (uint64_t)1 << (8 * c->width - 1);
    if (c->kind == 1) return (int64_t)((bits ^ top) - top);
    uint64_t size = bits & (top - 1);
    uint64_t infinite = (top - 1) >> c->fraction << c->fraction;
    if (size > infinite) return INT64_MAX;
    return bits & top ? -(int64_t)size - 1 : (int64_t)size;
}

int perfdojo_check(void)
{
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < perfdojo_check_count; k++) {
        const struct check *c = &perfdojo_checks[k];
        const uint8_t *at = perfdojo_left + c->offset;
        const uint8_t *image = perfdojo_original + c->offset;
        if (c->elements == 0) {
            for (uint32_t j = 0; j < c->width; j++)
                if (at[j] != image[j]) return MEMORY;
            continue;
        }
        for (uint32_t j = 0; j < c->elements; j++) {
            int64_t value = ordered(at + j * c->width, c);
            wrong += value < c->intervals[2 * j] || value > c->intervals[2 * j + 1];
        }
    }
    for (uint32_t k = 0; k < perfdojo_callers && wrong == 0; k++) {
        const uint32_t *hart = perfdojo_results + HARTS + HART * k;
        if (hart[RETURNED]) return FAILED;
        if (hart[KEPT]) return CONVENTION;
        if (hart[STACK_WRITTEN]) return STACK;
    }
    return SOME_WRONG + (int)(wrong < MOST ? wrong : MOST);
}
