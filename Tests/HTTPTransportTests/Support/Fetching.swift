import HTTPTypes
import LoopbackOrigin

@testable import HTTPTransport

extension Transport {
    /// Fetches `url` to the end.
    func fetch(_ url: String, _ change: (inout TransportRequest) -> Void = { _ in }) async throws -> Recorder.Record {
        let recorder = Recorder()
        _ = try start(url, recorder, change)
        return await recorder.end()
    }

    /// Starts a transfer of `url` to `recorder`, without deadlines, which could pass on a busy machine.
    func start(
        _ url: String, _ recorder: Recorder, _ change: (inout TransportRequest) -> Void = { _ in }
    ) throws -> any Transfer {
        var request = TransportRequest(
            url: try HTTPURL(url),
            deadlines: Deadlines(lookup: nil, connect: nil, firstByte: nil, idle: nil, total: nil))
        change(&request)
        return start(request, receiver: recorder)
    }
}

/// Runs `body` with an origin and a transport that uses no proxy.
func withOrigin(
    _ configuration: CurlTransport.Configuration = CurlTransport.Configuration(proxy: .none),
    _ body: (LoopbackOrigin, CurlTransport) async throws -> Void
) async throws {
    try await withLoopbackOrigin { origin in
        try await body(origin, CurlTransport(configuration: configuration))
    }
}

/// Runs `body` as `withOrigin` does, once with requests that the transport sends itself, and once with libcurl.
func withOriginTwice(
    _ configuration: CurlTransport.Configuration = CurlTransport.Configuration(proxy: .none),
    _ body: (LoopbackOrigin, CurlTransport) async throws -> Void
) async throws {
    try await withOrigin(configuration, body)
    try await withOrigin(configuration) { origin, transport in
        await (try transport.firstWorker()).performAllRequestsWithLibcurl()
        try await body(origin, transport)
    }
}

extension CurlWorker {
    /// Lets libcurl perform all requests.
    func performAllRequestsWithLibcurl() { takesConnections = false }
}

/// Returns `count` bytes in which missing, repeated, or misplaced bytes are detected.
func pattern(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes.append(contentsOf: patternPiece.prefix(count - bytes.count)) }
    return bytes
}

/// Bytes whose number is prime, so that it does not divide the size of any buffer.
private let patternPiece = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
