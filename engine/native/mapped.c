/* Files that are mapped into memory: what is asked of them before they are computed with, and what happens where they can
   no longer be read. */

#include <string.h>
#ifdef __linux__
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#include "blocks.h"
#include "model.h"

/* Have the system read some bytes now, and all at once: one page after the other, as they are asked for, takes it twenty times
   as long. */
EXPORT void headstart_read_now(const uint8_t *from, int64_t size) {
#ifdef __linux__
    const uintptr_t page = sysconf(_SC_PAGESIZE), first = (uintptr_t)from / page * page;
    /* MADV_POPULATE_READ; an older system refuses, and reads as it is asked */
    madvise((void *)first, (uintptr_t)from + size - first, 22);
#else
    (void)from, (void)size;
#endif
}

/* Whether every scale of `count` blocks of a type is a number; else all weights of a block would be none. */
EXPORT int32_t headstart_are_numbers(int32_t type, const uint8_t *blocks, int64_t count) {
    const int size = type == Q4_0 ? OF_Q4_0 : type == Q8_0 ? OF_Q8_0 : OF_Q4_K, has_minimum = type == Q4_K;
    int found = 0;
#pragma omp parallel for schedule(dynamic, 8192) reduction(| : found) /* other threads compute beside it */
    for (int64_t i = 0; i < count; i++) {
        const uint16_t scale = half_at(blocks + i * size), minimum = half_at(blocks + i * size + 2 * has_minimum);
        found |= (scale & 0x7c00) == 0x7c00 || (minimum & 0x7c00) == 0x7c00;
    }
    return !found;
}

#ifdef __linux__
enum { MOST_FILES = 256 };

typedef struct {
    volatile uintptr_t from, to;
    volatile int is_lost;
} Watched;

static Watched watched[MOST_FILES];
static struct sigaction before;
static volatile int is_watching;

/* A page of a watched file that the system cannot read any more is replaced by zeros, and that is noted. The numbers that
   are being computed are worth nothing then, but the process lives, and can say so. */
static void on_unreadable(int signal, siginfo_t *what, void *context) {
    const uintptr_t page = sysconf(_SC_PAGESIZE), at = (uintptr_t)what->si_addr;
    for (int i = 0; i < MOST_FILES; i++)
        if (watched[i].from <= at && at < watched[i].to) {
            void *found = mmap((void *)(at / page * page), page, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
            if (found == MAP_FAILED) break;
            watched[i].is_lost = 1;
            return;
        }
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(signal, what, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(signal);
    else sigaction(signal, &before, 0); /* what was read is read again, and ends the process as if we were not there */
}

/* Watch over the memory of a mapped file; returns its number, or -1 where there are too many. One thread at a time. */
EXPORT int32_t headstart_watch(void *from, int64_t size) {
    for (int i = 0; i < MOST_FILES; i++) {
        if (watched[i].to) continue;
        if (!is_watching) {
            struct sigaction own = {.sa_sigaction = on_unreadable, .sa_flags = SA_SIGINFO | SA_ONSTACK};
            sigemptyset(&own.sa_mask);
            if (sigaction(SIGBUS, &own, &before)) return -1;
            is_watching = 1;
        }
        watched[i].is_lost = 0;
        watched[i].from = (uintptr_t)from;
        watched[i].to = (uintptr_t)from + size;
        return i;
    }
    return -1;
}

/* Whether a part of a watched file could not be read. */
EXPORT int32_t headstart_is_lost(int32_t number) { return watched[number].is_lost; }

EXPORT void headstart_unwatch(int32_t number) {
    watched[number].to = 0; /* first: what has no end holds no address */
    watched[number].from = 0;
}
#else
EXPORT int32_t headstart_watch(void *from, int64_t size) { return -1; }
EXPORT int32_t headstart_is_lost(int32_t number) { return 0; }
EXPORT void headstart_unwatch(int32_t number) {}
#endif
