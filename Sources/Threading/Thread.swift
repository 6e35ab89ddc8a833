import Glibc

/// The error when the system cannot start a thread.
package struct ThreadFailure: Error, Equatable, CustomStringConvertible {
    /// The result of `pthread_create`, an `errno`.
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    /// The system's message for the code.
    package var systemMessage: String { unsafe String(cString: strerror(code)) }

    package var description: String { "cannot start a thread: \(systemMessage)" }
}

/// A function that starts a detached thread that runs `body` once.
package typealias ThreadStarter = @Sendable (_ body: @escaping @Sendable () -> Void) throws(ThreadFailure) -> Void

/// Returns a function that starts threads of the system; see ``startThread(named:_:)``.
package func systemThreads(named name: String) -> ThreadStarter {
    { body throws(ThreadFailure) in try startThread(named: name, body) }
}

/// Starts a detached thread that runs `body` once.
///
/// For work that blocks or computes and therefore must not occupy the cooperative pool. Debuggers and `top` show the
/// name, truncated to 15 bytes.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadFailure) {
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))

    let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, body: body))
    var thread = pthread_t()
    let status = unsafe pthread_create(
        &thread, &attributes,
        { argument in
            guard let argument = unsafe argument else { return nil }
            let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
            nameCurrentThread(start.name)
            start.body()
            return nil
        }, start.toOpaque())
    guard status == 0 else {
        unsafe start.release()
        throw ThreadFailure(code: status)
    }
}

/// Returns a number that is unique among running threads and never 0.
package func currentThreadNumber() -> UInt {
    UInt(pthread_self())
}

/// `pthread_setname_np` is hidden from Swift behind `_GNU_SOURCE`; writing the kernel's file has the same effect.
private func nameCurrentThread(_ name: String) {
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    let bytes = Array(name.utf8.prefix(15))
    _ = unsafe write(file, bytes, bytes.count)
    close(file)
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}
