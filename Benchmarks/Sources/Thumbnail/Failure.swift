import Glibc

/// Why there is no thumbnail.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(description: String) {
        self.description = description
    }

    /// Cannot `action` `path`, for the reason in `errno`.
    init(_ action: String, _ path: String) {
        description = "cannot \(action) \(path): \(unsafe String(cString: strerror(errno)))"
    }
}
