import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

// Partial bodies that are not resumed, or not stored at all.
extension StoredPartTests {
    // MARK: Starting over

    @Test func changedFileReplacesStoredPartialBody() async throws {
        let other = RangedFile(body: file.body.reversed() + [1], tag: "\"v2\"")
        try await withBeginning { origin, folder in
            origin.route("/a") { other.response(to: $0) }
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == other.body)
            #expect(ranges(origin) == [nil, "bytes=200000-"])
            #expect(try kinds(folder) == [.whole])
            #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == other.body)
        }
    }

    static let others: [LoopbackOrigin.Response] = [
        .init(status: 206, headerFields: ["Content-Range": "bytes 200001-299999/300000"], body: [1, 2, 3]),
        .init(status: 206, headerFields: ["Content-Range": "bytes 200000-299998/299999"], body: [1, 2, 3]),
        .init(status: 206, headerFields: ["Content-Range": "bytes 200000-200002/300000"], body: [1, 2, 3]),
        .init(
            status: 206, headerFields: ["Content-Range": "bytes 200000-299999/300000", "ETag": "\"v2\""],
            body: [UInt8](repeating: 1, count: 100_000)),
        .init(status: 206, body: [1, 2, 3]),
        .init(status: 416, headerFields: ["Content-Range": "bytes */100"]),
    ]

    @Test(arguments: others) func unexpected206IsNotAppended(_ answer: LoopbackOrigin.Response) async throws {
        try await withBeginning { origin, folder in
            origin.route("/a") { [file] request in
                request.headerFields["Range"] == nil ? file.response(to: request) : answer
            }
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == file.body)
            #expect(ranges(origin) == [nil, "bytes=200000-", nil])
            #expect(try kinds(folder) == [.whole])
            #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == file.body)
        }
    }

    @Test func maximumBodyBytesIncludesStoredPartialBody() async throws {
        let other = RangedFile(body: Array(file.body[..<240_000]), tag: "\"v2\"")
        func load(_ folder: String, _ url: String) async throws -> ResponseBody {
            let cache = try ResponseCache.test(folder, time)
            return try await self.load(loader(cache) { $0.maximumBodyBytes = 250_000 }, cache, url)
        }
        try await withBeginning { origin, folder in
            origin.route("/a") { [file] in file.response(to: $0) }
            let error = await #expect(throws: ImageError.self) { try await load(folder, origin.url("/a")) }
            guard case .transport(let cause) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause.reason == .bodyTooLarge(limit: 250_000))
        }
        try await withBeginning { origin, folder in
            origin.route("/a") { other.response(to: $0) }
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == other.body)
        }
    }

    @Test func truncated206IsRejected() async throws {
        try await withBeginning { origin, folder in
            origin.route("/a") { [file] request in
                guard request.ordinal == 2 else { return file.response(to: request) }
                let fields: HeaderFields = ["ETag": "\"v1\"", "Content-Range": "bytes 200000-299999/300000"]
                return .init(
                    status: 206, headerFields: fields, body: Array(file.body[200_000..<250_000]), framing: .chunked)
            }
            let error = await #expect(throws: ImageError.self) { try await load(folder, origin.url("/a")) }
            guard case .transport(let cause) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause.reason == .truncated(expected: 300_000, received: 250_000))
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == file.body)
            #expect(ranges(origin) == [nil, "bytes=200000-", "bytes=250000-"])
        }
    }

    @Test func overlong206IsRejected() async throws {
        try await withBeginning { origin, folder in
            origin.route("/a") { [file] request in
                guard request.ordinal == 2 else { return file.response(to: request) }
                let fields: HeaderFields = ["ETag": "\"v1\"", "Content-Range": "bytes 200000-299999/300000"]
                return .init(
                    status: 206, headerFields: fields, body: file.body[200_000...] + [1], framing: .chunked)
            }
            let error = await #expect(throws: ImageError.self) { try await load(folder, origin.url("/a")) }
            guard case .transport(let cause) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause.reason == .invalidResponse)
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == file.body)
            #expect(ranges(origin) == [nil, "bytes=200000-", nil])
        }
    }

    @Test func serverErrorKeepsStoredPartialBody() async throws {
        try await withBeginning { origin, folder in
            origin.route("/a", .init(status: 503))
            await #expect(throws: ImageError.self) { try await load(folder, origin.url("/a")) }
            #expect(try kinds(folder) == [.part])
            origin.route("/a") { [file] in file.response(to: $0) }
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == file.body)
            #expect(ranges(origin).last == "bytes=200000-")
        }
    }

    // MARK: Responses that are not stored

    static let unfit: [HeaderFields] = [
        [:],
        ["ETag": "W/\"v1\""],
        ["ETag": "\"v1\"", "Cache-Control": "no-store"],
        ["ETag": "\"v1\"", "Accept-Ranges": "none"],
        ["ETag": "\"v1\"", "Content-Encoding": "br"],
        ["ETag": "\"v1\"", "Vary": "*"],
    ]

    @Test(arguments: unfit) func nonResumableBodyIsNotKeptOnDisk(_ fields: HeaderFields) async throws {
        try await withBeginning(.init(headerFields: fields, body: file.body)) { origin, folder in
            #expect(try files(folder) == [])
            let data = try await load(folder, origin.url("/a"))
            #expect(data.bytes == file.body)
            #expect(ranges(origin) == [nil, nil])
        }
    }

    @Test func bodyBelowMinimumSizeIsNotKeptOnDisk() async throws {
        try await withBeginning(at: Resumption.minimumBytes - 1) { origin, folder in
            let left = try files(folder)
            #expect(left == [])
        }
    }

    @Test(arguments: [0, 10, 20, 30, 35, 64, 72, 80, 100, 2_048, 100_000, 202_047]) func damagedPartialBodyIsRemoved(
        index: Int
    ) async throws {
        try await withBeginning { origin, folder in
            let path = "\(folder)/\(try #require(try files(folder).first))"
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            bytes[index] ^= 0x41
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(try await load(folder, origin.url("/a")).bytes == file.body)
            #expect(ranges(origin) == [nil, nil])
            #expect(try kinds(folder) == [.whole])
        }
    }

    /// Its bytes are received like those of the remainder, but must not be continued like them.
    @Test func partialBodyDamagedAfterItsVerificationIsFetchedAgain() async throws {
        try await withBeginning { origin, folder in
            let path = URL(fileURLWithPath: "\(folder)/\(try #require(try files(folder).first))")
            let entry = try Data(contentsOf: path)
            origin.route("/a") { [file] request in
                if request.ordinal == 2 {
                    var damaged = entry
                    damaged[100_000] ^= 0x41
                    try? damaged.write(to: path, options: [])
                }
                return file.response(to: request)
            }
            #expect(try await load(folder, origin.url("/a")).bytes == file.body)
            #expect(ranges(origin) == [nil, "bytes=200000-", nil])
            #expect(try await load(folder, origin.url("/a"), policy: .cacheOnly).bytes == file.body)
        }
    }

    @Test func partialBodyUnderNameOfWholeBodyIsRemoved() async throws {
        try await withBeginning { origin, folder in
            let name = try #require(try files(folder).first)
            try FileManager.default.moveItem(
                atPath: "\(folder)/\(name)", toPath: "\(folder)/\(name.dropLast(".part".count))")
            await #expect(throws: ImageError.self) { try await load(folder, origin.url("/a"), policy: .cacheOnly) }
            #expect(try files(folder) == [])
        }
    }

    @Test func partialBodiesCountTowardLimitAndAreEvicted() async throws {
        try await withBeginning { origin, folder in
            let cache = try ResponseCache.test(folder, time, maximumBytes: 250_000)
            #expect(cache.byteCount > Self.beginning)
            try await cache.store([UInt8](repeating: 1, count: 100_000), origin.url("/b"))
            #expect(cache.byteCount < 106_000)
            #expect(try kinds(folder) == [.whole])
            #expect(try await load(folder, origin.url("/a")).bytes == file.body)
            #expect(ranges(origin) == [nil, nil])
        }
    }

    @Test func removingResponsesRemovesPartialBodies() async throws {
        try await withBeginning { origin, folder in
            let cache = try ResponseCache.test(folder, time)
            await cache.remove(origin.url("/a"))
            #expect(try files(folder) == [])
        }
        try await withBeginning { _, folder in
            try await ResponseCache.test(folder, time).removeAll()
            #expect(try files(folder) == [])
        }
    }

    // MARK: Policies

    @Test func partialBodyIsNotServedAsResponse() async throws {
        try await withBeginning { origin, folder in
            await #expect(throws: ImageError.self) { try await load(folder, origin.url("/a"), policy: .cacheOnly) }
            #expect(ranges(origin).count == 1)
            #expect(try kinds(folder) == [.part])
            let data = try await load(folder, origin.url("/a"), policy: .cacheElseLoad)
            #expect(data.bytes == file.body)
            #expect(ranges(origin).last == "bytes=200000-")
        }
    }

    @Test(arguments: [CachePolicy.reload, .noStore]) func partialBodyIsIgnoredByPoliciesWithoutCache(
        policy: CachePolicy
    ) async throws {
        try await withBeginning { origin, folder in
            let data = try await load(folder, origin.url("/a"), policy: policy)
            #expect(data.bytes == file.body)
            #expect(ranges(origin) == [nil, nil])
        }
    }
}
