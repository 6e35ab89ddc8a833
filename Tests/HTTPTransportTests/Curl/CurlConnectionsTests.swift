import Foundation
import LoopbackOrigin
import SocketPolling
import Testing

@testable import HTTPTransport

private let streamSocket = Int32(SOCK_STREAM.rawValue)

struct CurlConnectionsTests {
    /// Returns a socket that is connected to a server from a local port, or from any if that is 0.
    private func connection(from localPort: UInt16, to serverPort: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, streamSocket, 0)
        try #require(descriptor >= 0)
        var isReused: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        try #require(unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, size) == 0)
        try #require(withAddress(port: localPort) { unsafe bind(descriptor, $0, $1) } == 0)
        let server = try #require(UInt16(exactly: serverPort))
        try #require(withAddress(port: server) { unsafe Foundation.connect(descriptor, $0, $1) } == 0)
        return descriptor
    }

    private func withAddress(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    @Test func connectionsToTwoServersFromOneLocalPortAreToldApart() async throws {
        try await withOrigin { (first, _) async throws in
            try await withOrigin { (second, _) async throws in
                let floodGuard = FloodGuard()
                defer { floodGuard.end() }
                let connections = CurlConnections(poller: EventPoller(), floodGuard: floodGuard)
                let firstSocket = try connection(from: 0, to: first.port)
                defer { close(firstSocket) }
                let firstEnds = try #require(ConnectionEndpoints(of: firstSocket))
                let secondSocket = try connection(from: UInt16(firstEnds.localPort), to: second.port)
                defer { close(secondSocket) }
                let secondEnds = try #require(ConnectionEndpoints(of: secondSocket))
                #expect(firstEnds.localPort == secondEnds.localPort)

                let firstOpened = connections.opened(firstSocket, isPlain: true)
                let secondOpened = connections.opened(secondSocket, isPlain: true)
                #expect(connections.established(firstEnds, over: [firstOpened]) == firstOpened)
                #expect(connections.established(secondEnds, over: [secondOpened]) == secondOpened)
                // The first connection is used again.
                #expect(connections.established(firstEnds, over: []) == firstOpened)

                connections.closed(secondSocket)
                #expect(connections.established(secondEnds, over: []) == nil)
                #expect(connections.established(firstEnds, over: []) == firstOpened)
                connections.closed(firstSocket)
            }
        }
    }

    @Test func connectionThatTheServerHasResetIsForgottenWhenItIsClosed() async throws {
        let floodGuard = FloodGuard()
        defer { floodGuard.end() }
        let connections = CurlConnections(poller: EventPoller(), floodGuard: floodGuard)
        try await withOrigin { (origin, _) async throws in
            let descriptor = try connection(from: 0, to: origin.port)
            defer { close(descriptor) }
            let ends = try #require(ConnectionEndpoints(of: descriptor))
            let opened = connections.opened(descriptor, isPlain: true)
            #expect(connections.established(ends, over: [opened]) == opened)
            shutdown(descriptor, Int32(SHUT_RDWR))
            connections.closed(descriptor)
            #expect(connections.established(ends, over: []) == nil)
        }
    }

    @Test func socketWithTheDescriptorOfAnEndedOneIsAnother() {
        let floodGuard = FloodGuard()
        defer { floodGuard.end() }
        let connections = CurlConnections(poller: EventPoller(), floodGuard: floodGuard)
        let descriptor = socket(AF_INET, streamSocket, 0)
        defer { close(descriptor) }
        let flooded = connections.opened(descriptor, isPlain: false)
        floodGuard.endConnection(descriptor)
        connections.closed(descriptor)
        let next = connections.opened(descriptor, isPlain: false)
        #expect(floodGuard.removeEndedConnections().map(\.socket) == [flooded])
        #expect(next != flooded && next.descriptor == flooded.descriptor)
        connections.closed(descriptor)
    }
}
