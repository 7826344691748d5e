/* Where threads compute. One that slept may be woken on the processor of the thread that wakes it, and stay there for 20 ms,
   until the system looks for one that is idle: two share a processor meanwhile, and what they compute takes three times as long.
   Linux does so in virtual machines, whose idle processors do not look idle to it, at any barrier where one of them sleeps. */

#pragma once
#include <omp.h>
#include <string.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_THREADS = 256, PROCESSORS = 1024 };

typedef struct {
    unsigned long bits[PROCESSORS / 64];
} Processors;

/* The processor that each thread of a team is on, those that a thread may be on, and whether each stays where it is. */
typedef struct {
    int where[MOST_THREADS], stays;
    Processors allowed;
} Places;

static int processor(void) {
    unsigned own = 0;
    return syscall(SYS_getcpu, &own, 0, 0) ? -1 : (int)own;
}

/* Where this thread might be before. */
static _Thread_local Processors before;

static void stay_on(const Processors *some) { syscall(SYS_sched_setaffinity, 0, sizeof *some, some); }

static int is_taken(const Places *p, int by, int cpu) {
    int found = 0;
    for (int i = 0; i < by; i++) found |= p->where[i] == cpu;
    return found;
}

/* Give each thread that shares a processor another one; whether there were enough. */
static int share_out(Places *p, int all) {
    int next = 0;
    for (int i = 0; i < all; i++)
        if (p->where[i] < 0 || p->where[i] >= PROCESSORS) return 0;
    for (int i = 1; i < all; i++) {
        if (!is_taken(p, i, p->where[i])) continue;
        while (next < PROCESSORS && (!(p->allowed.bits[next / 64] >> next % 64 & 1) || is_taken(p, all, next))) next++;
        if (next == PROCESSORS) return 0;
        p->where[i] = next;
    }
    return 1;
}

static int count_of(const Processors *some) {
    int count = 0;
    for (int i = 0; i < PROCESSORS / 64; i++) count += __builtin_popcountl(some->bits[i]);
    return count;
}

/* Where all processors have a thread to compute, or two threads are on one, each thread of a team stays on one of its own until
   `leave_places`: on that which it is on, if it is there alone. By all threads. */
static void take_places(Places *p) {
    const int own = omp_get_thread_num(), all = omp_get_num_threads();
    if (all > MOST_THREADS) return;
    p->where[own] = processor();
#pragma omp barrier
#pragma omp single
    {
        memset(&p->allowed, 0, sizeof p->allowed);
        int is_shared = 0;
        for (int i = 1; i < all; i++) is_shared |= is_taken(p, i, p->where[i]);
        const int is_known = all > 1 && syscall(SYS_sched_getaffinity, 0, sizeof p->allowed, &p->allowed) > 0;
        p->stays = is_known && (is_shared || count_of(&p->allowed) == all) && share_out(p, all);
    }
    if (!p->stays) return;
    if (syscall(SYS_sched_getaffinity, 0, sizeof before, &before) <= 0) memset(&before, 255, sizeof before);
    Processors one = {{0}};
    one.bits[p->where[own] / 64] = 1ul << p->where[own] % 64;
    stay_on(&one);
}

static void leave_places(const Places *p) {
    if (omp_get_num_threads() <= MOST_THREADS && p->stays) stay_on(&before);
}
#else
typedef struct {
    int unused;
} Places;

static void take_places(Places *p) { (void)p; }
static void leave_places(const Places *p) { (void)p; }
#endif
