/* Measures what this machine can do: multiply-adds a second by type and vector width, bytes a second by access and size.
 *
 *   roofline CPU,CPU,... BYTES...
 *
 * One thread on each CPU of the list; BYTES are working sets, those of all threads together. Prints one JSON object.
 * Every figure is the best of REPEATS: a limit is what the machine can do, other load can only lower it.
 * Bytes counted are those that the loop asks for, without those that a cache fetches before it writes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "rates.h"
#include "streams.h"

enum { REPEATS = 40, FEW_REPEATS = 5, MAX_THREADS = 1024, PART = 2 << 20, MAX_PARTS = (1 << 28) / PART };
static const double REPEAT_S = 1e-3, ENOUGH_S = 60e-3; /* short ones: many of them are not interrupted */

struct task {
    int cpu;
    long iterations;                /* of a rate, or parts of the arrays */
    long (*rate)(long);             /* what runs: this, or */
    void (*stream)(float *, size_t); /* this over one part of `memory` after the other, `floats` long in all its arrays */
    float *memory;
    size_t floats, all, next;       /* `all` is the working set, `next` where the next part begins */
    double begin, end;
};

static int threads;
static struct task tasks[MAX_THREADS];
static atomic_long turn, finished; /* spun on, so that all threads start together */
static atomic_int stopping;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pin(const struct task *t)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(t->cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void do_task(struct task *t)
{
    t->begin = now();
    if (t->rate) t->rate(t->iterations);
    else for (long k = 0; k < t->iterations; k++) {
        if (t->next + t->floats > t->all) t->next = 0;
        t->stream(t->memory + t->next, t->floats);
        t->next += t->floats;
    }
    t->end = now();
}

static void *work(void *argument)
{
    pin(argument);
    for (long seen = 0;; seen++) {
        while (atomic_load(&turn) == seen) sched_yield();
        if (atomic_load(&stopping)) return NULL;
        do_task(argument);
        atomic_fetch_add(&finished, 1);
    }
}

/* Let all threads, this one is the first, do their tasks; seconds from the first start to the last end. */
static double together(long iterations)
{
    for (int t = 0; t < threads; t++) tasks[t].iterations = iterations;
    atomic_store(&finished, 1);
    atomic_fetch_add(&turn, 1);
    do_task(&tasks[0]);
    while (atomic_load(&finished) < threads) sched_yield();
    double begin = tasks[0].begin, end = tasks[0].end;
    for (int t = 1; t < threads; t++) {
        if (tasks[t].begin < begin) begin = tasks[t].begin;
        if (tasks[t].end > end) end = tasks[t].end;
    }
    return end - begin;
}

/* Iterations a second of all threads, at best. Those of a rate share nothing: each thread's own best counts, as one
 * of them is nearly always interrupted on a busy machine. Those of a stream share memory: only the time that all
 * of them took together means something. */
static double best_rate(void)
{
    long iterations = 1;
    double seconds = together(iterations), best = 0, own[MAX_THREADS] = {0}, sum = 0, start;
    while (seconds < REPEAT_S && iterations < 1L << 40) {
        iterations = seconds > REPEAT_S / 8 ? (long)(1.1 * (double)iterations * REPEAT_S / seconds) + 1 : 4 * iterations;
        seconds = together(iterations);
    }
    start = now();
    for (int r = 0; r < REPEATS && (r < FEW_REPEATS || now() - start < ENOUGH_S); r++) {
        double rate = (double)iterations * threads / together(iterations);
        if (rate > best) best = rate;
        for (int t = 0; t < threads; t++) {
            rate = (double)iterations / (tasks[t].end - tasks[t].begin);
            if (rate > own[t]) own[t] = rate;
        }
    }
    for (int t = 0; t < threads; t++) sum += own[t];
    return tasks[0].rate ? sum : best;
}

/* Parts a second of all threads in a pass over a large set, had it not been interrupted: each part is over before
 * something else runs in one of the passes, and counts as it was at best. */
static double best_pass(size_t parts)
{
    double best[MAX_PARTS], sum = 0, start = now();
    for (int r = 0; r < REPEATS && (r < FEW_REPEATS || now() - start < ENOUGH_S); r++)
        for (size_t p = 0; p < parts; p++) {
            double seconds = together(1);
            if (r == 0 || seconds < best[p]) best[p] = seconds;
        }
    for (size_t p = 0; p < parts; p++) sum += best[p];
    return (double)threads * (double)parts / sum;
}

static void run_rates(void)
{
    printf("\"rates\": [");
    for (size_t k = 0; k < sizeof RATES / sizeof *RATES; k++) {
        for (int t = 0; t < threads; t++) tasks[t].rate = RATES[k].run;
        double operations = best_rate() * (double)RATES[k].run(1);
        printf("%s\n  {\"type\": \"%s\", \"width\": %d, \"per_second\": %.6g}", k ? "," : "", RATES[k].type, RATES[k].width,
               operations);
    }
    for (int t = 0; t < threads; t++) tasks[t].rate = NULL;
    printf("]");
}

static void run_streams(char **sizes, int count, size_t largest)
{
    const char *separator = "";
    for (int t = 0; t < threads; t++) {
        size_t bytes = largest / (size_t)threads + 4096;
        if (posix_memalign((void **)&tasks[t].memory, 2 << 20, bytes)) exit(2);
#ifdef MADV_HUGEPAGE
        madvise(tasks[t].memory, bytes, MADV_HUGEPAGE); /* as the harness, and NumPy, do for large arrays */
#endif
    }
    for (int t = 0; t < threads; t++) { /* touched by the thread that uses it: memory lies near to it */
        tasks[t].floats = tasks[t].all = largest / (size_t)threads / 4 / UNIT * UNIT;
        tasks[t].stream = STREAMS[WRITE].run;
    }
    together(1);
    printf(",\n\"streams\": [");
    for (size_t k = 0; k < sizeof STREAMS / sizeof *STREAMS; k++)
        for (int s = 0; s < count; s++) {
            size_t unit = (size_t)(UNIT * STREAMS[k].arrays), each = strtoull(sizes[s], NULL, 10) / (size_t)threads / 4;
            each = each / unit * unit;
            if (!each) continue;
            size_t parts = (each + PART - 1) / PART, part = each / parts / unit * unit;
            for (int t = 0; t < threads; t++) {
                tasks[t].floats = part;
                tasks[t].all = each;
                tasks[t].next = 0;
                tasks[t].stream = STREAMS[k].run;
            }
            printf("%s\n  {\"access\": \"%s\", \"bytes\": %zu, \"per_second\": %.6g}", separator, STREAMS[k].access,
                   each * 4 * (size_t)threads, (parts > 1 ? best_pass(parts) : best_rate()) * (double)part * 4);
            separator = ",";
        }
    printf("]");
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    for (char *p = strtok(argv[1], ","); p && threads < MAX_THREADS; p = strtok(NULL, ",")) tasks[threads++].cpu = atoi(p);
    size_t largest = 0;
    for (int k = 2; k < argc; k++)
        if (strtoull(argv[k], NULL, 10) > largest) largest = strtoull(argv[k], NULL, 10);
    pthread_t handles[MAX_THREADS];
    pin(&tasks[0]);
    for (int t = 1; t < threads; t++)
        if (pthread_create(&handles[t], NULL, work, &tasks[t])) return 2;
    printf("{\"threads\": %d, \"vector_bytes\": %d,\n", threads, VECTOR_BYTES);
    run_rates();
    run_streams(argv + 2, argc - 2, largest);
    printf("}\n");
    atomic_store(&stopping, 1);
    atomic_fetch_add(&turn, 1);
    for (int t = 1; t < threads; t++) pthread_join(handles[t], NULL);
    return 0;
}
