import Foundation
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ResponseCache

/// A body that a killed process has begun to store is continued by the next one.
///
/// A writer that is released without an end stands for a killed process: its file is closed, and nothing else happens.
@Suite(.timeLimit(.minutes(1)))
struct KilledProcessTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()
    private let body: [UInt8] = {
        var body = [UInt8](repeating: 0, count: 600_000)
        for index in stride(from: 0, to: body.count, by: 997) { body[index] = UInt8(truncatingIfNeeded: index / 997) }
        return body
    }()

    /// Stores the first `count` bytes of a body in a cache, and lets its process be killed.
    private func write(
        _ count: Int, _ folder: String, _ fields: HTTPFields = [.eTag: "\"a\""], continuing part: StoredResponse? = nil
    ) async throws {
        try await append(count, folder, fields, part)
        // The threads release the file only after they have told that their work is done.
        while try cacheFiles(folder).contains(where: { path in
            path.hasPrefix("v5/tmp/") && (try? OpenFile(updating: "\(folder)/\(path)"))?.lock() == false
        }), !Task.isCancelled { await Task.yield() }
    }

    private func append(_ count: Int, _ folder: String, _ fields: HTTPFields, _ part: StoredResponse?) async throws {
        let cache = try ResponseCache.test(folder, time)
        let request = TransportRequest(url: try HTTPURL(url))
        var fields = fields
        fields[.contentLength] = "\(body.count)"
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: fields), to: request, requestedAt: time.now, receivedAt: time.now)
        let writer = EntryWriter(
            head, CachedResource(request), cache: cache, length: body.count, continuing: part)
        var position = part?.body.length ?? 0
        while position < count {
            let end = min(position + 65_536, count)
            await writer.append(Array(body[position..<end]))
            await cache.thread.finish()
            position = end
        }
        await cache.thread.finish()
    }

    /// The beginning that the next process continues; `nil` if it asks for the whole body.
    private func continued(_ folder: String) async throws -> Int? {
        let cache = try ResponseCache.test(folder, time)
        let body = body
        let origin = TestResponder { request in
            let range = request.headerFields[.range].map { Int($0.dropFirst(6).dropLast()) ?? 0 }
            guard let first = range, request.headerFields[.ifRange] == "\"a\"" else {
                return (.ok, [.eTag: "\"a\""], [body])
            }
            let fields: HTTPFields = [
                .eTag: "\"a\"", .contentRange: "bytes \(first)-\(body.count - 1)/\(body.count)",
            ]
            return (.partialContent, fields, [Array(body[first...])])
        }
        let response = try await CachingResponder(cache, policy: .useProtocol, before: origin)
            .response(to: TransportRequest(url: try HTTPURL(url)))
        let isWhole = try await response.body.bytes() == body
        #expect(isWhole && origin.requests.count == 1)
        await cache.settles()
        // It has become the whole response, and nothing else is left.
        let isStored = try await cache.stored(url) == body
        #expect(isStored)
        #expect(try cacheFiles(folder).count == 1 && cache.entryCount == 1)
        return origin.requests.first?.headerFields[.range].flatMap { Int($0.dropFirst(6).dropLast()) }
    }

    @Test func theBeginningOfABodyOutlivesItsProcess() async throws {
        try await withTemporaryFolder { folder in
            try await write(500_000, folder)
            let beginning = try #require(try await continued(folder))
            #expect((500_000 - EntryDraft.checkpointInterval - (64 << 10)...500_000).contains(beginning))
        }
    }

    /// Otherwise a second interruption would lose what the first one has left.
    @Test func aContinuedBeginningOutlivesItsProcessAsWell() async throws {
        try await withTemporaryFolder { folder in
            try await write(200_000, folder)
            let part: StoredResponse
            do {
                let cache = try ResponseCache.test(folder, time)
                let request = TransportRequest(url: try HTTPURL(url))
                part = try #require(await cache.thread.run { cache.find(.part, request, CachedResource(request)) })
            }
            time.advance(by: 1)
            try await write(500_000, folder, continuing: part)
            #expect(try #require(try await continued(folder)) > 300_000)
        }
    }

    @Test func aShorterBeginningDoesNotReplaceALongerOne() async throws {
        try await withTemporaryFolder { folder in
            try await write(500_000, folder)
            try await write(200_000, folder)
            #expect(try #require(try await continued(folder)) > 300_000)
        }
    }

    /// The stored beginning is verified before the remainder is requested.
    @Test func aDamagedBeginningIsNotContinued() async throws {
        try await withTemporaryFolder { folder in
            try await write(500_000, folder)
            let file = try OpenFile(updating: "\(folder)/\(try #require(try cacheFiles(folder).first))")
            try file.write([7, 7, 7], at: EntryFile.usualRegionLength + 100)
            #expect(try await continued(folder) == nil)
        }
    }

    @Test(arguments: [[:], [.eTag: "W/\"a\""]] as [HTTPFields])
    func aBeginningThatCannotBeContinuedIsRemoved(fields: HTTPFields) async throws {
        try await withTemporaryFolder { folder in
            try await write(500_000, folder, fields)
            #expect(try await continued(folder) == nil)
        }
    }

    @Test func aShortBeginningIsRemoved() async throws {
        try await withTemporaryFolder { folder in
            try await write(70_000, folder)
            #expect(try await continued(folder) == nil)
        }
    }

    @Test func theBeginningOfAStoredResponseIsRemoved() async throws {
        try await withTemporaryFolder { folder in
            try await write(500_000, folder)
            let cache = try ResponseCache.test(folder, time)
            try await cache.store(body, url)
            try await write(500_000, folder)
            let next = try ResponseCache.test(folder, time)
            #expect(try cacheFiles(folder).count == 1 && next.entryCount == 1)
        }
    }
}
