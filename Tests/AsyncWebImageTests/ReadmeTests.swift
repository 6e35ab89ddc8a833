import AsyncWebImage
import ImageEncoders
import Testing

struct ReadmeTests {
    /// The examples of the README, here so that they are compiled.
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

    private func server() async throws {
        var configuration = ImageLoader.Configuration()
        configuration.metrics = MetricsConfiguration()
        let loader = ImageLoader(configuration: configuration)

        var request = ImageRequest("https://example.com/photo.jpg")
        request.finishesOnShutdown = true
        let photo = try await loader.image(for: request)
        print(photo.pixels.size)

        await loader.shutdown(gracePeriod: .seconds(10))
    }

    @Test func theExamplesAreThoseThatAreCompiled() throws {
        let examples = try Document("README.md").code("swift").filter { $0.first == "import AsyncWebImage" }
        #expect(examples.count == 2)
        for example in examples {
            #expect(example.count >= 8)
            #expect(try Document(#filePath).contains(Array(example.dropFirst())))
        }
        let writing = try Document("README.md").code("swift").filter { $0.first == "import ImageEncoders" }
        #expect(writing.count == 1)
        for example in writing { #expect(try Document(#filePath).contains(Array(example.dropFirst()))) }
    }
}
