#include "curl_multi_loop.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/// An easy handle, used for one transfer after another.
struct slot {
    CURL *easy;
    uint64_t started;
    char *body;
    size_t length;
    size_t capacity;
};

struct loop {
    const struct curl_multi_loop_options *options;
    struct curl_multi_loop_result *result;
    CURLM *multi;
    int epoll;
    /// The time in milliseconds after which libcurl is to be called, or a negative value for none.
    long timer;
    size_t next;
    size_t active;
    const char *failure;
};

static _Thread_local char failure_text[512];

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *pointer) {
    struct slot *slot = pointer;
    size_t added = size * count;
    if (slot->length + added > slot->capacity) {
        size_t capacity = slot->capacity ? slot->capacity * 2 : 16384;
        while (capacity < slot->length + added) capacity *= 2;
        char *body = realloc(slot->body, capacity);
        if (!body) return 0;
        slot->body = body;
        slot->capacity = capacity;
    }
    memcpy(slot->body + slot->length, bytes, added);
    slot->length += added;
    return added;
}

static int set_timer(CURLM *multi, long milliseconds, void *pointer) {
    (void)multi;
    ((struct loop *)pointer)->timer = milliseconds;
    return 0;
}

static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *pointer, void *watched) {
    (void)easy;
    struct loop *loop = pointer;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(loop->epoll, EPOLL_CTL_DEL, socket, NULL);
        curl_multi_assign(loop->multi, socket, NULL);
        return 0;
    }
    struct epoll_event event = {.data.fd = socket};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(loop->epoll, watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    curl_multi_assign(loop->multi, socket, loop);
    return 0;
}

static void start_next(struct loop *loop, struct slot *slot) {
    if (loop->next == loop->options->count) return;
    char url[1024];
    snprintf(url, sizeof url, "%s%zu", loop->options->prefix, loop->next++);
    curl_easy_setopt(slot->easy, CURLOPT_URL, url);
    slot->started = now();
    slot->body = NULL;
    slot->length = slot->capacity = 0;
    if (curl_multi_add_handle(loop->multi, slot->easy) != CURLM_OK) {
        loop->failure = "curl_multi_add_handle failed";
        return;
    }
    loop->active++;
}

static void settle_finished(struct loop *loop) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(loop->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        struct slot *slot;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(loop->multi, easy);
        loop->active--;
        loop->options->latencies[loop->result->completed++] = now() - slot->started;
        loop->result->body_bytes += slot->length;
        free(slot->body);
        slot->body = NULL;
        if (code != CURLE_OK || status != 200) {
            snprintf(failure_text, sizeof failure_text, "%s, status %ld", curl_easy_strerror(code), status);
            loop->failure = failure_text;
            return;
        }
        start_next(loop, slot);
    }
}

static void run(struct loop *loop) {
    struct epoll_event events[256];
    int running;
    while (loop->active > 0 && !loop->failure) {
        int count = epoll_wait(loop->epoll, events, 256, (int)loop->timer);
        if (count < 0 && errno != EINTR) loop->failure = "epoll_wait failed";
        for (int index = 0; index < count; index++) {
            int mask = 0;
            if (events[index].events & (EPOLLIN | EPOLLHUP)) mask |= CURL_CSELECT_IN;
            if (events[index].events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
            if (events[index].events & EPOLLERR) mask |= CURL_CSELECT_ERR;
            curl_multi_socket_action(loop->multi, events[index].data.fd, mask, &running);
        }
        if (count <= 0 || loop->timer == 0) {
            loop->timer = -1;
            curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        settle_finished(loop);
    }
}

const char *curl_multi_loop_run(
    const struct curl_multi_loop_options *options, struct curl_multi_loop_result *result) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return "curl_global_init failed";
    struct loop loop = {.options = options, .result = result, .timer = -1};
    *result = (struct curl_multi_loop_result){0};
    struct slot *slots = calloc(options->concurrency, sizeof *slots);
    loop.multi = curl_multi_init();
    loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!slots || !loop.multi || loop.epoll < 0) loop.failure = "out of memory or descriptors";

    if (!loop.failure) {
        curl_multi_setopt(loop.multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
        curl_multi_setopt(loop.multi, CURLMOPT_SOCKETDATA, &loop);
        curl_multi_setopt(loop.multi, CURLMOPT_TIMERFUNCTION, set_timer);
        curl_multi_setopt(loop.multi, CURLMOPT_TIMERDATA, &loop);
        curl_multi_setopt(loop.multi, CURLMOPT_MAXCONNECTS, (long)options->concurrency);
    }
    for (size_t index = 0; index < options->concurrency && !loop.failure; index++) {
        CURL *easy = slots[index].easy = curl_easy_init();
        if (!easy) {
            loop.failure = "curl_easy_init failed";
            break;
        }
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &slots[index]);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &slots[index]);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        // The default of 16 KiB halves the speed for bodies of 200 KiB.
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 60L << 10);
        start_next(&loop, &slots[index]);
    }
    run(&loop);

    for (size_t index = 0; slots && index < options->concurrency; index++) {
        if (!slots[index].easy) continue;
        curl_multi_remove_handle(loop.multi, slots[index].easy);
        curl_easy_cleanup(slots[index].easy);
        free(slots[index].body);
    }
    free(slots);
    if (loop.multi) curl_multi_cleanup(loop.multi);
    if (loop.epoll >= 0) close(loop.epoll);
    return loop.failure;
}
