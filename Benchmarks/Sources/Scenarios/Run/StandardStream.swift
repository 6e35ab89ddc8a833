import Glibc

/// What the process writes to whoever started it, without a buffer in between.
enum StandardStream {
    static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            // Nobody listens any more: then there is nobody to tell either.
            guard count >= 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
