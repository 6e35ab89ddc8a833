// Swift's Glibc module leaves these out.
#include <asm/ioctls.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

/// Returns the number of bytes read from a TCP socket so far; -1 if it is not a TCP socket.
static inline int64_t clinux_bytes_read(int descriptor) {
    // Declared here: with their headers, this module would own the types of sockets that Glibc's module has as well.
    extern int getsockopt(int, int, int, void *, unsigned int *);
    extern int ioctl(int, unsigned long, ...);
    // The beginning of the kernel's `struct tcp_info`, which the C library knows only the first part of.
    struct {
        unsigned char others[128];
        uint64_t bytes_received;
    } info = {0};
    unsigned int length = sizeof info;
    int unread = 0;
    if (getsockopt(descriptor, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, &info, &length) != 0 || length < sizeof info) return -1;
    if (ioctl(descriptor, FIONREAD, &unread) != 0) return -1;
    return (int64_t)info.bytes_received - unread;
}

/// Opens a file in a folder without following links and without waiting for a disk; -1 with EAGAIN if that is impossible.
static inline int clinux_open_at_once(int folder, const char *path, int flags) {
    extern long syscall(long, ...);
    struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_CACHED | RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/// Reads from a file into two buffers without waiting for a disk; returns the number of bytes that are in memory, -1 if
/// there are none.
static inline int64_t clinux_read_at_once(
    int descriptor, void *first, int64_t first_count, void *second, int64_t second_count) {
    extern long syscall(long, ...);
    struct {
        void *address;
        unsigned long count;
    } vectors[] = {{first, (unsigned long)first_count}, {second, (unsigned long)second_count}};
    // The offset is passed in two halves, of which the second is empty on 64-bit systems.
    return syscall(SYS_preadv2, descriptor, vectors, 2L, 0L, 0L, 8L /* RWF_NOWAIT */);
}

/// Ends the process when the thread that started it ends.
static inline void clinux_die_with_parent(void) {
    extern int prctl(int, ...);
    prctl(1 /* PR_SET_PDEATHSIG */, 9L /* SIGKILL */, 0L, 0L, 0L);
}

/// Returns the number of processors that the calling thread may run on; 0 if unknown.
static inline int clinux_affinity(void) {
    extern long syscall(long, ...);
    // Room for 8,192 processors, more than the kernel can have.
    unsigned long mask[8192 / (8 * sizeof(long))];
    long size = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int count = 0;
    for (long i = 0; i < size / (long)sizeof *mask; i++) count += __builtin_popcountl(mask[i]);
    return count;
}
