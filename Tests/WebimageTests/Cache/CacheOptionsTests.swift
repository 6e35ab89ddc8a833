import ArgumentParser
import AsyncWebImage
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
}
