import Glibc
import Testing

@testable import HTTPTransport

/// A connection stays with the kernel between its uses, unheard.
struct EventPollerTests {
    private let poller = EventPoller()

    /// The two ends of a connection that is watched for reading.
    private func connection() -> (ours: Int32, theirs: Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        poller.connectionOpened(ends[0])
        poller.watch(ends[0], readable: true, writable: false)
        return (ends[0], ends[1])
    }

    /// How many events come, and for how many of them somebody asked.
    private func poll() -> (come: Int, heard: [Int32]) {
        let count = poller.wait(timeout: .zero)
        var heard: [Int32] = []
        poller.deliver(count) { heard.append($0.descriptor) }
        return (count, heard)
    }

    @Test func whatComesBetweenTwoUsesIsHeardWithTheNext() {
        let (ours, theirs) = connection()
        defer { _ = (close(ours), close(theirs)) }
        poller.forget(ours)
        #expect(write(theirs, "x", 1) == 1)
        #expect(poll() == (1, []))
        #expect(poll() == (0, []), "it must not be woken for it again and again")
        poller.watch(ours, readable: true, writable: false)
        #expect(poll() == (1, [ours]))
    }

    @Test func anotherConnectionOfTheSameNumberIsWatchedAnew() {
        let (ours, theirs) = connection()
        let (next, other) = connection()
        defer { for end in [ours, theirs, next, other] { close(end) } }
        poller.forget(ours)
        poller.connectionClosed(ours)
        // Closes the old one and gives its number to the new one in one go, so that no other test can take it.
        #expect(dup2(next, ours) == ours)
        poller.connectionClosed(next)
        poller.forget(next)
        poller.connectionOpened(ours)
        poller.watch(ours, readable: true, writable: false)
        #expect(write(other, "x", 1) == 1)
        #expect(poll().heard == [ours])
    }
}
