import Glibc

/// The identity of a file, as long as it exists.
struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
