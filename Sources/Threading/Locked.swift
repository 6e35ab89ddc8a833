#if canImport(Darwin)
package import Darwin
#else
package import Glibc
#endif

/// A value behind a mutex: the one lock of this package.
///
/// Copies share the value and its mutex. Over `pthread_mutex_t` rather than `Synchronization.Mutex`, whose runtime is
/// not instrumented on Linux, so that thread sanitizer reports races that are not there.
///
/// Inlinable, or every use from another module would run unspecialised, at several times the cost.
///
/// `@unchecked Sendable`: the value is touched only between lock and unlock of its mutex.
package struct Locked<Value>: @unchecked Sendable {
    @usableFromInline let storage: LockedStorage<Value>

    /// A lock around `value`.
    @inlinable
    package init(_ value: sending Value) {
        storage = .make(value)
    }

    /// Runs `body` with the value while nobody else can.
    ///
    /// `body` must not block, nor take this lock again.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let mutex = unsafe storage.mutex
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&storage.header)
    }
}

/// A value and its mutex in one allocation.
@safe
package final class LockedStorage<Value>: ManagedBuffer<Value, pthread_mutex_t> {
    @inlinable
    static func make(_ value: sending Value) -> LockedStorage {
        let storage = unsafe create(minimumCapacity: 1) { _ in value }
        let status = unsafe storage.withUnsafeMutablePointerToElements { mutex in
            unsafe mutex.initialize(to: pthread_mutex_t())
            return unsafe pthread_mutex_init(mutex, nil)
        }
        precondition(status == 0, "pthread_mutex_init: \(status)")
        return unsafe unsafeDowncast(storage, to: LockedStorage.self)
    }

    /// Stays where it is as long as the storage lives.
    @inlinable var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        unsafe withUnsafeMutablePointerToElements { unsafe $0 }
    }

    @inlinable
    deinit {
        unsafe pthread_mutex_destroy(mutex)
    }
}
