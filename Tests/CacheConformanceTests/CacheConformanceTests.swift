import AsyncWebImage
import Foundation
import LoopbackOrigin
import ResponseCache
import TestSupport
import Testing

/// The public HTTP caching test suite (http-tests/cache-tests), run with the public API of the library.
///
/// The results are compared with those in `Results.txt`. `Docs/CacheConformance.md` explains the tests that do not pass.
@Suite(.enabled(if: ConformanceSuite.folder != nil, "set WEBIMAGE_CACHE_TESTS"), .timeLimit(.minutes(5)))
struct CacheConformanceTests {
    @Test(arguments: TestStorage.allCases)
    func cacheConformanceResultsMatchTheCommittedOnes(storage: TestStorage) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let time = ManualTime()
        let results = try await results(try storage.cache(folder, time), time)
        print(results.totals)
        let differences = results.differences(from: try ConformanceResults.expected())
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    private func results(_ cache: ResponseCache, _ time: ManualTime) async throws -> ConformanceResults {
        let tests = try ConformanceSuite.tests()
        try #require(!tests.isEmpty)
        var configuration = ImageLoader.Configuration()
        configuration.responseCache = cache
        configuration.downloads.retry = nil
        configuration.downloads.maximumResumableBytes = 0
        configuration.downloads.acceptedContentTypes = nil
        let loader = ImageLoader(configuration: configuration)
        let outcomes = try await withLoopbackOrigin { origin in
            var outcomes: [String: (ConformanceResult, String?)] = [:]
            for test in tests {
                let script = ConformanceOrigin(test, time)
                origin.route("/\(test.id)") { script.response(to: $0) }
                let client = ConformanceClient(
                    test: test, origin: script, loader: loader, time: time, url: origin.url("/\(test.id)"))
                do throws(ConformanceClient.Failure) {
                    try await client.run()
                    outcomes[test.id] = (.pass, nil)
                } catch {
                    outcomes[test.id] = (error.isSetup ? .setupFailed : .fail, error.message)
                }
            }
            return outcomes
        }
        await loader.shutdown(gracePeriod: .zero)
        return ConformanceResults(tests, outcomes)
    }
}
