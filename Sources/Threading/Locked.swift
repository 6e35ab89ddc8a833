public import Glibc

/// A value protected by a mutex: the only lock of this package.
///
/// Copies share the value and its mutex. Based on `pthread_mutex_t` instead of `Synchronization.Mutex`, whose runtime
/// is not instrumented on Linux, so that the thread sanitizer reports false races.
///
/// `Value` must not be a closure, or a tuple with closures, but a structure that contains them: the compiler wraps a
/// closure in another one whenever it is accessed as a value of generic type, so that each access would take longer.
///
/// Public and inlinable, although only this package can import its module: the compiler does not inline package
/// functions in other modules, and calling the generic version takes several times as long.
///
/// `@unchecked Sendable`: the value is accessed only while its mutex is locked.
public struct Locked<Value>: @unchecked Sendable {
    @usableFromInline let storage: LockedStorage<Value>

    /// Creates a lock that protects `value`.
    @inlinable
    public init(_ value: consuming sending Value) {
        storage = .make(consume value)
    }

    /// Runs `body` with exclusive access to the value.
    ///
    /// `body` must not block or take this lock again.
    @inlinable
    public func withLock<Result, Failure: Error>(
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
public final class LockedStorage<Value>: ManagedBuffer<Value, pthread_mutex_t> {
    @inlinable
    static func make(_ value: consuming sending Value) -> LockedStorage {
        // Moved by the only call of the closure, which would copy a large value that it captures.
        var value: Value? = consume value
        let storage = unsafe create(minimumCapacity: 1) { _ in
            guard let value = value.take() else { preconditionFailure("the value is needed only once") }
            return value
        }
        let status = unsafe storage.withUnsafeMutablePointerToElements { mutex in
            unsafe mutex.initialize(to: pthread_mutex_t())
            return unsafe pthread_mutex_init(mutex, nil)
        }
        precondition(status == 0, "pthread_mutex_init: \(status)")
        return unsafe unsafeDowncast(storage, to: LockedStorage.self)
    }

    /// The mutex, whose address is stable as long as the storage exists.
    @inlinable var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        unsafe withUnsafeMutablePointerToElements { unsafe $0 }
    }

    @inlinable
    deinit {
        unsafe pthread_mutex_destroy(mutex)
    }
}
