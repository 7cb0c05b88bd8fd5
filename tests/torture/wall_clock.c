/* Preloaded: the wall clock of a process is as many seconds off as a file says, from one moment to the next.
 *
 * WALL_OFFSET a file of 8 bytes that all processes share: seconds, may be negative. Only the wall is moved: clocks that
 * count from the start of the machine go on, as they do when somebody sets the time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *offset;

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("WALL_OFFSET");
    if (!file) return;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    void *place = mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (place != MAP_FAILED) offset = place;
}

static int64_t moved(void) { return offset ? *offset : 0; }

int clock_gettime(clockid_t which, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, which, now);
    if (!failed && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += moved();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into) {
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    if (into) *into = exact.tv_sec;
    return exact.tv_sec;
}
