import ArgumentParser
import AsyncWebImage
import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

struct CacheOptionsTests {
    @Test func cacheOptionsConfigureTheCache() throws {
        try withTemporaryFolder { folder in
            func configuration(_ arguments: String...) throws -> ImageLoader.Configuration {
                var configuration = ImageLoader.Configuration()
                try CacheOptions.parse(arguments).apply(to: &configuration)
                return configuration
            }
            #expect(try configuration().responseCache == nil)
            let cached = try configuration("--cache", folder + "/cache")
            #expect(cached.responseCache?.configuration.maximumBytes == 512 << 20)
            #expect(cached.cachePolicy == .useProtocol)
            let given = try configuration(
                "--cache", folder + "/cache", "--cache-limit", "3", "--cache-policy", "cache-only")
            #expect(given.responseCache?.configuration.maximumBytes == 3 << 20)
            #expect(given.cachePolicy == .cacheOnly)
        }
    }

    @Test(arguments: [
        (["--cache-policy", "reload"], "--cache-policy requires --cache."),
        (["--cache-limit", "1"], "--cache-limit requires --cache."),
        (["--cache", "a", "--cache-limit", "0"], "--cache-limit must be from 1 to 1073741824."),
    ])
    func cacheOptionsWithoutEffectAreRejected(arguments: [String], message: String) {
        do {
            _ = try CacheOptions.parse(arguments)
            Issue.record("accepted")
        } catch {
            #expect(CacheOptions.message(for: error) == message)
        }
    }

    @Test func cachePolicyOptionSelectsThePolicy() throws {
        let names = ["protocol", "reload", "revalidate", "cache-else-load", "cache-only"]
        let policies: [CachePolicy] = [.useProtocol, .reload, .revalidate, .cacheElseLoad, .cacheOnly]
        for (name, policy) in zip(names, policies) {
            #expect(try CacheOptions.parse(["--cache", "a", "--cache-policy", name]).use?.policy == policy)
        }
        #expect(throws: (any Error).self) { try CacheOptions.parse(["--cache", "a", "--cache-policy", "often"]) }
    }

    /// The command would end before it is revalidated, and print the same response the next time.
    @Test func staleResponseIsUpdatedBeforeItIsUsed() async throws {
        func image(_ color: UInt8) -> [UInt8] {
            Array("GIF89a".utf8)
                + [
                    1, 0, 1, 0, 0x80, 0, 0, color, 0, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0,
                    0x3B,
                ]
        }
        try await withLoopbackOrigin { origin in
            try await withTemporaryFolder { folder in
                origin.route("/a.gif", .init(headerFields: ["Cache-Control": "max-age=60"], body: image(2)))
                let cache = try ResponseCache(.init(directory: folder + "/cache"))
                let stale: HTTPFields = [.cacheControl: "max-age=0, stale-while-revalidate=600", .eTag: "\"1\""]
                await cache.store(
                    image(1), HTTPResponse(status: .ok, headerFields: stale), for: origin.url("/a.gif"))
                let result = try await Command.run(
                    ["get", "--format", "original", "--cache", folder + "/cache", "-o", folder, origin.url("/a.gif")])
                #expect(result.status == 0, "\(result.errors)")
                #expect(try Array(Data(contentsOf: URL(fileURLWithPath: folder + "/a.gif"))) == image(2))
                #expect(origin.counts.totalRequests == 1)
            }
        }
    }
}
