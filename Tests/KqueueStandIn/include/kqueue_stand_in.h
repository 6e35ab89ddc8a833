#ifndef KQUEUE_STAND_IN_H
#define KQUEUE_STAND_IN_H
// The part of kqueue that KqueuePoller uses, for Linux, over poll(2). The declarations and values are those of macOS.
//
// A queue must be used by one thread, except that any thread may trigger its user event. Level-triggered, as kqueue is
// by default; a closed descriptor is forgotten, as kqueue does.
#include <stdint.h>
#include <time.h>

struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
};

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_USER (-10)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_CLEAR 0x0020
#define EV_RECEIPT 0x0040
#define EV_ERROR 0x4000
#define EV_EOF 0x8000

#define NOTE_TRIGGER 0x01000000

/// Opens a queue; -1 if there is no descriptor left.
int kqueue(void);

/// Applies the changes, then waits for events if there is room for any and the changes have not filled it.
int kevent(int queue, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout);
#endif
