// Swift's Glibc module leaves these out.
#ifdef __linux__
#include <asm/ioctls.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// How many bytes have been read from a TCP socket so far; -1 if it is none.
static inline int64_t cepoll_bytes_read(int descriptor) {
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
#endif
