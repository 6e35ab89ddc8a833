import DequeModule

import Glibc

/// A queue with two lanes for threads that wait for elements: short work goes first, but never starves long work.
///
/// `@unchecked Sendable`: all mutable state is accessed only while `mutex` is held.
@safe
package final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    /// The maximum number of short elements taken before a waiting long one.
    private static var shortInARow: Int { 8 }

    /// The threads waiting for a condition.
    private struct Waiters {
        var count = 0
        /// A Boolean value that indicates whether one of them has been signaled and has not returned yet.
        var isWaking = false
        /// The number of signals that were not sent because one of them was waking up.
        private var skipped = 0
        /// The number of signals that are not sent before another one is: glibc before 2.41 can lose a signal.
        private static var maximumSkipped: Int { 8 }

        /// Returns whether one of them must be signaled; if one is waking up already, it will signal the next one.
        mutating func wake() -> Bool {
            skipped = isWaking && skipped < Self.maximumSkipped ? skipped + 1 : 0
            isWaking = true
            return skipped == 0
        }

        mutating func hasReturned() {
            count -= 1
            isWaking = false
        }
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The conditions for threads that take all elements, and for those that take only short ones, so that a signal
    /// never wakes a thread that cannot take the element.
    private let anyAdded: UnsafeMutablePointer<pthread_cond_t>
    private let shortAdded: UnsafeMutablePointer<pthread_cond_t>
    /// The threads waiting for `anyAdded` and `shortAdded`.
    private var forAny = Waiters()
    private var forShort = Waiters()
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
    package func append(_ element: Element, to lane: WorkLane = .short) {
        unsafe pthread_mutex_lock(mutex)
        switch lane {
        case .short: short.append(element)
        case .long: long.append(element)
        }
        unlockAndWake()
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
        while true {
            if let element = take(onlyShort) {
                unlockAndWake()
                return element
            }
            if isClosed {
                unsafe pthread_mutex_unlock(mutex)
                return nil
            }
            if onlyShort {
                forShort.count += 1
                unsafe pthread_cond_wait(shortAdded, mutex)
                forShort.hasReturned()
            } else {
                forAny.count += 1
                unsafe pthread_cond_wait(anyAdded, mutex)
                forAny.hasReturned()
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

    /// Unlocks the mutex and wakes one thread for the remaining elements, if there is one that can take them.
    ///
    /// Called for every added or removed element, because a thread woken for one element can find another one as
    /// well. A thread is woken after unlocking: otherwise, it would have to wait for the mutex.
    private func unlockAndWake() {
        var condition: UnsafeMutablePointer<pthread_cond_t>?
        if forAny.count > 0 {
            if !short.isEmpty || !long.isEmpty, forAny.wake() { unsafe condition = anyAdded }
        } else if forShort.count > 0, !short.isEmpty, forShort.wake() {
            unsafe condition = shortAdded
        }
        unsafe pthread_mutex_unlock(mutex)
        if let condition = unsafe condition { unsafe pthread_cond_signal(condition) }
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

/// The lane of an element of a ``BlockingQueue``.
package enum WorkLane: Sendable {
    /// Elements that go first.
    case short
    /// Elements that are taken when no short element waits, or after several short ones in a row.
    case long
}
