import Glibc
import TestSupport
import Testing
import Threading

@Suite(.timeLimit(.minutes(1)))
struct MemoryPressureMonitorTests {
    /// Returns two connected sockets; urgent data sent to the second is an event of the first.
    private func sockets() throws -> (Int32, Int32) {
        var pair: [Int32] = [0, 0]
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                try #require(bind(listener, pointer, length) == 0)
                try #require(listen(listener, 1) == 0)
                try #require(getsockname(listener, pointer, &length) == 0)
                pair[1] = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                try #require(connect(pair[1], pointer, length) == 0)
            }
        }
        pair[0] = accept(listener, nil, nil)
        return (pair[0], pair[1])
    }

    @Test func memoryPressureCallsHandlerUntilMonitorIsReleased() async throws {
        let (observed, other) = try sockets()
        defer { close(other) }
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var monitor = MemoryPressureMonitor(descriptor: observed) { continuation.yield() }
        #expect(monitor != nil)
        var byte: UInt8 = 1
        #expect(send(other, &byte, 1, Int32(MSG_OOB)) == 1)
        for await _ in calls { break }
        monitor = nil
        // The thread closes the descriptor, which ends the connection.
        #expect(recv(other, &byte, 1, 0) <= 0)
    }

    /// In a process of its own, because the numbers of closed descriptors matter.
    @Test func memoryPressureMonitorWhoseThreadHasEndedWritesToNoFile() async {
        await #expect(processExitsWith: .success) {
            var pair: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            let (observed, other) = (pair[0], pair[1])
            var monitor = MemoryPressureMonitor(descriptor: observed) {}
            try #require(monitor != nil)
            close(other)
            let hasEnded = await ProcessState.reaches {
                fcntl(observed, F_GETFD) < 0 && ProcessState.threads(named: "webimage-memory").isEmpty
            }
            try #require(hasEnded)
            // They take the numbers that are free.
            var events: [pollfd] = []
            for _ in 0..<16 {
                try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
                events += pair.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            }
            monitor = nil
            try #require(poll(&events, nfds_t(events.count), 0) == 0)
        }
    }

    @Test func memoryPressureMonitorEndsWithoutAnEvent() {
        // The system need not report pressure.
        _ = MemoryPressureMonitor {}
    }
}
