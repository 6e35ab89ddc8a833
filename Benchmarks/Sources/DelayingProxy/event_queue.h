#pragma once

#include <stdint.h>

struct flow;

/// Something that happens to a flow at a time.
struct event {
    struct event *next;
    uint64_t time;
    struct flow *flow;
    /// The number of bytes that arrive or are acknowledged; 0 for the end of the stream.
    uint32_t length;
    char bytes[];
};

/// Events of one kind. All of them are delayed by the same time, so that they happen in the order in which they are
/// added.
struct event_queue {
    struct event *first;
    struct event **last;
};

static inline void event_queue_add(struct event_queue *queue, struct event *event) {
    event->next = 0;
    *(queue->first ? queue->last : &queue->first) = event;
    queue->last = &event->next;
}

/// Removes and returns the first event if its time has come; NULL otherwise.
static inline struct event *event_queue_take(struct event_queue *queue, uint64_t time) {
    struct event *event = queue->first;
    if (!event || event->time > time) return 0;
    queue->first = event->next;
    return event;
}
