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
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var short = Elements()
    private var long = Elements()
    private var shortSinceLong = 0
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

    /// Adds an element and wakes a thread that may take it.
    package func append(_ element: Element, to line: Line = .short) {
        unsafe pthread_mutex_lock(mutex)
        switch line {
        case .short: short.append(element)
        case .long: long.append(element)
        }
        unsafe pthread_mutex_unlock(mutex)
        // The one thread that a signal wakes may be one that takes nothing long.
        switch line {
        case .short: unsafe pthread_cond_signal(changed)
        case .long: unsafe pthread_cond_broadcast(changed)
        }
    }

    /// The next element, the oldest of its line; blocks the thread until there is one.
    ///
    /// With `onlyShort` long ones are left to others. Nil once the queue is closed and nothing is left to take.
    package func next(onlyShort: Bool = false) -> Element? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let element = take(onlyShort) { return element }
            if isClosed { return nil }
            unsafe pthread_cond_wait(changed, mutex)
        }
    }

    /// Lets the waiting threads go.
    package func close() {
        unsafe pthread_mutex_lock(mutex)
        isClosed = true
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_broadcast(changed)
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

    /// First in, first out.
    private struct Elements {
        private var elements: [Element] = []
        private var head = 0

        var isEmpty: Bool { head == elements.count }

        mutating func append(_ element: Element) { elements.append(element) }

        mutating func popFirst() -> Element? {
            guard !isEmpty else { return nil }
            let element = elements[head]
            head += 1
            if head == elements.count || head > 1_024 {
                elements.removeFirst(head)
                head = 0
            }
            return element
        }
    }
}
