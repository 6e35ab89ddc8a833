import Glibc

/// An open file, which is closed after its last use.
struct OpenFile: ~Copyable {
    private let descriptor: Int32
    private let path: String

    init(reading path: String) throws(Failure) {
        try self.init(path, O_RDONLY)
    }

    /// Creates an empty file, replacing any existing one.
    init(creating path: String) throws(Failure) {
        try self.init(path, O_WRONLY | O_CREAT | O_TRUNC)
    }

    private init(_ path: String, _ flags: Int32) throws(Failure) {
        self.path = path
        descriptor = unsafe open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure("open", path) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Reads into the beginning of `block` and returns the number of bytes, or 0 at the end of the file.
    func read(into block: inout [UInt8]) throws(Failure) -> Int {
        while true {
            let count = unsafe block.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR else { throw Failure("read", path) }
        }
    }

    func write(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw Failure("write to", path) }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
