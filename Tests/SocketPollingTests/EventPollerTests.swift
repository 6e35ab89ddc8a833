import Glibc
import SocketPolling
import Testing
import Threading

/// The behavior of an event poller.
@Suite(.timeLimit(.minutes(1)))
struct EventPollerTests {
    /// The result of one wait: the number of events, and of wanted events.
    private struct Report: Equatable {
        let count: Int
        var heard: [Int32] = []
    }

    /// The two ends of a connection that is watched for reading.
    private func connection(_ poller: EventPoller) -> (ours: Int32, theirs: Int32) {
        let ends = socketPair()
        poller.connectionOpened(ends.ours)
        poller.watch(ends.ours, for: .readable)
        return ends
    }

    private func socketPair() -> (ours: Int32, theirs: Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    private func report(_ poller: EventPoller) -> Report {
        let events = events(poller)
        return Report(count: events.count, heard: events.heard.map(\.descriptor))
    }

    private func events(_ poller: EventPoller) -> (count: Int, heard: [SocketEvent]) {
        let count = poller.wait(timeout: .zero)
        var heard: [SocketEvent] = []
        poller.deliver(count) { heard.append($0) }
        return (count, heard)
    }

    // MARK: - Sockets

    @Test func socketEventIsReportedAsLongAsItsCauseLasts() {
        let poller = EventPoller()
        let (ours, theirs) = connection(poller)
        defer { _ = (close(ours), close(theirs)) }
        #expect(report(poller) == Report(count: 0))
        #expect(write(theirs, "x", 1) == 1)
        #expect(report(poller) == Report(count: 1, heard: [ours]))
        #expect(report(poller) == Report(count: 1, heard: [ours]))
        var byte: UInt8 = 0
        #expect(read(ours, &byte, 1) == 1)
        #expect(report(poller) == Report(count: 0))
    }

    @Test func watchedSocketEventsCanChange() {
        let poller = EventPoller()
        let (ours, theirs) = connection(poller)
        defer { _ = (close(ours), close(theirs)) }
        poller.watch(ours, for: .writable)
        #expect(events(poller).heard.map(\.isWritable) == [true])
        #expect(write(theirs, "x", 1) == 1)
        #expect(events(poller).heard.map(\.isReadable) == [false])
        poller.watch(ours, for: [.readable, .writable])
        let both = events(poller).heard
        #expect(both.contains(where: \.isReadable) && both.contains(where: \.isWritable))
        poller.watch(ours, for: .readable)
        #expect(events(poller).heard.map(\.isWritable) == [false])
        poller.watch(ours, for: [])
        #expect(report(poller) == Report(count: 0))
    }

    @Test func closedPeerMakesTheSocketReadable() {
        let poller = EventPoller()
        let (ours, theirs) = connection(poller)
        defer { close(ours) }
        close(theirs)
        #expect(events(poller).heard.contains { $0.descriptor == ours && $0.isReadable && !$0.isBroken })
    }

    @Test func anErrorOfTheSocketIsReported() {
        let poller = EventPoller()
        let (ours, theirs) = connection(poller)
        defer { close(ours) }
        // Closing with unread bytes resets the connection.
        #expect(write(ours, "x", 1) == 1)
        close(theirs)
        #expect(events(poller).heard.contains { $0.descriptor == ours && $0.isBroken })
    }

    @Test func aForgottenSocketIsNotReported() {
        let poller = EventPoller()
        let (ours, theirs) = socketPair()
        defer { _ = (close(ours), close(theirs)) }
        poller.watch(ours, for: [.readable, .writable])
        poller.forget(ours)
        #expect(write(theirs, "x", 1) == 1)
        #expect(report(poller) == Report(count: 0))
    }

    @Test func eventBetweenTwoWatchesIsReportedByTheSecond() {
        let poller = EventPoller()
        let (ours, theirs) = connection(poller)
        defer { _ = (close(ours), close(theirs)) }
        poller.forget(ours)
        #expect(write(theirs, "x", 1) == 1)
        #expect(report(poller) == Report(count: 1))
        #expect(report(poller) == Report(count: 0), "the event must not wake the poller repeatedly")
        poller.watch(ours, for: .readable)
        #expect(report(poller) == Report(count: 1, heard: [ours]))
    }

    @Test func newConnectionWithReusedDescriptorIsWatched() {
        let poller = EventPoller()
        let (ours, theirs) = connection(poller)
        let (next, other) = connection(poller)
        defer { for end in [ours, theirs, next, other] { close(end) } }
        poller.forget(ours)
        poller.connectionClosed(ours)
        // Closes the old one and gives its number to the new one in one step, so that no other test can take it.
        #expect(dup2(next, ours) == ours)
        poller.connectionClosed(next)
        poller.forget(next)
        poller.connectionOpened(ours)
        poller.watch(ours, for: .readable)
        #expect(write(other, "x", 1) == 1)
        #expect(report(poller).heard == [ours])
    }

    @Test func socketForgottenByTheKernelIsWatchedAgain() {
        let poller = EventPoller()
        let (old, oldPeer) = connection(poller)
        let (new, newPeer) = socketPair()
        defer { for end in [old, oldPeer, new, newPeer] { close(end) } }
        // The new socket has not been reported as opened: for the table, the old one is still watched for reading.
        #expect(dup2(new, old) == old)
        poller.watch(old, for: [.readable, .writable])
        #expect(write(newPeer, "x", 1) == 1)
        let heard = events(poller).heard
        #expect(heard.contains(where: \.isReadable) && heard.contains(where: \.isWritable))
    }

    @Test func moreSocketsThanABatchAreAllReported() {
        let poller = EventPoller()
        var pairs: [(ours: Int32, theirs: Int32)] = []
        defer { for pair in pairs { _ = (close(pair.ours), close(pair.theirs)) } }
        for _ in 0..<300 { pairs.append(connection(poller)) }
        for pair in pairs { #expect(write(pair.theirs, "x", 1) == 1) }
        var heard: Set<Int32> = []
        for _ in 0..<2 {
            poller.deliver(poller.wait(timeout: .zero)) { event in
                heard.insert(event.descriptor)
                var byte: UInt8 = 0
                #expect(read(event.descriptor, &byte, 1) == 1)
            }
        }
        #expect(heard == Set(pairs.map(\.ours)))
    }

    // MARK: - Wake-ups and time

    @Test func earlierWakeUpEndsTheNextWaitOnce() {
        let poller = EventPoller()
        for _ in 0..<3 { poller.wake() }
        let count = poller.wait(timeout: nil)
        var heard = 0
        poller.deliver(count) { _ in heard += 1 }
        #expect(count == 1)
        #expect(heard == 0)
        #expect(report(poller) == Report(count: 0))
    }

    @Test func wakeUpEndsARunningWait() throws {
        let poller = EventPoller()
        let rounds = 1_000
        let answers = BlockingQueue<Int>()
        try startThread(named: "test-waker") {
            poller.wake()
            while let round = answers.next(), round < rounds { poller.wake() }
        }
        for round in 1...rounds {
            let count = poller.wait(timeout: .seconds(20))
            #expect(count == 1)
            poller.deliver(count) { _ in }
            answers.append(round)
        }
    }

    // The descriptors of closed pollers soon belong to the pollers of other threads.
    @Test func pollersOfSeveralThreadsAreIndependent() throws {
        let (threads, rounds) = (4, 200)
        let answers = BlockingQueue<Bool>()
        for _ in 0..<threads {
            try startThread(named: "test-poller") {
                var onlyOwnEvents = true
                for _ in 0..<rounds {
                    let poller = EventPoller()
                    poller.wake()
                    let counts = (poller.wait(timeout: .seconds(20)), poller.wait(timeout: .zero))
                    onlyOwnEvents = onlyOwnEvents && counts == (1, 0)
                }
                answers.append(onlyOwnEvents)
            }
        }
        for _ in 0..<threads { #expect(answers.next() == true) }
    }

    @Test(arguments: [Duration.microseconds(100), .milliseconds(1), .milliseconds(20)])
    func waitIsNoShorterThanItsTimeout(timeout: Duration) {
        let poller = EventPoller()
        let elapsed = ContinuousClock().measure { #expect(poller.wait(timeout: timeout) == 0) }
        #expect(elapsed >= timeout)
    }

    @Test func pollerDoesNotWaitForAPastTimeout() {
        #expect(EventPoller().wait(timeout: .seconds(-5)) == 0)
    }
}
