import AsyncWebImage
import HTTPTransport
import TestSupport
import Testing

/// A server that stops during a body; after its restart, the loader resumes.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct ResumeTests {
    private let clock = ManualClock()
    private static let noise: [UInt8] = {
        var random = SplitMix(seed: 3)
        return (0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    /// Returns the result of `load` for `file` if the server is stopped in the middle of the file; `change` is applied
    /// before it starts again.
    private func load<Value: Sendable>(
        _ file: [UInt8], from version: TestSite.Version, _ load: (ImageLoader, ImageRequest) -> LoadTask<Value>,
        change: (TestSite) throws -> Void = { _ in }
    ) async throws -> Value {
        let site = try await TestSite(
            version, ["a": file], directives: "limit_rate \(file.count / 8); limit_rate_after \(file.count / 4);")
        let loader = site.loader(retry: ExponentialBackoff(), clock: clock)
        let task = load(loader, ImageRequest(site.url("a")))
        await loader.coordinator.activity { $0.bytesInFlight > file.count / 8 }
        site.stop()
        _ = await clock.nextSleep()
        try change(site)
        try await site.start()
        clock.advance(by: .seconds(100))
        return try await task.value
    }

    @Test(arguments: TestSite.Version.allCases)
    func unchangedBodyIsResumed(version: TestSite.Version) async throws {
        let data = try await load(Self.noise, from: version) { $0.dataTask(for: $1) }
        #expect(data.bytes.elementsEqual(Self.noise))
        #expect(data.metrics.bodyBytes < Self.noise.count * 7 / 8)
    }

    @Test(arguments: TestSite.Version.allCases)
    func aChangedBodyIsFetchedFromItsBeginning(version: TestSite.Version) async throws {
        let other = Self.noise.reversed() + [1]
        let data = try await load(Self.noise, from: version) {
            $0.dataTask(for: $1)
        } change: {
            try $0.write(other, to: "a")
        }
        #expect(data.bytes.elementsEqual(other))
        #expect(data.metrics.bodyBytes == other.count)
    }

    @Test(arguments: TestSite.Version.allCases)
    func halfDecodedImageIsFinishedAfterAResume(version: TestSite.Version) async throws {
        let image = try await load(try Samples.file(.png, 400, 300), from: version) { $0.imageTask(for: $1) }
        #expect(image.pixels == Samples.picture(400, 300))
    }

    @Test(arguments: TestSite.Version.allCases)
    func changedImageIsShownAfterAResume(version: TestSite.Version) async throws {
        let other = try Samples.file(.png, 300, 400)
        let image = try await load(try Samples.file(.png, 400, 300), from: version) {
            $0.imageTask(for: $1)
        } change: {
            try $0.write(other, to: "a")
        }
        #expect(image.pixels == Samples.picture(300, 400))
    }
}
