/// The properties of a request that determine which connections it can use.
///
/// TLS settings are not included because they depend on the host, nor credentials, which are sent with each request.
struct ConnectionKey: Sendable, Hashable {
    /// A Boolean value that indicates whether the connection has TLS to the origin, so that HTTP/2 is possible.
    let isSecure: Bool
    /// The host to connect to, or the URL of a proxy that receives the requests for all hosts.
    let host: String
    /// The zone of the host, an IPv6 address; `nil` if there is none.
    let zone: String?
    /// The port of the host; 0 for such a proxy.
    let port: Int
    /// The proxy that opens a tunnel to the host; `nil` if there is none.
    let tunnel: String?

    /// Creates the key of a request for `url` through `proxy`, if that is not `nil`.
    init(_ url: HTTPURL, proxy: String?) {
        isSecure = url.isSecure
        tunnel = isSecure ? proxy : nil
        if !isSecure, let proxy {
            host = proxy
            zone = nil
            port = 0
        } else {
            host = url.host
            zone = url.zone
            port = url.port
        }
    }
}
