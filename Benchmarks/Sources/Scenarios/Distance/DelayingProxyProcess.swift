import ArgumentParser
import DelayingProxy
import Glibc
import Subprocess

/// The delaying proxy in its own process.
enum DelayingProxyProcess {
    /// Runs `body` while there is a proxy before `origin` for each round-trip time, in milliseconds.
    static func delaying<Result: Sendable>(
        _ origin: TLSOrigin, roundTrips: [Int], _ body: ([Int: TLSOrigin]) async throws -> Result
    ) async throws -> Result {
        try await delaying(origin, roundTrips[...], [:], body)
    }

    private static func delaying<Result: Sendable>(
        _ origin: TLSOrigin, _ roundTrips: ArraySlice<Int>, _ delayed: [Int: TLSOrigin],
        _ body: ([Int: TLSOrigin]) async throws -> Result
    ) async throws -> Result {
        guard let roundTrip = roundTrips.first else { return try await body(delayed) }
        let proxied = origin.behind(
            http1Port: try LoopbackSocket.freePort(), http2Port: try LoopbackSocket.freePort())
        let ports = [(proxied.http1Port, origin.http1Port), (proxied.http2Port, origin.http2Port)]
        let arguments =
            ["proxy", "--round-trip", "\(roundTrip)", "--hosts", "\(origin.hosts)"] + ports.map { "\($0):\($1)" }
        return try await ChildProcess.running(ChildProcess.ownPath(), arguments) { lines in
            for try await _ in lines {
                return try await delaying(
                    origin, roundTrips.dropFirst(), delayed.merging([roundTrip: proxied]) { $1 }, body)
            }
            throw OriginError(description: "the delaying proxy does not start")
        }
    }
}

/// The command of the process, which prints a line when it listens, and forwards until it is killed.
struct ProxyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy", abstract: "Forward connections with a delay.", shouldDisplay: false)

    /// Ports of the proxy: FROM:TO forwards to the same address.
    struct Route: ExpressibleByArgument {
        let from: UInt16
        let to: UInt16

        init?(argument: String) {
            let ports = argument.split(separator: ":", omittingEmptySubsequences: false).map { UInt16($0) }
            guard ports.count == 2, let from = ports[0], let to = ports[1] else { return nil }
            (self.from, self.to) = (from, to)
        }
    }

    @Option(help: "The time for a round trip, in milliseconds.")
    var roundTrip: Int

    @Option(help: "The rate of the line in each direction, in Mbit/s.")
    var rate = 1_000

    @Option(help: "The number of addresses to listen on, from 127.0.0.1.")
    var hosts = 1

    @Argument(help: "The ports to listen on, each with that of the server, such as 8001:8000.")
    var routes: [Route]

    func validate() throws {
        guard (0...10_000).contains(roundTrip) else { throw ValidationError("--round-trip must be 0 to 10000.") }
        guard (1...100_000).contains(rate) else { throw ValidationError("--rate must be 1 to 100000.") }
        guard (1...10_000).contains(hosts) else { throw ValidationError("--hosts must be 1 to 10000.") }
    }

    func run() throws {
        let proxy = unsafe try open()
        StandardStream.write("listening\n", to: STDOUT_FILENO)
        unsafe delaying_proxy_run(proxy, nil)
    }

    /// Returns a proxy that listens.
    func open() throws -> OpaquePointer {
        let addresses = (0..<hosts).map { LoopbackAddress(number: $0).value }
        let ports = routes.map { delaying_proxy_route(from: $0.from, to: $0.to) }
        let proxy = unsafe addresses.withUnsafeBufferPointer { addresses in
            unsafe ports.withUnsafeBufferPointer { ports in
                var options = unsafe delaying_proxy_options(
                    round_trip: UInt64(roundTrip) * 1_000_000, bytes_per_second: UInt64(rate) * 125_000,
                    addresses: addresses.baseAddress, address_count: addresses.count,
                    routes: ports.baseAddress, route_count: ports.count)
                return unsafe delaying_proxy_open(&options)
            }
        }
        guard let proxy = unsafe proxy else {
            throw OriginError(description: "cannot listen: \(unsafe String(cString: strerror(errno)))")
        }
        return unsafe proxy
    }
}
