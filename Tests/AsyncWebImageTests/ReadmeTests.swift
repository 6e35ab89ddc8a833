import AsyncWebImage
import Foundation
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
        let readme = try String(contentsOfFile: "\(Self.package)/README.md", encoding: .utf8)
        let blocks = readme.components(separatedBy: "```swift\nimport AsyncWebImage\n")
        let block = try #require(blocks.dropFirst().first?.components(separatedBy: "```").first)
        let lines = block.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let compiled = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }

        #expect(lines.count >= 8)
        let first = try #require(lines.first)
        let start = try #require(compiled.firstIndex(of: first))
        #expect(Array(compiled[start..<min(start + lines.count, compiled.count)]) == lines)
    }

    private static let package = #filePath.components(separatedBy: "/Tests/")[0]
}
