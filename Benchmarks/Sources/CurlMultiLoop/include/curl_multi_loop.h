#pragma once

#include <stddef.h>
#include <stdint.h>

/// The URLs to fetch: `prefix` followed by the numbers from 0 to `count` - 1.
struct curl_multi_loop_options {
    const char *prefix;
    size_t count;
    /// The maximum number of concurrent transfers.
    size_t concurrency;
    /// Room for `count` latencies in nanoseconds, in the order in which the transfers end.
    uint64_t *latencies;
};

struct curl_multi_loop_result {
    size_t completed;
    uint64_t body_bytes;
};

/// The limit for every other engine: libcurl's multi interface on epoll, one thread, nothing between libcurl and a
/// `memcpy` of each body into memory of its own.
///
/// Returns NULL or an error message, which is valid until the next call on the same thread.
const char *curl_multi_loop_run(
    const struct curl_multi_loop_options *options, struct curl_multi_loop_result *result);
