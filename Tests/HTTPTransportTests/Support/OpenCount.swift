import Glibc

/// Counts how often a file is opened, by any process.
final class OpenCount {
    private let descriptor: Int32

    init?(of path: String) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        // Without a mask of its own, equal events that follow each other are reported as one.
        guard inotify_add_watch(descriptor, path, UInt32(IN_OPEN | IN_CLOSE_NOWRITE)) >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Returns the number of times that the file has been opened since the last call.
    func next() -> Int {
        var opened = 0
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 8) { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                var offset = 0
                while offset < count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    if event.mask & UInt32(IN_OPEN) != 0 { opened += 1 }
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
        return opened
    }
}
