#pragma once

#include <stddef.h>
#include <stdint.h>

/// Ports of a proxy: connections to `from` are forwarded to the same address with the port `to`.
struct delaying_proxy_route {
    uint16_t from;
    uint16_t to;
};

struct delaying_proxy_options {
    /// The time for a round trip, in nanoseconds; half of it for each direction.
    uint64_t round_trip;
    /// The rate of the link in each direction, which all connections share.
    uint64_t bytes_per_second;
    /// The IPv4 addresses to listen on, in the byte order of this machine.
    const uint32_t *addresses;
    size_t address_count;
    const struct delaying_proxy_route *routes;
    size_t route_count;
};

/// A TCP proxy that delays like a long line without losses.
///
/// A connection takes a round trip to be established: until then, nothing is read from the client. After that, each
/// direction has a congestion window in slow start and shares the link with the other connections.
struct delaying_proxy;

/// Returns a proxy that listens, or NULL with the reason in `errno`.
struct delaying_proxy *delaying_proxy_open(const struct delaying_proxy_options *options);

/// Forwards on this thread until `*stops` is not 0, which is checked at least every 100 ms; forever if it is NULL.
void delaying_proxy_run(struct delaying_proxy *proxy, const volatile int *stops);

/// Closes all connections, and releases the proxy.
void delaying_proxy_close(struct delaying_proxy *proxy);
