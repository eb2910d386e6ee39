/* Ends the process when a call of the kernel takes too long: nobody waits for what cannot win. */
#include <sys/time.h>

static volatile long finished_calls, finished_before;
static char patience_text[64];

/* The clock has struck: since it did last, something has to be finished. */
static void lose_patience(int number)
{
    (void)number;
    if (finished_calls == finished_before) {
        finish("report.json", "timeout", patience_text);
        _exit(0);
    }
    finished_before = finished_calls;
}

/* From here on a call may take so long, and is cut short before it took twice as long; 0: any time. */
static void be_patient(double seconds)
{
    struct timeval t = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds))};
    struct itimerval clock = {t, t};
    struct sigaction action = {.sa_handler = lose_patience, .sa_flags = SA_RESTART | SA_ONSTACK};
    finished_before = finished_calls;
    snprintf(patience_text, sizeof patience_text, "a call took longer than %.3g s", seconds);
    if (seconds > 0) sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &clock, NULL);
}
