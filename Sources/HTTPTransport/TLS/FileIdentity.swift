// The members of `timespec` belong to whichever of the modules the compiler loads first.
import CLinux

import Glibc

/// The properties of a file that differ after it has been replaced or modified.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let modified: [Int]

    /// Creates the identity of the file at `path` at present; returns `nil` if there is none.
    init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        let time = status.st_mtim
        modified = [Int(time.tv_sec), Int(time.tv_nsec)]
    }
}
