/* Preloaded: the n-th operation of one kind below the given folders fails, once, counted over all processes.
 *
 * NTH_OP open|write|fsync|rename|link|fork|mmap · NTH_N the number (0: only count) · NTH_ERRNO · NTH_UNDER folders,
 * joined by ':' · NTH_COUNTER a file of 8 bytes that all processes share · NTH_LOG, if given, gets a line for each
 * operation that is counted: its number, the program, the path.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile int64_t *counter;
static const char *op, *under;
static int64_t nth;
static int error_number, log_fd = -1;
static char last_path[PATH_MAX];

/* Also called by a process that was forked off a warm one, after it has got its variables. */
__attribute__((constructor)) void nth_begin(void) {
    const char *file = getenv("NTH_COUNTER"), *n = getenv("NTH_N"), *number = getenv("NTH_ERRNO");
    op = getenv("NTH_OP");
    under = getenv("NTH_UNDER");
    if (!file || !op || !under) return;
    nth = n ? atoll(n) : 0;
    error_number = number ? atoi(number) : EIO;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) return;
    void *place = (void *)syscall(SYS_mmap, NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (place != MAP_FAILED) counter = place;
    const char *log = getenv("NTH_LOG");
    if (log) {
        int opened = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
        if (opened >= 0) {
            log_fd = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 200);
            syscall(SYS_close, opened);
        }
    }
}

static void note(int64_t number) {
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%lld %s %s\n", (long long)number, program_invocation_short_name, last_path);
    syscall(SYS_write, log_fd, line, size);
}

static void named(const char *folder, const char *path) {
    snprintf(last_path, sizeof last_path, "%s%s%s", folder, *folder ? "/" : "", path);
}

static int below(const char *path) {
    if (!path || path[0] != '/') return 0;
    for (const char *one = under; one && *one;) {
        const char *end = strchr(one, ':');
        size_t length = end ? (size_t)(end - one) : strlen(one);
        if (!strncmp(path, one, length) && (path[length] == '/' || path[length] == 0)) return 1;
        one = end ? end + 1 : NULL;
    }
    return 0;
}

static int below_fd(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    named("", path);
    return below(path);
}

static int below_at(int dir, const char *path) {
    char here[PATH_MAX];
    if (path && path[0] == '/') { named("", path); return below(path); }
    if (dir != AT_FDCWD) { int found = below_fd(dir); return found; }
    if (!getcwd(here, sizeof here)) return 0;
    named(here, path ? path : "");
    return below(here);
}

static int hit(const char *kind, int concerned) {
    int saved = errno;
    if (!counter || strcmp(kind, op) || !concerned) { errno = saved; return 0; }
    int64_t now = __sync_add_and_fetch(counter, 1);
    if (log_fd >= 0) note(now);
    if (now == nth) { errno = error_number; return 1; }
    errno = saved;
    return 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRITES(flags) (((flags) & O_ACCMODE) != O_RDONLY)
#define OPENING(name)                                                              \
    int name(const char *path, int flags, ...) {                                   \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, int); va_end(more); \
        if (WRITES(flags) && hit("open", below_at(AT_FDCWD, path))) return -1;     \
        return REAL(name)(path, flags, mode);                                      \
    }
#define OPENING_AT(name)                                                           \
    int name(int dir, const char *path, int flags, ...) {                          \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, int); va_end(more); \
        if (WRITES(flags) && hit("open", below_at(dir, path))) return -1;          \
        return REAL(name)(dir, path, flags, mode);                                 \
    }
OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)

ssize_t write(int fd, const void *data, size_t size) {
    if (hit("write", below_fd(fd))) return -1;
    return REAL(write)(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t place) {
    if (hit("write", below_fd(fd))) return -1;
    return REAL(pwrite)(fd, data, size, place);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) {
    if (hit("write", below_fd(fd))) return -1;
    return REAL(pwrite64)(fd, data, size, place);
}
int fsync(int fd) { return hit("fsync", below_fd(fd)) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return hit("fsync", below_fd(fd)) ? -1 : REAL(fdatasync)(fd); }
int rename(const char *from, const char *to) {
    return hit("rename", below_at(AT_FDCWD, to)) ? -1 : REAL(rename)(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    return hit("rename", below_at(b, to)) ? -1 : REAL(renameat)(a, from, b, to);
}
int link(const char *from, const char *to) {
    return hit("link", below_at(AT_FDCWD, to)) ? -1 : REAL(link)(from, to);
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    return hit("link", below_at(b, to)) ? -1 : REAL(linkat)(a, from, b, to, flags);
}
pid_t fork(void) { return hit("fork", 1) ? -1 : REAL(fork)(); }
/* A wrapper cannot return twice on one stack: a whole fork does what a vfork promises. */
pid_t vfork(void) { return hit("fork", 1) ? -1 : REAL(fork)(); }
void *mmap(void *at, size_t size, int how, int flags, int fd, off_t place) {
    if (fd >= 0 && hit("mmap", below_fd(fd))) return MAP_FAILED;
    return REAL(mmap)(at, size, how, flags, fd, place);
}
void *mmap64(void *at, size_t size, int how, int flags, int fd, off64_t place) {
    if (fd >= 0 && hit("mmap", below_fd(fd))) return MAP_FAILED;
    return REAL(mmap64)(at, size, how, flags, fd, place);
}
