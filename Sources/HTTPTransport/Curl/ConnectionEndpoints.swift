import Glibc

/// The properties that distinguish a TCP connection from all others that are open on this machine.
///
/// Connections to different servers can have the same local port.
struct ConnectionEndpoints: Sendable, Hashable {
    let localPort: Int
    let peerAddress: IPAddress
    let peerPort: Int
}

extension ConnectionEndpoints {
    /// Creates the endpoints of a socket; `nil` if it is not connected.
    init?(of descriptor: Int32) {
        guard let local = unsafe endpoint(of: descriptor, by: getsockname),
            let peer = unsafe endpoint(of: descriptor, by: getpeername)
        else { return nil }
        self.init(localPort: local.port, peerAddress: peer.address, peerPort: peer.port)
    }
}

/// Returns one end of a TCP socket, which `get` reads; `nil` if it is unknown.
private func endpoint(
    of descriptor: Int32,
    by get: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
) -> (address: IPAddress, port: Int)? {
    var socket = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    return unsafe withUnsafeMutablePointer(to: &socket) { socket in
        unsafe socket.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            guard unsafe get(descriptor, pointer, &length) == 0, let address = unsafe IPAddress(pointer) else {
                return nil
            }
            // The port has the same offset in the addresses of both versions.
            return (address, Int(UInt16(bigEndian: unsafe socket.pointee.sin6_port)))
        }
    }
}
