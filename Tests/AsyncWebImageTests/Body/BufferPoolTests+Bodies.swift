import HTTPTransport
import Testing

@testable import AsyncWebImage

/// Bodies in reused memory.
extension BufferPoolTests {
    /// Returns a body that has arrived in `pieces` pieces, as a caller gets it.
    private func body(_ bytes: [UInt8], pieces: Int = 1, isDeclared: Bool = true) async throws -> [UInt8] {
        let log = BodyLog(maximumReplayBytes: 1 << 20, buffers: pool)
        log.begin(expecting: isDeclared ? bytes.count : nil)
        let size = bytes.count / pieces
        for piece in 0..<pieces { _ = log.append(Array(bytes[piece * size..<(piece + 1) * size]).span) }
        log.finish(.delivered)
        return try await log.wholeBody()
    }

    @Test func bodyReusesTheMemoryOfAReleasedOne() async throws {
        let first = address(of: try await body([UInt8](repeating: 1, count: 200_000)))
        let second = try await body([UInt8](repeating: 2, count: 190_000))
        #expect(address(of: second) == first)
        #expect(second == [UInt8](repeating: 2, count: 190_000))
    }

    @Test func bodyThatACallerKeepsIsNotOverwritten() async throws {
        let first = try await body([UInt8](repeating: 1, count: 200_000))
        let second = try await body([UInt8](repeating: 2, count: 200_000))
        #expect(first == [UInt8](repeating: 1, count: 200_000))
        #expect(second == [UInt8](repeating: 2, count: 200_000))
    }

    /// Those of a declared length are received to 1 MiB first, then to one array for all of them.
    @Test(arguments: [(true, 4 << 20), (false, 6 << 20)])
    func bodyOfSeveralPiecesReturnsAllOfThem(isDeclared: Bool, kept: Int) async throws {
        let bytes = (0..<48 as Range<UInt8>).flatMap { [UInt8](repeating: $0, count: 64 << 10) }
        for _ in 0..<2 {
            #expect(try await body(bytes, pieces: 48, isDeclared: isDeclared) == bytes)
            #expect(pool.byteCount >= kept && pool.byteCount < kept + (1 << 20))
        }
    }

    @Test func decodedBodyReturnsItsMemory() async throws {
        do {
            let log = BodyLog(maximumReplayBytes: 1 << 20, buffers: pool)
            let reader = try #require(log.makeReader())
            log.begin(expecting: 200_000)
            _ = log.append([UInt8](repeating: 1, count: 150_000).span)
            #expect(try await reader.next()?.count == 1)
            _ = log.append([UInt8](repeating: 1, count: 50_000).span)
            log.finish(.delivered)
            #expect(pool.byteCount == 0)
        }
        #expect(pool.byteCount >= 200_000)
    }
}
