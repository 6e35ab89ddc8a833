#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A line of elements for threads that wait for them.
///
/// `@unchecked Sendable`: `elements` and `isClosed` are touched only while `mutex` is held.
@safe
package final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var elements: [Element] = []
    private var head = 0
    private var isClosed = false

    /// An empty queue.
    package init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe changed = .allocate(capacity: 1)
        unsafe changed.initialize(to: pthread_cond_t())
        let status = unsafe (pthread_mutex_init(mutex, nil), pthread_cond_init(changed, nil))
        precondition(status == (0, 0), "pthread_mutex_init, pthread_cond_init: \(status)")
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Adds an element and wakes one thread.
    package func append(_ element: Element) {
        unsafe pthread_mutex_lock(mutex)
        elements.append(element)
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_signal(changed)
    }

    /// The oldest element; blocks the thread until there is one.
    ///
    /// Nil once the queue is closed and empty.
    package func next() -> Element? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while head == elements.count {
            if isClosed { return nil }
            unsafe pthread_cond_wait(changed, mutex)
        }
        let element = elements[head]
        head += 1
        if head == elements.count || head > 1_024 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Lets the waiting threads go.
    package func close() {
        unsafe pthread_mutex_lock(mutex)
        isClosed = true
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_broadcast(changed)
    }
}
