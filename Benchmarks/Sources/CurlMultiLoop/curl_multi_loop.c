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

struct curl_multi_loop {
    CURLM *multi;
    int epoll;
    struct slot *slots;
    size_t slot_count;
    bool frees_bodies;
    const struct curl_multi_loop_work *work;
    struct curl_multi_loop_result *result;
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
    ((struct curl_multi_loop *)pointer)->timer = milliseconds;
    return 0;
}

static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *pointer, void *watched) {
    (void)easy;
    struct curl_multi_loop *loop = pointer;
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

static void start_next(struct curl_multi_loop *loop, struct slot *slot) {
    const struct curl_multi_loop_work *work = loop->work;
    if (loop->next == work->count) return;
    char url[1024];
    if (work->urls) {
        snprintf(url, sizeof url, "%s", work->urls[loop->next]);
    } else {
        snprintf(url, sizeof url, "%s%zu", work->prefix, loop->next);
    }
    loop->next++;
    curl_easy_setopt(slot->easy, CURLOPT_URL, url);
    slot->started = now();
    slot->length = 0;
    if (curl_multi_add_handle(loop->multi, slot->easy) != CURLM_OK) {
        loop->failure = "curl_multi_add_handle failed";
        return;
    }
    loop->active++;
}

static void settle_finished(struct curl_multi_loop *loop) {
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
        loop->work->latencies[loop->result->completed++] = now() - slot->started;
        loop->result->body_bytes += slot->length;
        if (loop->frees_bodies) {
            free(slot->body);
            slot->body = NULL;
            slot->capacity = 0;
        }
        if (code != CURLE_OK || status != 200) {
            snprintf(failure_text, sizeof failure_text, "%s, status %ld", curl_easy_strerror(code), status);
            loop->failure = failure_text;
            return;
        }
        start_next(loop, slot);
    }
}

static void run(struct curl_multi_loop *loop) {
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

static CURL *make_easy(const struct curl_multi_loop_options *options, struct slot *slot) {
    CURL *easy = curl_easy_init();
    if (!easy) return NULL;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    // The default of 16 KiB halves the speed for bodies of 200 KiB.
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 60L << 10);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, options->shares_connections ? 1L : 0L);
    if (options->authority_file) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, options->authority_file);
        // With a folder, libcurl does not cache the file, but parses it for each connection.
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    return easy;
}

struct curl_multi_loop *curl_multi_loop_open(const struct curl_multi_loop_options *options) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
    struct curl_multi_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->timer = -1;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->multi = curl_multi_init();
    loop->slots = calloc(options->concurrency, sizeof *loop->slots);
    loop->frees_bodies = options->frees_bodies;
    bool is_complete = loop->epoll >= 0 && loop->multi && loop->slots;
    for (; is_complete && loop->slot_count < options->concurrency; loop->slot_count++) {
        struct slot *slot = &loop->slots[loop->slot_count];
        slot->easy = make_easy(options, slot);
        if (!slot->easy) is_complete = false;
    }
    if (!is_complete) {
        curl_multi_loop_close(loop);
        return NULL;
    }
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    size_t connections = options->connections ? options->connections : options->concurrency;
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)connections);
    return loop;
}

const char *curl_multi_loop_run(
    struct curl_multi_loop *loop, const struct curl_multi_loop_work *work, struct curl_multi_loop_result *result) {
    *result = (struct curl_multi_loop_result){0};
    loop->work = work;
    loop->result = result;
    loop->next = 0;
    loop->failure = NULL;
    for (size_t index = 0; index < loop->slot_count && !loop->failure; index++) start_next(loop, &loop->slots[index]);
    run(loop);
    // After a failure, other transfers are still active.
    for (size_t index = 0; loop->active > 0 && index < loop->slot_count; index++) {
        curl_multi_remove_handle(loop->multi, loop->slots[index].easy);
    }
    loop->active = 0;
    return loop->failure;
}

void curl_multi_loop_close(struct curl_multi_loop *loop) {
    for (size_t index = 0; index < loop->slot_count; index++) {
        curl_multi_remove_handle(loop->multi, loop->slots[index].easy);
        curl_easy_cleanup(loop->slots[index].easy);
        free(loop->slots[index].body);
    }
    free(loop->slots);
    if (loop->multi) curl_multi_cleanup(loop->multi);
    if (loop->epoll >= 0) close(loop->epoll);
    free(loop);
}
