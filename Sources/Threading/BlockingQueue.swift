import DequeModule

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A queue with two lanes for threads that wait for elements: short work goes first, but never starves long work.
///
/// `@unchecked Sendable`: all mutable state is accessed only while `mutex` is held.
@safe
package final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    /// The lane of an element.
    package enum Line: Sendable {
        /// Elements that go first.
        case short
        /// Elements whose turn is when no short element waits, and after every few short ones.
        case long
    }

    /// The maximum number of short elements taken before a waiting long one.
    private static var shortInARow: Int { 8 }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The conditions for threads that take all elements, and for those that take only short ones, so that a signal
    /// never wakes a thread that cannot take the element.
    private let anyAdded: UnsafeMutablePointer<pthread_cond_t>
    private let shortAdded: UnsafeMutablePointer<pthread_cond_t>
    /// The number of threads waiting for `anyAdded`.
    private var waitingForAny = 0
    private var short = Deque<Element>()
    private var long = Deque<Element>()
    private var shortSinceLong = 0
    private var isClosed = false

    /// Creates an empty queue.
    package init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe anyAdded = Self.makeCondition()
        unsafe shortAdded = Self.makeCondition()
        let status = unsafe pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init: \(status)")
    }

    private static func makeCondition() -> UnsafeMutablePointer<pthread_cond_t> {
        let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        unsafe condition.initialize(to: pthread_cond_t())
        let status = unsafe pthread_cond_init(condition, nil)
        precondition(status == 0, "pthread_cond_init: \(status)")
        return unsafe condition
    }

    deinit {
        unsafe pthread_cond_destroy(anyAdded)
        unsafe pthread_cond_destroy(shortAdded)
        unsafe pthread_mutex_destroy(mutex)
        unsafe anyAdded.deallocate()
        unsafe shortAdded.deallocate()
        unsafe mutex.deallocate()
    }

    /// Adds an element and wakes a thread that can take it.
    package func append(_ element: Element, to line: Line = .short) {
        unsafe pthread_mutex_lock(mutex)
        switch line {
        case .short: short.append(element)
        case .long: long.append(element)
        }
        signalForRemaining()
        unsafe pthread_mutex_unlock(mutex)
    }

    /// A Boolean value that indicates whether an element of the lane for short work is waiting.
    package var hasShort: Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return !short.isEmpty
    }

    /// Returns the next element, the oldest of its lane; blocks the thread until there is one.
    ///
    /// With `onlyShort`, long elements are left to other threads. Returns `nil` once the queue is closed and empty.
    package func next(onlyShort: Bool = false) -> Element? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let element = take(onlyShort) {
                signalForRemaining()
                return element
            }
            if isClosed { return nil }
            if onlyShort {
                unsafe pthread_cond_wait(shortAdded, mutex)
            } else {
                waitingForAny += 1
                unsafe pthread_cond_wait(anyAdded, mutex)
                waitingForAny -= 1
            }
        }
    }

    /// Closes the queue and releases waiting threads.
    package func close() {
        unsafe pthread_mutex_lock(mutex)
        isClosed = true
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_broadcast(anyAdded)
        unsafe pthread_cond_broadcast(shortAdded)
    }

    /// Wakes one thread for the remaining elements, if there is one that can take them.
    ///
    /// Called for every added or removed element, because a thread woken for one element can find another one as
    /// well.
    private func signalForRemaining() {
        if waitingForAny > 0 {
            if !short.isEmpty || !long.isEmpty { unsafe pthread_cond_signal(anyAdded) }
        } else if !short.isEmpty {
            unsafe pthread_cond_signal(shortAdded)
        }
    }

    private func take(_ onlyShort: Bool) -> Element? {
        if !onlyShort, short.isEmpty || shortSinceLong >= Self.shortInARow, let element = long.popFirst() {
            shortSinceLong = 0
            return element
        }
        guard let element = short.popFirst() else { return nil }
        if !long.isEmpty { shortSinceLong += 1 }
        return element
    }
}
