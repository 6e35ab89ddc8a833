import AsyncWebImage
import QOI
import Testing

/// The examples of the guide to formats of one's own are those that are compiled.
struct CustomFormatsGuideTests {
    private func loads() async throws {
        var configuration = ImageLoader.Configuration()
        configuration.decoding.customFormats = [QOIFormat()]
        let loader = ImageLoader(configuration: configuration)
        let picture = try await loader.image(for: ImageRequest("https://example.com/picture.qoi"))
        print(picture.pixels.size)
    }

    @Test func theExamplesAreTheOnesThatAreCompiled() throws {
        let examples = try Document("Docs/CustomFormats.md").code("swift")
        let sources = ["Tests/QOI/QOIFormat.swift", "Tests/QOI/QOIDecoder.swift", #filePath]
        #expect(examples.count == sources.count)
        for (example, source) in zip(examples, sources) { #expect(try Document(source).contains(example)) }
    }
}
