#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "delaying_proxy.h"
#include "event_queue.h"
#include "link_model.h"

/// What a descriptor in the epoll set is: the first member of each.
enum kind { LISTENER, TIMER, END };

struct listener {
    enum kind kind;
    int descriptor;
    struct sockaddr_in target;
};

/// One side of a connection: its socket, and the flow of what is read from it.
struct end {
    enum kind kind;
    int descriptor;
    uint32_t watched;
    struct flow *outgoing;
    struct flow *incoming;
};

/// One direction of a connection.
struct flow {
    struct pair *pair;
    struct end *from;
    struct end *to;
    struct link_model *link;
    struct event_queue *arrivals;
    struct congestion_window window;
    /// What has arrived and does not fit into the receiver's socket yet, in order.
    struct event_queue waiting;
    uint32_t written;
    bool has_ended;
    bool is_delivered;
};

/// A connection of a client with that to the server.
struct pair {
    struct pair *next;
    struct delaying_proxy *proxy;
    struct sockaddr_in target;
    struct end client, server;
    struct flow up, down;
    /// The number of events that refer to the pair.
    size_t references;
    bool is_closed;
};

struct delaying_proxy {
    uint64_t round_trip;
    struct link_model up, down;
    struct event_queue openings, arrivals_up, arrivals_down, acknowledgments;
    struct listener *listeners;
    size_t listener_count;
    struct pair *pairs;
    int epoll;
    int timer;
    enum kind timer_kind;
};

/// Returns the monotonic time in nanoseconds.
uint64_t proxy_now(void);

/// Adds the connection of a client, which is opened after a round trip.
void pair_add(struct delaying_proxy *proxy, int client, struct sockaddr_in target);

/// Connects to the server, and starts to forward.
void pair_open(struct pair *pair);

/// Reads from an end as much as the window has room for, at most one piece.
void end_read(struct end *end);

/// Writes what has arrived, as far as the receiver takes it, which is acknowledged.
void flow_write(struct flow *flow);

/// Watches an end for what its flows can use: input if the window has room, output if something waits.
void end_watch(struct end *end);

/// Closes the sockets; the pair itself is freed at the end of a turn without events that refer to it.
void pair_close(struct pair *pair);

/// Frees an event.
void event_release(struct event *event);
