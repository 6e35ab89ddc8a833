import ImageCodecs
import Testing

@testable import Scenarios

@Suite struct FixtureFolderTests {
    @Test func fixtureFileIsCreatedOnce() async throws {
        try await withTemporaryFolder { path in
            let fixtures = try FixtureFolder(path: path + "/new")
            #expect(try File.read(fixtures.file("a") { [1, 2] }) == [1, 2])
            #expect(try File.read(fixtures.file("a") { [3] }) == [1, 2])
        }
    }

    @Test func fixtureBodyHasTheSizeInItsName() async throws {
        try await withTemporaryFolder { path in
            let fixtures = try FixtureFolder(path: path)
            #expect(try File.read(fixtures.body(bytes: 10_240)).count == 10_240)
            #expect(try File.names(in: path) == [FixtureFolder.bodyName(bytes: 10_240)])
        }
    }

    /// The decoders are measured with these files, which should resemble those of cameras.
    @Test func fixtureJPEGIsCompressedLikeAPhotograph() async throws {
        try await withTemporaryFolder { path in
            let picture = try FixtureFolder(path: path).jpeg(width: 320, height: 240)
            let bytes = try File.read(picture.path)
            #expect((1.2...2.5).contains(Double(bytes.count * 8) / (320 * 240)))
            #expect(try StreamingDecoder.decode(bytes.span).pixels.size == PixelSize(width: 320, height: 240))
        }
    }

    @Test func randomNumbersAreTheSameForTheSameSeed() {
        var (one, same, other) = (SplitMix64(seed: 1), SplitMix64(seed: 1), SplitMix64(seed: 2))
        let numbers = (0..<10).map { _ in one.next() }
        #expect((0..<10).map { _ in same.next() } == numbers)
        #expect((0..<10).map { _ in other.next() } != numbers)
    }
}
