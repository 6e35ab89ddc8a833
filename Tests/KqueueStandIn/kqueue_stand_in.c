#ifdef __linux__
#define _GNU_SOURCE
#include "kqueue_stand_in.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

// One filter of one descriptor. The inode distinguishes a socket from a later one with the same descriptor.
struct knote {
    int descriptor;
    ino_t inode;
    int16_t filter;
    void *udata;
};

// The descriptor of a queue is an eventfd, which the user event is written to.
struct queue {
    int descriptor;
    int has_user_event;
    int count, capacity;
    struct knote *notes;
    struct pollfd *polled;
    struct queue *next;
};

// Held during every access to a queue, but not while one is waited for: like the kernel, it also orders the accesses of
// the last owner of a descriptor before those of the next.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct queue *queues;

static struct queue *find(int descriptor) {
    struct queue *queue = queues;
    while (queue && queue->descriptor != descriptor) queue = queue->next;
    return queue;
}

int kqueue(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK);
    if (descriptor < 0) return -1;
    pthread_mutex_lock(&mutex);
    // The closing of a queue is not reported: the next one with its descriptor replaces it.
    struct queue *queue = find(descriptor);
    if (queue) {
        queue->count = 0;
        queue->has_user_event = 0;
    } else {
        queue = calloc(1, sizeof *queue);
        if (!queue) abort();
        queue->descriptor = descriptor;
        queue->next = queues;
        queues = queue;
    }
    pthread_mutex_unlock(&mutex);
    return descriptor;
}

static int inode_of(int descriptor, ino_t *inode) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return EBADF;
    *inode = status.st_ino;
    return 0;
}

static void drop(struct queue *queue, int index) { queue->notes[index] = queue->notes[--queue->count]; }

static void drop_closed(struct queue *queue) {
    for (int i = queue->count - 1; i >= 0; i--) {
        ino_t inode;
        if (inode_of(queue->notes[i].descriptor, &inode) || inode != queue->notes[i].inode) drop(queue, i);
    }
}

static void make_room(struct queue *queue) {
    if (queue->count < queue->capacity) return;
    queue->capacity = queue->capacity ? 2 * queue->capacity : 16;
    queue->notes = realloc(queue->notes, queue->capacity * sizeof *queue->notes);
    queue->polled = realloc(queue->polled, (queue->capacity + 1) * sizeof *queue->polled);
    if (!queue->notes || !queue->polled) abort();
}

// Returns an errno.
static int apply_user_event(struct queue *queue, const struct kevent *change) {
    if (change->flags & EV_ADD) {
        if (!(change->flags & EV_CLEAR)) return ENOTSUP;
        queue->has_user_event = 1;
    }
    if (!queue->has_user_event) return ENOENT;
    uint64_t one = 1;
    if (change->fflags & NOTE_TRIGGER && write(queue->descriptor, &one, sizeof one) < 0 && errno != EAGAIN) return errno;
    return 0;
}

// Returns an errno.
static int apply(struct queue *queue, const struct kevent *change) {
    if (change->filter == EVFILT_USER) return apply_user_event(queue, change);
    if (change->filter != EVFILT_READ && change->filter != EVFILT_WRITE) return EINVAL;
    ino_t inode;
    int error = inode_of((int)change->ident, &inode);
    if (error) return error;
    drop_closed(queue);
    int i = 0;
    while (i < queue->count &&
           (queue->notes[i].descriptor != (int)change->ident || queue->notes[i].filter != change->filter))
        i++;
    if (change->flags & EV_DELETE) {
        if (i == queue->count) return ENOENT;
        drop(queue, i);
    } else if (change->flags & EV_ADD) {
        make_room(queue);
        queue->notes[i] = (struct knote){(int)change->ident, inode, change->filter, change->udata};
        if (i == queue->count) queue->count++;
    } else if (i == queue->count) {
        return ENOENT;
    }
    return 0;
}

static int collect(struct queue *queue, struct kevent *events, int room) {
    int count = 0;
    uint64_t triggered;
    if (queue->polled[0].revents && count < room && read(queue->descriptor, &triggered, sizeof triggered) > 0)
        events[count++] = (struct kevent){.filter = EVFILT_USER};
    for (int i = 0; i < queue->count && count < room; i++) {
        short happened = queue->polled[i + 1].revents;
        if (!(happened & ~POLLNVAL)) continue;
        struct kevent event = {.ident = queue->notes[i].descriptor, .filter = queue->notes[i].filter};
        event.udata = queue->notes[i].udata;
        if (happened & (POLLHUP | POLLRDHUP | POLLERR)) event.flags |= EV_EOF;
        if (happened & POLLERR) event.fflags = ECONNRESET;
        events[count++] = event;
    }
    return count;
}

// Applies the changes; -1 if one failed and there is no room for its error.
static int apply_all(struct queue *queue, const struct kevent *changes, int change_count, struct kevent *events,
                     int event_count) {
    int count = 0;
    for (int i = 0; i < change_count; i++) {
        // Changes and events may be the same array.
        struct kevent change = changes[i];
        int error = apply(queue, &change);
        if (!error && !(change.flags & EV_RECEIPT)) continue;
        if (count == event_count) {
            if (!error) continue;
            errno = error;
            return -1;
        }
        events[count] = change;
        events[count].flags = EV_ERROR;
        events[count++].data = error;
    }
    return count;
}

// Releases the mutex while it waits: only the waiting thread changes the queue.
static int wait_for_events(struct queue *queue, struct kevent *events, int event_count,
                           const struct timespec *timeout) {
    drop_closed(queue);
    make_room(queue);
    queue->polled[0] = (struct pollfd){.fd = queue->descriptor, .events = POLLIN};
    for (int i = 0; i < queue->count; i++) {
        short wanted = queue->notes[i].filter == EVFILT_READ ? POLLIN | POLLRDHUP : POLLOUT;
        queue->polled[i + 1] = (struct pollfd){.fd = queue->notes[i].descriptor, .events = wanted};
    }
    int count = queue->count;
    pthread_mutex_unlock(&mutex);
    int ready = ppoll(queue->polled, count + 1, timeout, NULL);
    int error = errno;
    pthread_mutex_lock(&mutex);
    errno = error;
    return ready <= 0 ? ready : collect(queue, events, event_count);
}

int kevent(int descriptor, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout) {
    pthread_mutex_lock(&mutex);
    struct queue *queue = find(descriptor);
    int count = -1;
    if (!queue)
        errno = EBADF;
    else
        count = apply_all(queue, changes, change_count, events, event_count);
    if (count == 0 && event_count > 0) count = wait_for_events(queue, events, event_count, timeout);
    pthread_mutex_unlock(&mutex);
    return count;
}
#endif
