import COpenSSL

import Glibc

/// The socket below TLS, as OpenSSL's callbacks use it, with limits on what they read.
///
/// OpenSSL reads until it has a byte for the application; a server could keep it busy with records that have none.
struct RawSocket {
    /// The number of bytes that one call of OpenSSL can read.
    static let maximumTurn = 256 << 10
    /// The number of bytes that can arrive without one for the application.
    static let maximumFruitless = 256 << 10

    private let socket: Socket
    private var remainderOfTurn = 0
    /// A Boolean value that indicates whether everything that had arrived has been read, so that the socket will be
    /// reported when there is more.
    private var isDrained = false
    /// The number of bytes that have been received since ``noteApplicationBytes()``.
    private var fruitlessCount = 0
    /// A Boolean value that indicates whether too many bytes have arrived without one for the application.
    private(set) var isFlooded = false
    /// A Boolean value that indicates whether the server has closed the connection.
    private(set) var hasEnded = false
    /// The last error of the system, 0 if there was none.
    private(set) var systemError: Int32 = 0

    init(_ socket: Socket) {
        self.socket = socket
    }

    /// Begins a call of OpenSSL.
    mutating func beginTurn() {
        remainderOfTurn = Self.maximumTurn
        isDrained = false
    }

    /// Records that bytes for the application have arrived.
    mutating func noteApplicationBytes() { fruitlessCount = 0 }

    /// Receives bytes; returns `nil` if that must be tried again later, or a negative number after a failure.
    fileprivate mutating func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int32? {
        if isDrained || remainderOfTurn <= 0 { return nil }
        if fruitlessCount > Self.maximumFruitless {
            isFlooded = true
            return -1
        }
        switch unsafe socket.receive(into: buffer) {
        case .count(let count):
            hasEnded = count == 0
            isDrained = count < buffer.count
            remainderOfTurn -= count
            fruitlessCount += count
            return Int32(clamping: count)
        case .wouldBlock:
            isDrained = true
            return nil
        case .failed(let error):
            systemError = error
            return -1
        }
    }

    fileprivate mutating func send(_ bytes: Span<UInt8>) -> Int32? {
        switch socket.send(bytes) {
        case .count(let count): return Int32(clamping: count)
        case .wouldBlock: return nil
        case .failed(let error):
            systemError = error
            return -1
        }
    }
}

extension RawSocket {
    /// OpenSSL's interface to a raw socket, whose address is the data of the `BIO`; its own sockets raise a signal if
    /// the server has closed the connection.
    ///
    /// `nonisolated(unsafe)`: the method is complete before any thread can use it, and never changes.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        guard let method = unsafe BIO_meth_new(type, "socket") else { return nil }
        unsafe BIO_meth_set_read(method) { bio, bytes, count in
            unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            guard let data = unsafe BIO_get_data(bio), let bytes = unsafe bytes, count > 0 else { return -1 }
            let raw = unsafe data.assumingMemoryBound(to: RawSocket.self)
            let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
            if let received = unsafe raw.pointee.receive(into: buffer) { return received }
            unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        unsafe BIO_meth_set_write(method) { bio, bytes, count in
            unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            guard let data = unsafe BIO_get_data(bio), let bytes = unsafe bytes, count > 0 else { return -1 }
            let raw = unsafe data.assumingMemoryBound(to: RawSocket.self)
            let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count)).assumingMemoryBound(
                to: UInt8.self)
            if let sent = unsafe raw.pointee.send(buffer.span) { return sent }
            unsafe BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return unsafe method
    }()

    /// Makes `ssl` use the socket at `address`, which must outlive it; returns `false` if there is no memory.
    static func connect(_ ssl: OpaquePointer, to address: UnsafeMutablePointer<RawSocket>) -> Bool {
        guard let bio = unsafe BIO_new(method) else { return false }
        unsafe BIO_set_data(bio, address)
        unsafe BIO_set_init(bio, 1)
        unsafe SSL_set_bio(ssl, bio, bio)
        return true
    }
}
