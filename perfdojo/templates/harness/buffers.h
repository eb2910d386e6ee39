/* Arguments in memory: each between canaries and guard pages, inputs read-only.
 *
 *   loose | guard page | canaries, a page at least | data | canaries, a page at least | guard page |
 *   tight | guard page | canaries, a page at least          | data | guard page |
 *
 * Loose, data is aligned to 64 bytes; a near write outside shows in the canaries. Tight, data ends where the guard
 * page starts, as nearly as the alignment that the kernel relies on allows; a touch behind it is a fault.
 *
 * Canaries and fresh outputs hold a pattern. There are two, one for each way: the first is a NaN in every float type,
 * the second a number. A byte that holds the first after one run and the second after another was never written.
 * Inputs have others than outputs, so that what is computed from the one does not pass for the other.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 256, HUGE_PAGE = 2 << 20 };

/* [loose, tight][input, output][even byte, odd byte] */
static const unsigned char PATTERNS[2][2][2] = {{{0xFB, 0x7F}, {0xFD, 0x7F}}, {{0x29, 0x3D}, {0x35, 0xB6}}};

struct buffer {
    char name[NAME_BYTES];
    int reads, writes;
    size_t bytes, alignment; /* alignment: that the kernel relies on */
    unsigned char *region, *inner, *data, *saved;
    size_t region_bytes, inner_bytes;
};

static size_t page_bytes;

static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

static unsigned char pattern_byte(const struct buffer *b, const unsigned char *p, int tight)
{
    return PATTERNS[tight][b->writes][(size_t)(p - b->data) & 1];
}

static void fill(const struct buffer *b, unsigned char *from, unsigned char *to, int tight)
{
    const size_t block = 4096;
    unsigned char *p = from;
    for (; p < to && (size_t)(p - from) < block; p++) *p = pattern_byte(b, p, tight);
    for (; p < to; p += block) memcpy(p, from, (size_t)(to - p) < block ? (size_t)(to - p) : block);
}

/* Make the memory of b; loose data lies `stagger` bytes behind the start of a page. Returns 0 when there is none. */
static int place(struct buffer *b, size_t stagger, int tight)
{
    size_t align = !tight && b->bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : page_bytes;
    size_t length = tight ? round_up(b->bytes, b->alignment) : b->bytes;
    b->inner_bytes = page_bytes + round_up(tight ? length : stagger + length + page_bytes, page_bytes);
    b->region_bytes = page_bytes + align + b->inner_bytes + page_bytes;
    b->region = mmap(NULL, b->region_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->region == MAP_FAILED) return 0;
    b->inner = (unsigned char *)round_up((uintptr_t)b->region + 2 * page_bytes, align) - page_bytes;
    b->data = tight ? b->inner + b->inner_bytes - length : b->inner + page_bytes + stagger;
    if (mprotect(b->inner, b->inner_bytes, PROT_READ | PROT_WRITE)) return 0;
    if (align == HUGE_PAGE) madvise(b->inner, b->inner_bytes, MADV_HUGEPAGE);
    fill(b, b->inner, b->data, tight);
    fill(b, b->data + b->bytes, b->inner + b->inner_bytes, tight);
    if (b->reads) memcpy(b->data, b->saved, b->bytes);
    else fill(b, b->data, b->data + b->bytes, tight);
    if (!b->writes && mprotect(b->inner, b->inner_bytes, PROT_READ)) return 0;
    return 1;
}

static void unplace(struct buffer *b)
{
    munmap(b->region, b->region_bytes);
    b->region = NULL;
}

/* The first changed canary as a byte offset from the start of the data; 0 when all are whole
 * (offset 0 belongs to the data). */
static ptrdiff_t changed_canary(const struct buffer *b, int tight)
{
    const unsigned char *end = b->inner + b->inner_bytes;
    for (const unsigned char *p = b->data + b->bytes; p < end; p++)
        if (*p != pattern_byte(b, p, tight)) return p - b->data;
    for (const unsigned char *p = b->data - 1; p >= b->inner; p--)
        if (*p != pattern_byte(b, p, tight)) return p - b->data;
    return 0;
}

/* Map the file of b; 0 when there is no file of its size. */
static int load_input(struct buffer *b, int number)
{
    char path[32];
    struct stat state;
    snprintf(path, sizeof path, "%d.in", number);
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &state) || (size_t)state.st_size != b->bytes) return 0;
    b->saved = mmap(NULL, b->bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    return b->saved != MAP_FAILED;
}

static int store_output(const struct buffer *b, int number, int tight)
{
    char path[32];
    snprintf(path, sizeof path, "%d.out%d", number, tight);
    FILE *f = fopen(path, "wb");
    int good = f && fwrite(b->data, 1, b->bytes, f) == b->bytes;
    if (f && fclose(f)) good = 0;
    return good;
}
