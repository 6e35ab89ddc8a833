#include "link_model.h"

#define SEGMENT 1460u
#define INITIAL_SEGMENTS 10u
#define MAXIMUM_WINDOW (8u << 20)

uint64_t link_model_send(struct link_model *link, uint64_t time, uint64_t bytes) {
    uint64_t start = link->free_at > time ? link->free_at : time;
    link->free_at = start + bytes * 1000000000u / link->rate;
    return link->free_at + link->delay;
}

struct congestion_window congestion_window_make(void) {
    return (struct congestion_window){.size = SEGMENT * INITIAL_SEGMENTS};
}

uint64_t congestion_window_room(const struct congestion_window *window) {
    return window->size > window->in_flight ? window->size - window->in_flight : 0;
}

void congestion_window_send(struct congestion_window *window, uint64_t bytes) { window->in_flight += bytes; }

void congestion_window_acknowledge(struct congestion_window *window, uint64_t bytes) {
    window->in_flight -= bytes;
    window->size += bytes;
    if (window->size > MAXIMUM_WINDOW) window->size = MAXIMUM_WINDOW;
}
