import Glibc

/// The error when no thumbnail can be created.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(description: String) {
        self.description = description
    }

    /// Creates an error for `action` on `path`, with the reason in `errno`.
    init(_ action: String, _ path: String) {
        description = "cannot \(action) \(path): \(unsafe String(cString: strerror(errno)))"
    }
}
