#define _GNU_SOURCE
#include "pair.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/// The maximum number of bytes that are read at once, so that connections share the link evenly.
#define PIECE (16u << 10)
#define SECOND UINT64_C(1000000000)

uint64_t proxy_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/// Returns an event of the flow, whose pair exists until the event is released.
static struct event *make_event(struct flow *flow, uint64_t time, uint32_t length, size_t capacity) {
    struct event *event = malloc(sizeof *event + capacity);
    if (!event) abort();
    event->time = time;
    event->flow = flow;
    event->length = length;
    flow->pair->references++;
    return event;
}

void event_release(struct event *event) {
    event->flow->pair->references--;
    free(event);
}

void pair_close(struct pair *pair) {
    if (pair->is_closed) return;
    pair->is_closed = true;
    if (pair->client.descriptor >= 0) close(pair->client.descriptor);
    if (pair->server.descriptor >= 0) close(pair->server.descriptor);
    struct flow *flows[] = {&pair->up, &pair->down};
    for (int index = 0; index < 2; index++) {
        struct event *event;
        while ((event = event_queue_take(&flows[index]->waiting, UINT64_MAX))) event_release(event);
    }
}

void end_watch(struct end *end) {
    struct pair *pair = end->outgoing->pair;
    if (pair->is_closed) return;
    uint32_t wanted = 0;
    if (!end->outgoing->has_ended && congestion_window_room(&end->outgoing->window) > 0) wanted |= EPOLLIN;
    if (end->incoming->waiting.first) wanted |= EPOLLOUT;
    if (wanted == end->watched) return;
    struct epoll_event event = {.events = wanted, .data.ptr = end};
    // Without events, the descriptor is removed, because a hang-up is reported always.
    int action = end->watched == 0 ? EPOLL_CTL_ADD : wanted == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    epoll_ctl(pair->proxy->epoll, action, end->descriptor, &event);
    end->watched = wanted;
}

void end_read(struct end *end) {
    struct flow *flow = end->outgoing;
    uint64_t room = congestion_window_room(&flow->window);
    if (flow->has_ended || room == 0) return;
    struct event *event = make_event(flow, 0, 0, PIECE);
    ssize_t count = read(end->descriptor, event->bytes, room < PIECE ? room : PIECE);
    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR) pair_close(flow->pair);
        event_release(event);
        return;
    }
    if (count == 0) flow->has_ended = true;
    event->length = (uint32_t)count;
    event->time = link_model_send(flow->link, proxy_now(), (uint64_t)count);
    congestion_window_send(&flow->window, (uint64_t)count);
    event_queue_add(flow->arrivals, event);
    end_watch(end);
}

void flow_write(struct flow *flow) {
    struct pair *pair = flow->pair;
    struct event *event;
    while (!pair->is_closed && (event = flow->waiting.first)) {
        if (event->length > 0) {
            ssize_t count =
                send(flow->to->descriptor, event->bytes + flow->written, event->length - flow->written, MSG_NOSIGNAL);
            if (count < 0) {
                if (errno == EAGAIN || errno == EINTR) break;
                pair_close(pair);
                return;
            }
            uint64_t time = proxy_now() + pair->proxy->down.delay;
            event_queue_add(&pair->proxy->acknowledgments, make_event(flow, time, (uint32_t)count, 0));
            flow->written += (uint32_t)count;
            if (flow->written < event->length) break;
        } else {
            shutdown(flow->to->descriptor, SHUT_WR);
            flow->is_delivered = true;
        }
        flow->written = 0;
        event_release(event_queue_take(&flow->waiting, UINT64_MAX));
    }
    if (pair->up.is_delivered && pair->down.is_delivered) pair_close(pair);
    end_watch(flow->to);
}

static void prepare(struct pair *pair, struct end *end, struct flow *outgoing, struct flow *incoming, int descriptor) {
    *end = (struct end){.kind = END, .descriptor = descriptor, .outgoing = outgoing, .incoming = incoming};
    struct end *other = end == &pair->client ? &pair->server : &pair->client;
    struct delaying_proxy *proxy = pair->proxy;
    bool is_up = end == &pair->client;
    *outgoing = (struct flow){
        .pair = pair,
        .from = end,
        .to = other,
        .link = is_up ? &proxy->up : &proxy->down,
        .arrivals = is_up ? &proxy->arrivals_up : &proxy->arrivals_down,
        .window = congestion_window_make(),
    };
}

void pair_add(struct delaying_proxy *proxy, int client, struct sockaddr_in target) {
    struct pair *pair = calloc(1, sizeof *pair);
    if (!pair) abort();
    pair->proxy = proxy;
    pair->target = target;
    prepare(pair, &pair->client, &pair->up, &pair->down, client);
    prepare(pair, &pair->server, &pair->down, &pair->up, -1);
    pair->next = proxy->pairs;
    proxy->pairs = pair;
    event_queue_add(&proxy->openings, make_event(&pair->up, proxy_now() + proxy->round_trip, 0, 0));
}

void pair_open(struct pair *pair) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    pair->server.descriptor = descriptor;
    int status = connect(descriptor, (struct sockaddr *)&pair->target, sizeof pair->target);
    if (descriptor < 0 || (status != 0 && errno != EINPROGRESS)) {
        pair_close(pair);
        return;
    }
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(pair->client.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    end_watch(&pair->client);
    end_watch(&pair->server);
}
