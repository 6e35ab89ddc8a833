#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The settings of a loop, whose strings must exist until the call ends.
struct curl_multi_loop_options {
    /// The maximum number of concurrent transfers.
    size_t concurrency;
    /// The maximum number of connections that are kept; 0 for `concurrency`.
    size_t connections;
    /// A file of certificate authorities, which libcurl parses once, or NULL for libcurl's defaults.
    const char *authority_file;
    /// Whether a transfer waits for a connection that may turn out to be one of HTTP/2 instead of opening another.
    bool shares_connections;
    /// Whether the memory of a body is freed when the body is complete, instead of being reused for the next one.
    bool frees_bodies;
};

/// The work of a run: the URLs `urls`, or, if that is NULL, `prefix` followed by each number from 0 to `count` - 1.
struct curl_multi_loop_work {
    const char *prefix;
    const char *const *urls;
    size_t count;
    /// An array for `count` latencies in nanoseconds, in the order in which the transfers end.
    uint64_t *latencies;
};

struct curl_multi_loop_result {
    size_t completed;
    uint64_t body_bytes;
};

/// A multi handle of libcurl with its easy handles, connections, and TLS sessions.
struct curl_multi_loop;

/// Returns a loop, or NULL if there is no memory or descriptor for it.
struct curl_multi_loop *curl_multi_loop_open(const struct curl_multi_loop_options *options);

/// Fetches the URLs on this thread with libcurl's multi interface and epoll.
///
/// It is the limit for small bodies: apart from libcurl's work, each body is only copied into memory that grows as it
/// arrives. Runs of one loop must not overlap.
///
/// Returns NULL or an error message, which is valid until the next call on the same thread.
const char *curl_multi_loop_run(
    struct curl_multi_loop *loop, const struct curl_multi_loop_work *work, struct curl_multi_loop_result *result);

/// Closes the connections and releases the loop.
void curl_multi_loop_close(struct curl_multi_loop *loop);
