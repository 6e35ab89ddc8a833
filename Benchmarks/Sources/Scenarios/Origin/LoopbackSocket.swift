import Glibc

/// Blocking TCP connections to this machine, which cost the measured process as little as possible.
enum LoopbackSocket {
    /// Sends `request` and returns all that is received until the server closes the connection.
    static func answer(to request: String, port: UInt16) throws -> String {
        let descriptor = try open()
        defer { close(descriptor) }
        try check(connect(descriptor, port: port), "connect to port \(port)")
        let bytes = Array(request.utf8)
        try check(unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }, "write")
        var answer: [UInt8] = []
        while true {
            var piece = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            try check(count, "read")
            if count == 0 { return String(decoding: answer, as: UTF8.self) }
            answer += piece.prefix(count)
        }
    }

    /// Returns a Boolean value that indicates whether a server is listening on the port.
    static func isListening(port: UInt16) -> Bool {
        guard let descriptor = try? open() else { return false }
        defer { close(descriptor) }
        return connect(descriptor, port: port) == 0
    }

    /// Returns a port that was free a moment ago.
    static func freePort() throws -> UInt16 {
        let descriptor = try open()
        defer { close(descriptor) }
        var address = loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, size) == 0 ? getsockname(descriptor, pointer, &size) : -1
            }
        }
        try check(status, "get a free port")
        return UInt16(bigEndian: address.sin_port)
    }

    private static func open() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try check(descriptor, "get a socket")
        return descriptor
    }

    private static func connect(_ descriptor: Int32, port: UInt16) -> Int32 {
        var address = loopback(port: port)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return address
    }

    private static func check(_ status: some BinaryInteger, _ action: String) throws {
        guard status >= 0 else {
            throw OriginError(description: "cannot \(action): \(unsafe String(cString: strerror(errno)))")
        }
    }
}
