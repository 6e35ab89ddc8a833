import HTTPTransport
import HTTPTypes
import Hashing
import TestSupport
import Testing

@testable import ResponseCache

/// A stored body is verified while it is read: a damaged body is never delivered to its end.
struct StoredBodyTests {
    /// Returns the readable part of a body whose file was changed, and whether it was complete.
    private func read(_ body: [UInt8], damagedAt index: Int?) async throws -> (bytes: [UInt8], isWhole: Bool) {
        try await withTemporaryFolder { folder in
            var damaged = body
            if let index { damaged[index] ^= 1 }
            let storage = try FolderStorage(path: folder, isCreated: true, traffic: nil)
            let request = TransportRequest(url: try HTTPURL("http://example.com/"))
            let head = StoredHead(HTTPResponse(status: .ok), to: request, requestedAt: 0, receivedAt: 0)
            let facts = BodyFacts(identity: 1, length: body.count, checksum: CRC32C(of: body.span))
            var writer = try storage.writer(headByteCount: head.bytes.count)
            try writer.append(damaged)
            let key = head.key(CachedResource(request))
            try writer.commit(ResponseStorageHead(head, facts), as: key)
            var reader = StoredBodyReader(.entry(try storage.entry(key), facts))
            var bytes: [UInt8] = []
            do {
                while let piece = try reader.next() { bytes += piece }
                return (bytes, true)
            } catch {
                #expect(reader.delivered == bytes.count)
                return (bytes, false)
            }
        }
    }

    private static let piece = StoredBody.pieceLength
    private static let short = StoredBody.maximumShortLength

    @Test(arguments: [1, piece, short, short + 1, short + piece])
    func storedBodyIsReadAsWritten(length: Int) async throws {
        var body = [UInt8](repeating: 7, count: length)
        for index in stride(from: 0, to: length, by: 1_021) { body[index] = UInt8(truncatingIfNeeded: index) }
        let read = try await read(body, damagedAt: nil)
        #expect(read.bytes == body && read.isWhole)
    }

    @Test(arguments: [0, piece - 1, piece, 2 * piece, short + piece - 1])
    func lastPieceOfADamagedBodyIsNotDelivered(index: Int) async throws {
        let read = try await read([UInt8](repeating: 7, count: Self.short + Self.piece), damagedAt: index)
        #expect(read.bytes.count == Self.short && !read.isWhole)
    }

    @Test func damagedBodyThatIsReadAtOnceIsNotDelivered() async throws {
        let read = try await read([UInt8](repeating: 7, count: Self.short), damagedAt: 5)
        #expect(read.bytes.isEmpty && !read.isWhole)
    }
}
