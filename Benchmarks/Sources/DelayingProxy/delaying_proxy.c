#define _GNU_SOURCE
#include "delaying_proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

#define SECOND UINT64_C(1000000000)

static void perform(struct delaying_proxy *proxy, struct event_queue *queue, struct event *event) {
    struct flow *flow = event->flow;
    if (flow->pair->is_closed) {
        event_release(event);
    } else if (queue == &proxy->openings) {
        pair_open(flow->pair);
        event_release(event);
    } else if (queue == &proxy->acknowledgments) {
        congestion_window_acknowledge(&flow->window, event->length);
        end_watch(flow->from);
        event_release(event);
    } else {
        event_queue_add(&flow->waiting, event);
        flow_write(flow);
    }
}

/// Performs the events whose time has come, and returns the time of the next one, or `UINT64_MAX`.
static uint64_t perform_events(struct delaying_proxy *proxy) {
    struct event_queue *queues[] = {
        &proxy->openings, &proxy->arrivals_up, &proxy->arrivals_down, &proxy->acknowledgments};
    uint64_t next = UINT64_MAX;
    for (int index = 0; index < 4; index++) {
        struct event *event;
        while ((event = event_queue_take(queues[index], proxy_now()))) perform(proxy, queues[index], event);
        if (queues[index]->first && queues[index]->first->time < next) next = queues[index]->first->time;
    }
    return next;
}

/// Frees the pairs that are closed and have no events.
static void free_closed_pairs(struct delaying_proxy *proxy) {
    struct pair **link = &proxy->pairs;
    while (*link) {
        struct pair *pair = *link;
        if (pair->is_closed && pair->references == 0) {
            *link = pair->next;
            free(pair);
        } else {
            link = &pair->next;
        }
    }
}

static void set_timer(struct delaying_proxy *proxy, uint64_t time) {
    struct itimerspec value = {0};
    if (time != UINT64_MAX) {
        value.it_value.tv_sec = (time_t)(time / SECOND);
        value.it_value.tv_nsec = (long)(time % SECOND);
    }
    timerfd_settime(proxy->timer, TFD_TIMER_ABSTIME, &value, NULL);
}

static void handle(struct delaying_proxy *proxy, const struct epoll_event *event) {
    enum kind *kind = event->data.ptr;
    if (*kind == LISTENER) {
        struct listener *listener = (struct listener *)kind;
        int client = accept4(listener->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client >= 0) pair_add(proxy, client, listener->target);
    } else if (*kind == TIMER) {
        uint64_t expirations;
        if (read(proxy->timer, &expirations, sizeof expirations) < 0) return;
    } else {
        struct end *end = (struct end *)kind;
        struct pair *pair = end->outgoing->pair;
        if (!pair->is_closed && event->events & EPOLLOUT) flow_write(end->incoming);
        if (!pair->is_closed && event->events & ~(uint32_t)EPOLLOUT) end_read(end);
    }
}

void delaying_proxy_run(struct delaying_proxy *proxy, const volatile int *stops) {
    struct epoll_event events[64];
    while (!stops || !*stops) {
        set_timer(proxy, perform_events(proxy));
        int count = epoll_wait(proxy->epoll, events, 64, 100);
        for (int index = 0; index < count; index++) handle(proxy, &events[index]);
        free_closed_pairs(proxy);
    }
}

static bool add_listener(struct delaying_proxy *proxy, uint32_t address, struct delaying_proxy_route route) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return false;
    struct listener *listener = &proxy->listeners[proxy->listener_count++];
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(route.from), .sin_addr.s_addr = htonl(address)};
    *listener = (struct listener){.kind = LISTENER, .descriptor = descriptor, .target = own};
    listener->target.sin_port = htons(route.to);
    int on = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = listener};
    return bind(descriptor, (struct sockaddr *)&own, sizeof own) == 0 && listen(descriptor, 1024) == 0 &&
           epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

struct delaying_proxy *delaying_proxy_open(const struct delaying_proxy_options *options) {
    struct delaying_proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy) return NULL;
    proxy->round_trip = options->round_trip;
    proxy->up = proxy->down = (struct link_model){.rate = options->bytes_per_second, .delay = options->round_trip / 2};
    proxy->epoll = epoll_create1(EPOLL_CLOEXEC);
    proxy->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    proxy->timer_kind = TIMER;
    proxy->listeners = calloc(options->address_count * options->route_count, sizeof *proxy->listeners);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &proxy->timer_kind};
    bool is_complete = proxy->listeners && epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, proxy->timer, &event) == 0;
    for (size_t address = 0; address < options->address_count; address++) {
        for (size_t route = 0; is_complete && route < options->route_count; route++) {
            is_complete = add_listener(proxy, options->addresses[address], options->routes[route]);
        }
    }
    if (is_complete) return proxy;
    int reason = errno;
    delaying_proxy_close(proxy);
    errno = reason;
    return NULL;
}

void delaying_proxy_close(struct delaying_proxy *proxy) {
    for (struct pair *pair = proxy->pairs; pair; pair = pair->next) pair_close(pair);
    struct event_queue *queues[] = {
        &proxy->openings, &proxy->arrivals_up, &proxy->arrivals_down, &proxy->acknowledgments};
    for (int index = 0; index < 4; index++) {
        struct event *event;
        while ((event = event_queue_take(queues[index], UINT64_MAX))) event_release(event);
    }
    free_closed_pairs(proxy);
    for (size_t index = 0; index < proxy->listener_count; index++) close(proxy->listeners[index].descriptor);
    free(proxy->listeners);
    if (proxy->timer >= 0) close(proxy->timer);
    if (proxy->epoll >= 0) close(proxy->epoll);
    free(proxy);
}
