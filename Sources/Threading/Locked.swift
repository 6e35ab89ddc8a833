#if canImport(Darwin)
package import Darwin
#else
package import Glibc
#endif

/// A value behind a mutex: the one lock of this package.
///
/// Over `pthread_mutex_t` rather than `Synchronization.Mutex`, whose runtime is not instrumented on Linux, so that
/// thread sanitizer reports races that are not there.
///
/// Inlinable, or every use from another module would run unspecialised, at several times the cost.
///
/// `@unchecked Sendable`: `value` is touched only between lock and unlock of `mutex`.
@safe
package final class Locked<Value>: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline var value: Value

    /// A lock around `value`.
    @inlinable
    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let status = unsafe pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init: \(status)")
    }

    @inlinable
    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the value while nobody else can.
    ///
    /// `body` must not block, nor take this lock again.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
