import Glibc

/// A wake-up mechanism for a thread without a descriptor to wait for.
///
/// `@unchecked Sendable`: the flag is accessed only while the mutex is held.
@safe
final class WakeUpFlag: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let raised: UnsafeMutablePointer<pthread_cond_t>
    private var isRaised = false

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe raised = .allocate(capacity: 1)
        unsafe raised.initialize(to: pthread_cond_t())
        let status = unsafe (pthread_mutex_init(mutex, nil), pthread_cond_init(raised, nil))
        precondition(status == (0, 0), "cannot make a condition variable: \(status)")
    }

    deinit {
        unsafe pthread_cond_destroy(raised)
        unsafe pthread_mutex_destroy(mutex)
        unsafe raised.deallocate()
        unsafe mutex.deallocate()
    }

    /// Ends the current wait, or the next one.
    func raise() {
        unsafe pthread_mutex_lock(mutex)
        isRaised = true
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_signal(raised)
    }

    /// Waits until the flag is raised or `timeout` has passed, then lowers it; `nil` means no limit.
    func wait(timeout: Duration?) {
        // Condition variables use this clock on every system.
        var end = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &end)
        if let timeout { end += timespec(timeout) }
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        var status: Int32 = 0
        while !isRaised, status == 0 {
            status =
                unsafe timeout == nil
                ? pthread_cond_wait(raised, mutex) : pthread_cond_timedwait(raised, mutex, &end)
        }
        isRaised = false
    }
}
