import DequeModule

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Two lines of elements for threads that wait for them: short work goes first, but never keeps long work out.
///
/// `@unchecked Sendable`: everything that changes is touched only while `mutex` is held.
@safe
package final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    /// Where an element queues up.
    package enum Line: Sendable {
        /// Goes first.
        case short
        /// Has its turn when no short element waits, and after every few of them.
        case long
    }

    /// So many short elements may go before a long one that waits.
    private static var shortInARow: Int { 8 }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// What the threads that take everything, and those that take only short elements, wait for: a signal never wakes one
    /// that cannot take the element.
    private let anyAdded: UnsafeMutablePointer<pthread_cond_t>
    private let shortAdded: UnsafeMutablePointer<pthread_cond_t>
    /// How many threads wait for `anyAdded`.
    private var waitingForAny = 0
    private var short = Deque<Element>()
    private var long = Deque<Element>()
    private var shortSinceLong = 0
    private var isClosed = false

    /// An empty queue.
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

    /// Adds an element and wakes a thread that may take it.
    package func append(_ element: Element, to line: Line = .short) {
        unsafe pthread_mutex_lock(mutex)
        switch line {
        case .short: short.append(element)
        case .long: long.append(element)
        }
        signalForRest()
        unsafe pthread_mutex_unlock(mutex)
    }

    /// A Boolean value that indicates whether a short element waits to be taken.
    package var hasShort: Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return !short.isEmpty
    }

    /// The next element, the oldest of its line; blocks the thread until there is one.
    ///
    /// With `onlyShort` long ones are left to others. Nil once the queue is closed and nothing is left to take.
    package func next(onlyShort: Bool = false) -> Element? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let element = take(onlyShort) {
                signalForRest()
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

    /// Lets the waiting threads go.
    package func close() {
        unsafe pthread_mutex_lock(mutex)
        isClosed = true
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_broadcast(anyAdded)
        unsafe pthread_cond_broadcast(shortAdded)
    }

    /// Wakes one thread for what is left, if there is one that may take it.
    ///
    /// Called for every element that comes or goes: a thread that was woken for one may find another one besides.
    private func signalForRest() {
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
