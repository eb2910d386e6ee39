/* Runs or times one kernel from a shared library, in a process of its own.
 *
 * Works in the current folder: reads plan.txt, kernel.so, <i>.in for each argument i that is read;
 * writes report.json and, when it checks, <i>.out0 and <i>.out1 for each argument that is written.
 * A plan has one `key value` a line:
 *
 *   mode check|time|calls
 *   calls 2                        that many calls, in mode calls
 *   cpus 1 0                       to run on; none: anywhere
 *   cold 0|1                       whether caches are emptied before each call
 *   evict_bytes 67108864           more than all caches hold
 *   budget_s 1.0
 *   sample_s 5e-5                  shortest sample
 *   call_s 0.2                     a call that takes longer is cut short; none: no call is
 *   arg in|out|inout BYTES ALIGNMENT NAME
 *
 * with the arguments in the order of the function and the alignment, in bytes, that it relies on. A check runs the
 * kernel twice, with loose and with tight buffers (buffers.h); times are taken with loose ones.
 *
 * The library has `int perfdojo_call(void **arguments)`. Exit status 0 with a report, whatever the kernel did,
 * but for a signal: then fault.json says which, and the signal ends the process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "alone.h"
#include "buffers.h"

struct plan {
    int timing, cold, cpu_count, calls;
    size_t evict_bytes;
    double budget_s, sample_s, call_s;
    cpu_set_t cpus;
    int count;
    struct buffer *buffers;
    void **arguments;
    int (*call)(void **);
};

static struct plan plan;
static const char *stack_top;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Write {"status": ..., "text": ...}; names and texts need no escapes. Safe in a signal handler. */
static void finish(const char *path, const char *status, const char *text)
{
    char line[1024];
    int n = snprintf(line, sizeof line, "{\"status\": \"%s\", \"text\": \"%s\"}\n", status, text);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, line, (size_t)n) != n) _exit(1);
    close(file);
}

static void stop(const char *status, const char *text)
{
    finish("report.json", status, text);
    exit(0);
}

static void verify_all(int tight);

#include "faults.h"
#include "patience.h"
#include "timing.h"

static void out_of_memory(void) { stop("out-of-memory", "the arguments do not fit into memory"); }

static void read_plan(void)
{
    char line[1024], word[16];
    FILE *f = fopen("plan.txt", "r");
    if (!f) stop("not-runnable", "the harness found no plan");
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *rest = strchr(line, ' ');
        if (!rest) continue;
        *rest++ = 0;
        if (!strcmp(line, "mode")) plan.timing = !strcmp(rest, "time");
        else if (!strcmp(line, "calls")) plan.calls = atoi(rest);
        else if (!strcmp(line, "cold")) plan.cold = atoi(rest);
        else if (!strcmp(line, "evict_bytes")) plan.evict_bytes = strtoull(rest, NULL, 10);
        else if (!strcmp(line, "budget_s")) plan.budget_s = atof(rest);
        else if (!strcmp(line, "sample_s")) plan.sample_s = atof(rest);
        else if (!strcmp(line, "call_s")) plan.call_s = atof(rest);
        else if (!strcmp(line, "cpus")) {
            for (char *p = strtok(rest, " "); p; p = strtok(NULL, " "), plan.cpu_count++) CPU_SET(atoi(p), &plan.cpus);
        } else if (!strcmp(line, "arg")) {
            plan.buffers = realloc(plan.buffers, (size_t)(plan.count + 1) * sizeof *plan.buffers);
            struct buffer *b = plan.buffers ? &plan.buffers[plan.count++] : NULL;
            if (!b) out_of_memory();
            memset(b, 0, sizeof *b);
            if (sscanf(rest, "%15s %zu %zu %255s", word, &b->bytes, &b->alignment, b->name) != 4)
                 stop("not-runnable", "a bad plan");
            b->reads = strcmp(word, "out") != 0;
            b->writes = strcmp(word, "in") != 0;
        }
    }
    fclose(f);
}

static void write_report(double seconds)
{
    FILE *f = fopen("report.json", "w");
    if (!f) exit(1);
    fprintf(f, "{\"status\": \"ok\", \"text\": \"\", \"seconds\": %.9g}\n", seconds);
    if (fclose(f)) exit(1);
}

static void load_kernel(void)
{
    void *library = dlopen("./kernel.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        stop("not-runnable", "the library of the kernel cannot be loaded");
    }
    *(void **)&plan.call = dlsym(library, "perfdojo_call");
    if (!plan.call) stop("not-runnable", "the library has no perfdojo_call");
}

static void place_all(int tight)
{
    for (int i = 0; i < plan.count; i++) {
        struct buffer *b = &plan.buffers[i];
        /* 17 lines between the places in a page: arrays that all start at one would compete for a cache set. */
        if (!place(b, (size_t)i * 17 * 64 % 4096, tight)) out_of_memory();
        plan.arguments[i] = b->data;
    }
}

static void verify_all(int tight)
{
    char text[NAME_BYTES + 128];
    for (int i = 0; i < plan.count; i++) {
        struct buffer *b = &plan.buffers[i];
        ptrdiff_t at = b->writes ? changed_canary(b, tight) : 0;
        if (!at) continue;
        if (at < 0) snprintf(text, sizeof text, "byte %td of %s, before its start, was written", at, b->name);
        else snprintf(text, sizeof text, "%s has %zu bytes, but its byte %td was written", b->name, b->bytes, at);
        stop("memory-overwrite", text);
    }
}

/* One call with fresh arguments; returns its seconds. */
static double checked_call(int tight)
{
    place_all(tight);
    be_patient(plan.call_s);
    double start = now();
    int status = plan.call(plan.arguments);
    double seconds = now() - start;
    be_patient(0);
    verify_all(tight);
    if (status) stop("out-of-memory", "the kernel could not allocate a temporary");
    return seconds;
}

int main(void)
{
    char here;
    stack_top = &here;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    read_plan();
    plan.arguments = calloc((size_t)plan.count + 1, sizeof *plan.arguments);
    if (!plan.arguments) out_of_memory();
    if (plan.cpu_count) sched_setaffinity(0, sizeof plan.cpus, &plan.cpus);
    stay_alone();
    load_kernel();
    for (int i = 0; i < plan.count; i++)
        if (plan.buffers[i].reads && !load_input(&plan.buffers[i], i))
            stop("not-runnable", "an input file is missing or of the wrong size");
    watch_faults();
    if (plan.timing) {
        checked_call(0);
        measure();
        return 0;
    }
    double seconds = 0;
    if (plan.calls) {
        place_all(0);
        for (int k = 0; k < plan.calls; k++) plan.call(plan.arguments);
        write_report(0);
        return 0;
    }
    for (int tight = 0; tight < 2; tight++) {
        double s = checked_call(tight);
        if (!tight || s < seconds) seconds = s; /* something else may have had the processor meanwhile */
        for (int i = 0; i < plan.count; i++) {
            if (plan.buffers[i].writes && !store_output(&plan.buffers[i], i, tight))
                stop("not-runnable", "the outputs cannot be written to a file");
            unplace(&plan.buffers[i]);
        }
    }
    write_report(seconds);
    return 0;
}
