import Glibc

/// A listening TCP socket on 127.0.0.1, from whose connections nothing is ever read.
package struct SilentListener: ~Copyable {
    private let descriptor: Int32
    package let port: Int

    package struct Failure: Error {}

    /// Creates a listener on `requestedPort`, or on a port that the system selects.
    package init(port requestedPort: Int = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in.loopback(port: requestedPort)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe bytes.withMemoryRebound(to: sockaddr.self) { address in
                unsafe bind(descriptor, address.baseAddress, length) | listen(descriptor, 8)
                    | getsockname(descriptor, address.baseAddress, &length)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard status == 0 else { throw Failure() }
    }

    deinit { close(descriptor) }

    /// Waits for a connection, sends `text` over it, and returns its descriptor, which the caller closes.
    package func accept(sending text: String) -> Int32 {
        let connection = Glibc.accept(descriptor, nil, nil)
        var text = text
        text.withUTF8 { bytes in _ = unsafe send(connection, bytes.baseAddress, bytes.count, 0) }
        return connection
    }
}

/// Returns a port that was free a moment ago, outside the range that the system assigns automatically.
package func freePort() throws -> Int {
    for _ in 0..<100 {
        if let listener = try? SilentListener(port: .random(in: 10_000..<32_768)) { return listener.port }
    }
    throw SilentListener.Failure()
}

/// Returns whether a server listens on `port` of 127.0.0.1.
package func isAccepting(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in.loopback(port: port)
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return unsafe withUnsafeMutableBytes(of: &address) { bytes in
        unsafe bytes.withMemoryRebound(to: sockaddr.self) { address in
            unsafe connect(descriptor, address.baseAddress, length) == 0
        }
    }
}

extension sockaddr_in {
    fileprivate static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
