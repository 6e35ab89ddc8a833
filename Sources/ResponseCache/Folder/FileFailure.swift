import Glibc

/// A failed system call, with its `errno`, or a file that is refused.
package struct FileFailure: Error, Equatable, CustomStringConvertible {
    let code: Int32
    /// The reason why a file is refused; `nil` for that of the system.
    var reason: String?

    static var last: FileFailure { FileFailure(code: errno) }

    package var description: String {
        if let reason { return reason }
        return unsafe String(cString: strerror(code))
    }
}
