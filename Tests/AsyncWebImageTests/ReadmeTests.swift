import AsyncWebImage
import Testing

struct ReadmeTests {
    /// The example of the README, here so that it is compiled.
    private func example() async throws {
        let loader = ImageLoader()
        let request = ImageRequest("https://example.com/photo.jpg", maximumSide: 1024)

        let photo = try await loader.image(for: request)
        print("\(photo.image.originalSize) shown at \(photo.pixels.size)")

        for try await frame in loader.frames(for: request) {
            print("\(frame.completeRows) rows", frame.isFinal ? "and done" : "so far")
        }
        let file = try photo.pixels.encoded(as: .webp, quality: 80)
        print("\(file.count) bytes")
    }

    @Test func theExampleIsTheOneThatIsCompiled() throws {
        let example = try #require(Document("README.md").code("swift").first { $0.first == "import AsyncWebImage" })
        #expect(example.count >= 8)
        #expect(try Document(#filePath).contains(Array(example.dropFirst())))
    }
}
