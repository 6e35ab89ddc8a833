import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

// Stored files that are no longer fresh, about which the origin is asked.
extension StoredFileTests {
    @Test(arguments: TestStorage.allCases)
    func staleFileIsUsedAgainIfTheOriginConfirmsIt(storage: TestStorage) async throws {
        try await withStorage(storage) { origin, cache, loader in
            let fresh = try response("max-age=60", tag: "\"v1\"")
            origin.route("/image") { request in
                request.headerFields["If-None-Match"] == "\"v1\""
                    ? .init(status: 304, headerFields: ["Cache-Control": "max-age=100"]) : fresh
            }
            let made = try await file(loader, origin.url("/image"))
            time.advance(by: 61)
            let confirmed = try await file(loader, origin.url("/image"))
            #expect(confirmed.entityTag == made.entityTag)
            #expect(confirmed.source == .revalidated)
            await cache.settles()
            time.advance(by: 99)
            #expect(try await file(loader, origin.url("/image")).entityTag == made.entityTag)
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func confirmedFileIsAsOldAsItsConfirmation() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            let fresh = try response("max-age=60", tag: "\"v1\"")
            origin.route("/image") { [time] request in
                guard request.headerFields["If-None-Match"] == "\"v1\"" else { return fresh }
                time.advance(by: 10)
                return .init(status: 304, headerFields: ["Cache-Control": "max-age=100"])
            }
            _ = try await file(loader, origin.url("/image"))
            time.advance(by: 61)
            _ = try await file(loader, origin.url("/image"))
            await cache.settles()
            time.advance(by: 89)
            #expect(try await file(loader, origin.url("/image")).source == .disk)
            time.advance(by: 1)
            #expect(try await file(loader, origin.url("/image")).source == .revalidated)
        }
    }

    @Test func confirmationWithALongHeadIsStored() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            let fresh = try response("max-age=60", tag: "\"v1\"")
            let long = String(repeating: "a", count: 5_000)
            origin.route("/image") { request in
                request.headerFields["If-None-Match"] == "\"v1\""
                    ? .init(status: 304, headerFields: ["Cache-Control": "max-age=100", "X-Policy": long]) : fresh
            }
            let made = try await file(loader, origin.url("/image"))
            time.advance(by: 61)
            #expect(try await file(loader, origin.url("/image")).source == .revalidated)
            await cache.settles()
            let stored = try await file(loader, origin.url("/image"))
            #expect(stored.source == .disk && stored.bytes == made.bytes)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func fileOfAnEarlierVersionConfirmedInTheSameSecondIsRemoved(storage: TestStorage) async throws {
        try await withStorage(storage) { origin, cache, loader in
            let old = try response("max-age=60", tag: "\"v1\"")
            origin.route("/image") { request in
                request.headerFields["If-None-Match"] == "\"v1\""
                    ? .init(status: 304, headerFields: ["Cache-Control": "max-age=60"]) : old
            }
            let made = try await file(loader, origin.url("/image"))
            time.advance(by: 61)
            #expect(try await file(loader, origin.url("/image")).source == .revalidated)
            await cache.settles()
            origin.route("/image", try response("max-age=60", tag: "\"v2\"", side: 80))
            _ = try await file(loader, origin.url("/image"), side: 20)
            await cache.settles()
            #expect(try await file(loader, origin.url("/image")).entityTag != made.entityTag)
        }
    }

    @Test func confirmationOfAnotherResponseIsNotTaken() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            let fresh = try response("max-age=60", tag: "\"v1\"", side: 80)
            origin.route("/image", try response("max-age=60", tag: "\"v1\""))
            let made = try await file(loader, origin.url("/image"))
            origin.route("/image") { request in
                request.headerFields["If-None-Match"] == nil
                    ? fresh : .init(status: 304, headerFields: ["ETag": "\"v2\"", "Cache-Control": "max-age=60"])
            }
            await cache.removeAll { !$0.isResult }
            time.advance(by: 61)
            #expect(try await file(loader, origin.url("/image")).entityTag != made.entityTag)
            #expect(origin.counts.totalRequests == 3)
        }
    }

    @Test func staleFileIsNotUsedIfItsResponseIsFresh() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            let tagged = try response("max-age=60", tag: "\"v1\"")
            origin.route("/image") { request in
                request.headerFields["If-None-Match"] == nil
                    ? tagged : .init(status: 304, headerFields: ["Cache-Control": "max-age=60"])
            }
            _ = try await file(loader, origin.url("/image"))
            time.advance(by: 61)
            _ = try await loader.data(for: ImageRequest(origin.url("/image")))
            await cache.settles()
            _ = try await file(loader, origin.url("/image"))
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func staleFileIsReplacedIfTheOriginalHasChanged() async throws {
        try await withStorage(.folder) { origin, _, loader in
            origin.route("/image", try response("max-age=60", tag: "\"v1\""))
            let old = try await file(loader, origin.url("/image"))
            origin.route("/image", try response("max-age=60", tag: "\"v2\"", side: 80))
            time.advance(by: 61)
            let new = try await file(loader, origin.url("/image"))
            #expect(new.entityTag != old.entityTag)
            #expect(try await file(loader, origin.url("/image")).entityTag == new.entityTag)
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func staleFileWithoutAVersionIsMadeAgain() async throws {
        try await withStorage(.memory) { origin, _, loader in
            origin.route("/image", try response("max-age=60"))
            _ = try await file(loader, origin.url("/image"))
            time.advance(by: 61)
            #expect(try await file(loader, origin.url("/image")).source == .network)
        }
    }
}
