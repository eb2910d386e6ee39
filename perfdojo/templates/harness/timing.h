/* Repeats the kernel until the median is known to 1 %, or the budget is spent. */
#include <math.h>

enum { MIN_SAMPLES = 20, MAX_SAMPLES = 20000, LINE_BYTES = 64 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The 95 % confidence interval of the median by order statistics, as perfdojo/toolchains/statistics.py has it;
 * 0 below 8 samples. */
static int median_interval(const double *samples, int n, double *low, double *high, double *median)
{
    static double sorted[MAX_SAMPLES];
    if (n < 8) return 0;
    memcpy(sorted, samples, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    int first = (int)floor((n - 1.96 * sqrt(n)) / 2), last = (int)ceil(1 + (n + 1.96 * sqrt(n)) / 2);
    *low = sorted[first - 1];
    *high = sorted[(last < n ? last : n) - 1];
    *median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    return 1;
}

static int known_well(const double *samples, int n)
{
    double low, high, median;
    return median_interval(samples, n, &low, &high, &median) && high - low < 0.01 * median;
}

static void restore(void)
{
    for (int i = 0; i < plan.count; i++)
        if (plan.buffers[i].reads && plan.buffers[i].writes)
            memcpy(plan.buffers[i].data, plan.buffers[i].saved, plan.buffers[i].bytes);
}

/* Empty the caches: the lines of the arguments where the CPU has an instruction for it, which reaches the private
 * caches of other cores; then everything else, by writing to more memory than all caches hold. */
static void evict(unsigned char *other)
{
#if defined(__x86_64__)
    for (int i = 0; i < plan.count; i++)
        for (size_t k = 0; k < plan.buffers[i].bytes; k += LINE_BYTES) __builtin_ia32_clflush(plan.buffers[i].data + k);
    __builtin_ia32_mfence();
#endif
    for (size_t k = 0; k < plan.evict_bytes; k += LINE_BYTES) other[k]++;
}

static int failed_calls;

/* Seconds of `repeat` calls, with `inout` arguments as they were given at the first. */
static double sample(long repeat)
{
    restore();
    double start = now();
    for (long r = 0; r < repeat; r++) failed_calls |= plan.call(plan.arguments);
    finished_calls++;
    return now() - start;
}

/* Seconds of one call with empty caches. */
static double cold_sample(unsigned char *other)
{
    restore();
    evict(other);
    double start = now();
    failed_calls |= plan.call(plan.arguments);
    finished_calls++;
    return now() - start;
}

/* Shortest distance between two looks at the clock. */
static double clock_cost(void)
{
    double best = 1;
    for (int i = 0; i < 1000; i++) {
        double start = now(), d = now() - start;
        if (d < best) best = d;
    }
    return best;
}

/* Run for a while, then return the number of calls that lasts as long as a sample should. */
static long calibrate(double start)
{
    double per_sample = plan.budget_s / MAX_SAMPLES, warm_s = plan.budget_s / 10 < 0.02 ? plan.budget_s / 10 : 0.02;
    double target = plan.sample_s > per_sample ? plan.sample_s : per_sample;
    long repeat = 1;
    for (;;) {
        double seconds = sample(repeat);
        /* The best of three: one interrupted call must not pass for a long one. */
        for (int i = 0; i < 2 && seconds >= target && seconds < 10 * target; i++) {
            double again = sample(repeat);
            if (again < seconds) seconds = again;
        }
        if (seconds < target) {
            double wanted = seconds > 0 ? 1.2 * target / seconds : 16;
            repeat = (long)((double)repeat * (wanted < 16 ? wanted : 16)) + 1;
        } else if (now() - start >= warm_s) return repeat;
    }
}

static double processor_seconds(long *switches)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    *switches = used.ru_nivcsw;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void measure(void)
{
    static double samples[MAX_SAMPLES];
    unsigned char *other = plan.cold ? calloc(plan.evict_bytes + 1, 1) : NULL;
    if (plan.cold && !other) stop("out-of-memory", "the memory to empty the caches with cannot be had");
    be_patient(plan.call_s);
    double start = now(), clock_s = clock_cost();
    long repeat = plan.cold ? 1 : calibrate(start), switches, switches_before;
    int n = 0, next_look = MIN_SAMPLES;
    double busy_before = processor_seconds(&switches_before), sampling = now();
    do {
        if (plan.cold) {
            double s = cold_sample(other) - clock_s;
            samples[n++] = s > 0 ? s : 0;
        } else samples[n++] = sample(repeat) / (double)repeat;
        if (n >= next_look) {
            if (known_well(samples, n) && (plan.cold || now() - sampling > 0.02)) break;
            next_look = n + n / 10 + 1;
        }
    } while (n < MAX_SAMPLES && now() - start < plan.budget_s);
    double wall = now() - sampling, busy = processor_seconds(&switches) - busy_before;
    be_patient(0);
    double low = 0, high = 0, median = 0;
    int known = median_interval(samples, n, &low, &high, &median);
    verify_all(0);
    if (failed_calls) stop("out-of-memory", "the kernel could not allocate a temporary");
    FILE *f = fopen("report.json", "w");
    if (!f) exit(1);
    fprintf(f, "{\"status\": \"ok\", \"text\": \"\", \"repeat\": %ld, \"clock_s\": %.3g, \"wall_s\": %.6g, "
               "\"busy_s\": %.6g, \"switches\": %ld, ", repeat, clock_s, wall, busy, switches - switches_before);
    if (known) fprintf(f, "\"interval_s\": [%.9g, %.9g], ", low, high);
    fprintf(f, "\"samples_s\": [");
    for (int i = 0; i < n; i++) fprintf(f, "%s%.9g", i ? ", " : "", samples[i]);
    fprintf(f, "]}\n");
    fclose(f);
}
