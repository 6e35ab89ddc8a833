// Swift's Glibc module leaves these two out.
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif
