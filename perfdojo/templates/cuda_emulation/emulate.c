/* Runs a kernel of CUDA C++ that was compiled for the host, once for each seed, and says what it did wrong.
 *
 * Works in the current folder like the harness for C: reads plan.txt, kernel.so, <i>.in for each argument i that is
 * read; writes report.json and <i>.out<k> for each argument that is written and the k-th seed. A plan has one
 * `key value` a line:
 *
 *   seed 7                               one line for each run
 *   device sm_80
 *   limit threads 1024                   one of the fields of struct limits
 *   library BYTES                        it has in memory
 *   kernel OFFSET SIGNATURE SHARED NAME  as know_kernel takes it (runtime.h); - for no parameters
 *   shared OFFSET BYTES NAME             an array in shared memory
 *   dynamic OFFSET ROOM BYTES            where dynamic shared memory starts, its room, and the bytes of all of it
 *   arg in|out|inout BYTES ALIGNMENT NAME
 *
 * Buffers are loose in even runs and tight in odd ones (buffers.h). The library has `int perfdojo_call(void **)`
 * and `void *perfdojo_dynamic_start(void)`; it starts no process and opens no connection (alone.h). Exit status 0 with a report, but for a signal (faults.h).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "alone.h"
#include "buffers.h"
#include "runtime.h"

enum { MOST_SEEDS = 64 };

struct plan {
    int count, seeds;
    uint64_t seed[MOST_SEEDS];
    size_t library_bytes, dynamic_offset, dynamic_room, shared_bytes;
    struct buffer *buffers;
    void **arguments;
    int (*call)(void **);
};

static struct plan plan;
static const char *stack_top;

void write_launches(FILE *f);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void finish(const char *path, const char *status, const char *text)
{
    char line[2048];
    int n = snprintf(line, sizeof line, "{\"status\": \"%s\", \"text\": \"%s\"}\n", status, text);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, line, (size_t)n) != n) _exit(1);
    close(file);
}

static void stop(const char *status, const char *text)
{
    finish("report.json", status, text);
    _exit(0);
}

void stop_at(const char *status, const char *text, size_t first, size_t second)
{
    FILE *f = fopen("report.json", "w");
    if (!f) _exit(1);
    fprintf(f, "{\"status\": \"%s\", \"places\": [%zu, %zu], \"text\": \"", status, first, second);
    for (const char *p = text; *p; p++) fprintf(f, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    fprintf(f, "\"}\n");
    if (fclose(f)) _exit(1);
    _exit(0);
}

static void verify_all(int tight);

#include "faults.h"

static void set_limit(const char *text)
{
    struct limits *l = &device_limits;
    char name[32];
    unsigned long long value;
    if (sscanf(text, "%31s %llu", name, &value) != 2) stop("not-runnable", "a bad plan");
    const struct { const char *name; unsigned *at; } small[] = {
        {"threads", &l->threads}, {"block_x", &l->block_x}, {"block_y", &l->block_y}, {"block_z", &l->block_z},
        {"grid_x", &l->grid_x}, {"grid_y", &l->grid_y}, {"grid_z", &l->grid_z}};
    for (size_t k = 0; k < sizeof small / sizeof *small; k++)
        if (!strcmp(name, small[k].name)) *small[k].at = (unsigned)value;
    if (!strcmp(name, "shared_static")) l->shared_static = value;
    if (!strcmp(name, "shared_most")) l->shared_most = value;
}

static void add_buffer(const char *text)
{
    char word[16];
    plan.buffers = realloc(plan.buffers, (size_t)(plan.count + 1) * sizeof *plan.buffers);
    if (!plan.buffers) stop("out-of-memory", "the arguments do not fit into memory");
    struct buffer *b = &plan.buffers[plan.count++];
    memset(b, 0, sizeof *b);
    if (sscanf(text, "%15s %zu %zu %255s", word, &b->bytes, &b->alignment, b->name) != 4)
        stop("not-runnable", "a bad plan");
    b->reads = strcmp(word, "out") != 0;
    b->writes = strcmp(word, "in") != 0;
}

static void read_plan(void)
{
    char line[4096], word[256];
    size_t offset, bytes;
    int used = 0;
    FILE *f = fopen("plan.txt", "r");
    if (!f) stop("not-runnable", "the harness found no plan");
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *rest = strchr(line, ' ');
        if (!rest) continue;
        *rest++ = 0;
        if (!strcmp(line, "seed") && plan.seeds < MOST_SEEDS) plan.seed[plan.seeds++] = strtoull(rest, NULL, 10);
        else if (!strcmp(line, "device")) snprintf(device_limits.device, sizeof device_limits.device, "%.60s", rest);
        else if (!strcmp(line, "limit")) set_limit(rest);
        else if (!strcmp(line, "library")) plan.library_bytes = strtoull(rest, NULL, 10);
        else if (!strcmp(line, "arg")) add_buffer(rest);
        else if (!strcmp(line, "dynamic")) 
            sscanf(rest, "%zu %zu %zu", &plan.dynamic_offset, &plan.dynamic_room, &plan.shared_bytes);
        else if (!strcmp(line, "kernel") && sscanf(rest, "%zu %255s %zu %n", &offset, word, &bytes, &used) == 3)
            know_kernel(offset, word, bytes, rest + used);
        else if (!strcmp(line, "shared") && sscanf(rest, "%zu %zu %n", &offset, &bytes, &used) == 2)
            know_shared(offset, bytes, rest + used);
    }
    fclose(f);
}

static void load_kernel(void)
{
    void *library = dlopen("./kernel.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        stop("not-runnable", "the library of the kernel cannot be loaded");
    }
    void *(*dynamic)(void);
    *(void **)&plan.call = dlsym(library, "perfdojo_call");
    *(void **)&dynamic = dlsym(library, "perfdojo_dynamic_start");
    Dl_info info;
    if (!plan.call || !dynamic || !dladdr(*(void **)&plan.call, &info))
        stop("not-runnable", "the library has no perfdojo_call");
    char *base = info.dli_fbase;
    start_device(base, base + plan.library_bytes, dynamic(), plan.dynamic_offset, plan.dynamic_room,
                 plan.shared_bytes);
}

static void verify_all(int tight)
{
    char text[NAME_BYTES + 128];
    for (int i = 0; i < plan.count; i++) {
        struct buffer *b = &plan.buffers[i];
        ptrdiff_t at = b->writes ? changed_canary(b, tight) : 0;
        if (!at) continue;
        snprintf(text, sizeof text, "%s has %zu bytes, but its byte %td was written", b->name, b->bytes, at);
        stop("memory-overwrite", text);
    }
}

static void run_once(int k)
{
    int tight = k & 1;
    char text[128];
    start_run(plan.seed[k]);
    for (int i = 0; i < plan.count; i++) {
        struct buffer *b = &plan.buffers[i];
        if (!place(b, (size_t)i * 17 * 64 % 4096, tight)) stop("out-of-memory", "the arguments do not fit into memory");
        plan.arguments[i] = b->data;
        know_argument(b->name, (char *)b->data, b->bytes, !b->writes ? INPUT : b->reads ? INOUT : OUTPUT);
    }
    int status = plan.call(plan.arguments);
    verify_all(tight);
    if (status) {
        snprintf(text, sizeof text, "the launcher returns %d, an error of CUDA", status);
        stop(status == 2 ? "out-of-memory" : "launch-refused", text);
    }
    end_run();
    for (int i = 0; i < plan.count; i++) {
        if (plan.buffers[i].writes && !store_output(&plan.buffers[i], i, k))
            stop("not-runnable", "the outputs cannot be written to a file");
        unplace(&plan.buffers[i]);
    }
}

int main(void)
{
    char here;
    stack_top = &here;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    read_plan();
    plan.arguments = calloc((size_t)plan.count + 1, sizeof *plan.arguments);
    if (!plan.arguments) stop("out-of-memory", "the arguments do not fit into memory");
    stay_alone();
    load_kernel();
    for (int i = 0; i < plan.count; i++)
        if (plan.buffers[i].reads && !load_input(&plan.buffers[i], i))
            stop("not-runnable", "an input file is missing or of the wrong size");
    watch_faults();
    double start = now();
    for (int k = 0; k < plan.seeds; k++) run_once(k);
    FILE *f = fopen("report.json", "w");
    if (!f) return 1;
    fprintf(f, "{\"status\": \"ok\", \"text\": \"\", \"seconds\": %.9g, \"float_atomics\": %d, \"launches\": [",
            now() - start, float_atomics());
    write_launches(f);
    fprintf(f, "]}\n");
    return fclose(f) ? 1 : 0;
}
