import Testing

@testable import AsyncWebImage

/// A digest to which several readers add the same bytes.
struct SharedDigestTests {
    private let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }

    /// Adds `range` of a body in pieces of `size` bytes.
    private func add(
        _ body: [UInt8], _ range: Range<Int>, by size: Int, restarts: Int = 0, to digest: SharedDigest
    ) throws {
        let pieces = stride(from: range.lowerBound, to: range.upperBound, by: size).map {
            Array(body[$0..<min($0 + size, range.upperBound)])
        }
        try digest.add(pieces, upTo: BodyPosition(restarts: restarts, count: range.upperBound))
    }

    @Test func digestCountsBytesOfSeveralReadersOnce() throws {
        let digest = SharedDigest(.sha256)
        try add(body, 0..<30_000, by: 1_000, to: digest)
        try add(body, 0..<50_000, by: 777, to: digest)
        try add(body, 30_000..<40_000, by: 10_000, to: digest)
        try add(body, 40_000..<100_000, by: 9_999, to: digest)
        try add(body, 50_000..<100_000, by: 1_234, to: digest)
        #expect(try digest.value() == .of(body, .sha256))
        #expect(try digest.value() == .of(body, .sha256))
    }

    @Test func digestIgnoresBytesBeforeARestart() throws {
        let digest = SharedDigest(.md5)
        let other = Array(body.reversed())
        try add(body, 0..<60_000, by: 5_000, to: digest)
        try add(other, 0..<10_000, by: 5_000, restarts: 1, to: digest)
        // A reader that has not detected the restart yet.
        try add(body, 0..<90_000, by: 5_000, to: digest)
        try add(other, 10_000..<100_000, by: 5_000, restarts: 1, to: digest)
        #expect(try digest.value() == .of(other, .md5))
    }

    @Test func bodyReadersAddTheirBytesToTheDigest() async throws {
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        let digest = log.digest(.sha256)
        #expect(log.digest(.sha256) === digest && log.digest(.sha512) !== digest)
        log.begin(expecting: nil)
        let early = try #require(log.makeReader(digest: digest))
        _ = log.append(Array(body.reversed()).span.extracting(0..<40_000))
        _ = try await early.next()
        // The body starts over.
        log.begin(expecting: nil)
        let late = try #require(log.makeReader(digest: digest))
        _ = log.append(body.span)
        log.finish(.delivered)
        await #expect(throws: BodyRestarted.self) { try await early.bodyDigest() }
        #expect(try await early.bodyDigest() == .of(body, .sha256))
        #expect(try await late.bodyDigest() == .of(body, .sha256))
    }
}
