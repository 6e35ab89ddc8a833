import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// A killed process leaves no wrong response and no temporary file in the folder of a cache.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(5))
)
struct CacheDurabilityTests {
    private static let gif: [UInt8] =
        Array("GIF89a".utf8) + [
            1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1,
        ]
        + [0, 0x3B]

    private let count = 30

    /// Returns the image at a path, between 1 KB and 300 KB, which is like no other.
    private static func image(_ path: String) -> [UInt8] {
        let number = path.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFFFFFF }
        return gif + (0..<1_000 + number % 300_000).map { UInt8(truncatingIfNeeded: $0 &* number >> 3) }
    }

    private func withOrigin(_ body: (LoopbackOrigin, _ urls: [String]) async throws -> Void) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*") { request in
                let fields: HeaderFields = ["ETag": "\"a\"", "Cache-Control": "max-age=1000"]
                return .init(headerFields: fields, body: Self.image(request.target))
            }
            try await body(origin, (0..<count).map { origin.url("/image\($0).gif") })
        }
    }

    private func arguments(_ cache: String, _ output: String, _ urls: [String]) -> [String] {
        ["get", "--format", "original", "--cache", cache, "-o", output] + urls
    }

    /// Loads all images and compares them; returns the number of requests that were necessary.
    private func check(_ origin: LoopbackOrigin, _ cache: String, _ urls: [String]) async throws -> Int {
        let before = origin.counts.totalRequests
        try await withTemporaryFolder { output in
            let result = try await Command.run(arguments(cache, output, urls))
            #expect(result.status == 0, "\(result.errors)")
            for number in 0..<count {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(output)/image\(number).gif"))
                #expect(Array(bytes) == Self.image("/image\(number).gif"), "image \(number)")
            }
        }
        return origin.counts.totalRequests - before
    }

    @Test func killedProcessLeavesAValidCache() async throws {
        try await withOrigin { origin, urls in
            try await withTemporaryFolder { cache in
                for kill in 0..<10 {
                    let requests = origin.counts.totalRequests + kill * 3
                    _ = try await withTemporaryFolder { output in
                        try await Command.run(arguments(cache, output, urls)) { command in
                            while origin.counts.totalRequests < requests,
                                await !command.ends(within: .microseconds(300))
                            {}
                            command.send(SIGKILL)
                        }
                    }
                }
                _ = try await check(origin, cache, urls)
                #expect(try await check(origin, cache, urls) == 0)
                #expect(try cacheFiles(cache).filter { $0.hasPrefix("v5/tmp/") } == [])
                #expect(try cacheFiles(cache).count == count)
            }
        }
    }

    @Test func damagedCacheEntriesAreDownloadedAgain() async throws {
        try await withOrigin { origin, urls in
            try await withTemporaryFolder { cache in
                #expect(try await check(origin, cache, urls) == count)
                for (number, path) in try cacheFiles(cache).sorted().enumerated() {
                    let file = URL(fileURLWithPath: "\(cache)/\(path)")
                    var bytes = try Data(contentsOf: file)
                    bytes[number == 0 ? 0 : bytes.count * number / count] ^= 0x10
                    try bytes.write(to: file)
                }
                let again = try await check(origin, cache, urls)
                #expect((count - 3...count).contains(again), "the rest of a region with a head is not used")
                #expect(try await check(origin, cache, urls) == 0)
            }
        }
    }

    @Test func severalProcessesCanShareACacheFolder() async throws {
        try await withOrigin { origin, urls in
            try await withTemporaryFolder { cache in
                try await withThrowingTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask { _ = try await check(origin, cache, urls) }
                    }
                    try await group.waitForAll()
                }
                #expect(try await check(origin, cache, urls) == 0)
                #expect(try cacheFiles(cache).count == count)
            }
        }
    }
}
