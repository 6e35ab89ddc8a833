#pragma once

#include <stdint.h>

/// One direction of a link that all connections share. Times are in nanoseconds.
struct link_model {
    /// The number of bytes per second.
    uint64_t rate;
    /// The time for one direction.
    uint64_t delay;
    /// The time at which the last byte so far has left the sender.
    uint64_t free_at;
};

/// Sends `bytes` at `time` after everything before, and returns the time at which they arrive.
///
/// Arrivals are in the order of the calls.
uint64_t link_model_send(struct link_model *link, uint64_t time, uint64_t bytes);

/// The congestion window of one direction of a connection in slow start, without losses: it starts at ten segments, and
/// grows by the bytes that are acknowledged, which doubles it in each round trip, up to 8 MiB.
struct congestion_window {
    uint64_t size;
    /// The number of bytes that are not acknowledged.
    uint64_t in_flight;
};

/// Returns the window of a new connection.
struct congestion_window congestion_window_make(void);

/// Returns the number of bytes that may be sent now.
uint64_t congestion_window_room(const struct congestion_window *window);

void congestion_window_send(struct congestion_window *window, uint64_t bytes);
void congestion_window_acknowledge(struct congestion_window *window, uint64_t bytes);
