import CCurl
import Threading

import Glibc

extension CurlEasy {
    /// Installs the callbacks, which report to ``exchange`` through the handle's owner.
    ///
    /// libcurl calls them only while the handle is in the multi, and the exchange holds the owner that long.
    func setCallbacks() throws(CurlOptionFailure) {
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_PRIVATE, this))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_WRITEDATA, this))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_HEADERDATA, this))
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_PREREQDATA, this))
        try unsafe check(
            ccurl_set_data_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
                unsafe withExchange(owner, bytes, size * count, .body) { $0.receive(body: $1) } ?? 0
            })
        try unsafe check(
            ccurl_set_data_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
                unsafe withExchange(owner, bytes, size * count, .headerLines) { exchange, line in
                    exchange.transfer.receive(headerLines: line) ? line.count : 0
                } ?? 0
            })
        try unsafe check(
            ccurl_set_prereq_function(handle) { owner, peer, _, peerPort, localPort in
                guard let owner = unsafe owner else { return CURL_PREREQFUNC_ABORT }
                let easy = unsafe Unmanaged<CurlEasy>.fromOpaque(owner).takeUnretainedValue()
                guard let exchange = easy.exchange else { return CURL_PREREQFUNC_ABORT }
                let address = unsafe peer.flatMap { IPAddress(unsafe String(cString: $0)) }
                if let policy = easy.policy {
                    guard exchange.mayUseConnection(to: address, by: policy) else { return CURL_PREREQFUNC_ABORT }
                }
                let endpoints = address.map {
                    ConnectionEndpoints(localPort: Int(localPort), peerAddress: $0, peerPort: Int(peerPort))
                }
                exchange.connected(endpoints, of: easy.connections)
                return CURL_PREREQFUNC_OK
            })
        try openSockets()
    }

    /// Installs a callback that checks every address against the policy, if there are rules, before a connection is
    /// opened, and that records missing file descriptors, which libcurl does not report.
    private func openSockets() throws(CurlOptionFailure) {
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        try unsafe check(ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, this))
        try unsafe check(
            ccurl_set_open_socket_function(handle) { owner, _, address in
                guard let owner = unsafe owner, let address = unsafe address else { return CURL_SOCKET_BAD }
                let easy = unsafe Unmanaged<CurlEasy>.fromOpaque(owner).takeUnretainedValue()
                guard let exchange = easy.exchange, let socketAddress = unsafe ccurl_socket_address(address) else {
                    return CURL_SOCKET_BAD
                }
                if let policy = easy.policy {
                    let address = unsafe IPAddress(socketAddress)
                    guard exchange.mayConnect(to: address, by: policy) else { return CURL_SOCKET_BAD }
                }
                let (family, type) = unsafe (address.pointee.family, address.pointee.socktype)
                let descriptor = socket(
                    family, type | Int32(SOCK_CLOEXEC.rawValue), unsafe address.pointee.protocol)
                guard descriptor >= 0 else {
                    if OpenFileLimit.isShortage(errno) { exchange.lacksDescriptor = true }
                    return CURL_SOCKET_BAD
                }
                return descriptor
            })
    }

    /// Makes libcurl report the opening and closing of every connection to `connections`.
    ///
    /// A connection outlives the handle that opened it, and is closed before the end of `connections`.
    func announceConnections(to connections: CurlConnections) throws(CurlOptionFailure) {
        self.connections = connections
        try unsafe check(
            ccurl_set_pointer(handle, CURLOPT_SOCKOPTDATA, Unmanaged.passUnretained(self).toOpaque()))
        try unsafe check(
            ccurl_set_socket_opened_function(handle) { owner, descriptor, _ in
                guard let owner = unsafe owner else { return CURL_SOCKOPT_ERROR }
                let easy = unsafe Unmanaged<CurlEasy>.fromOpaque(owner).takeUnretainedValue()
                let isPlain = easy.exchange.map { $0.connectsOnly || !$0.transfer.request.url.isSecure } ?? false
                if let socket = easy.connections?.opened(descriptor, isPlain: isPlain) {
                    easy.exchange?.opened(socket)
                }
                return CURL_SOCKOPT_OK
            })
        try unsafe check(
            ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(connections).toOpaque()))
        try unsafe check(
            ccurl_set_close_socket_function(handle) { connections, descriptor in
                if let connections = unsafe connections {
                    let tracker = unsafe Unmanaged<CurlConnections>.fromOpaque(connections).takeUnretainedValue()
                    guard tracker.released(descriptor) else { return 0 }
                }
                return close(descriptor)
            })
    }

    /// Returns the exchange on the handle whose private pointer is `owner`.
    static func exchange(of owner: UnsafeMutableRawPointer?) -> CurlExchange? {
        guard let owner = unsafe owner else { return nil }
        return unsafe Unmanaged<CurlEasy>.fromOpaque(owner).takeUnretainedValue().exchange
    }
}

private func withExchange(
    _ owner: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ content: CallContent,
    _ body: (CurlExchange, Span<UInt8>) -> Int
) -> Int? {
    guard let exchange = unsafe CurlEasy.exchange(of: owner), let bytes = unsafe bytes else { return nil }
    exchange.easy.connections?.delivered(content, from: exchange.connection?.descriptor)
    return unsafe UnsafeRawPointer(bytes).withMemoryRebound(to: UInt8.self, capacity: count) { pointer in
        let buffer = unsafe UnsafeBufferPointer(start: pointer, count: count)
        return unsafe body(exchange, buffer.span)
    }
}
