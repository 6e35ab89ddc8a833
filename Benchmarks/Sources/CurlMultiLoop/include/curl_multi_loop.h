#pragma once

#include <stddef.h>
#include <stdint.h>

/// The options of a run, whose URLs are `prefix` followed by each number from 0 to `count` - 1.
struct curl_multi_loop_options {
    const char *prefix;
    size_t count;
    /// The maximum number of concurrent transfers.
    size_t concurrency;
    /// An array for `count` latencies in nanoseconds, in the order in which the transfers end.
    uint64_t *latencies;
};

struct curl_multi_loop_result {
    size_t completed;
    uint64_t body_bytes;
};

/// Fetches the URLs on this thread with libcurl's multi interface and epoll.
///
/// It is the limit for small bodies: apart from libcurl's work, each body is only copied into memory that grows as it
/// arrives.
///
/// Returns NULL or an error message, which is valid until the next call on the same thread.
const char *curl_multi_loop_run(
    const struct curl_multi_loop_options *options, struct curl_multi_loop_result *result);
