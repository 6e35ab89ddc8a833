import HTTPTransport
import Foundation
import Testing

@testable import AsyncWebImage

/// URLs that contain their image.
@Suite(.timeLimit(.minutes(1)))
struct DataURLTests {
    private func loader(maximumBytes: Int = 1 << 20) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.sources = [.dataURLs(maximumBytes: maximumBytes)]
        return ImageLoader(configuration: configuration)
    }

    @Test func imageIsLoadedFromADataURL() async throws {
        let file = try Samples.file(.webp)
        let text = "data:image/webp;base64,\(Data(file).base64EncodedString())"
        let loader = loader()

        let image = try await loader.image(for: ImageRequest(text))

        #expect(image.image.header.format == .webp && image.source == .source)
        #expect(image.head.response.headerFields[.contentType] == "image/webp")
        #expect(image.head.url.string.hasPrefix("data:image/webp;base64,sha256-") && image.head.url.string.count < 100)
        #expect(try await loader.image(for: ImageRequest(text)).source == .imageCache)
    }

    @Test(arguments: [
        ("data:,a%20b", "a b"), ("data:text/plain,a%2", "a%2"), ("data:;base64,YWI=", "ab"), ("data:;base64,YWI", "ab"),
        ("DATA:;BASE64,YW%0AI%3D", "ab"), ("data:;base64, Y W J j ", "abc"), ("data:,ab#part", "ab"),
    ])
    func dataAreDecodedAsInBrowsers(text: String, content: String) throws {
        #expect(try DataURL(text, maximumBytes: 100).decoded().bytes == Array(content.utf8))
    }

    @Test(arguments: [
        "data:;base64,Y", "data:;base64,YW=I", "data:;base64,YW-_", "data:;base64,YWI==", "data:image/png",
    ])
    func invalidDataAreRefused(text: String) async throws {
        do {
            _ = try await loader().data(for: ImageRequest(text))
            Issue.record("not a data URL")
        } catch ImageError.transport(let error) {
            #expect(error.reason == .sourceFailed)
        }
    }

    @Test func lengthIsLimitedBeforeAnythingIsDecoded() async throws {
        let text = "data:image/png;base64," + String(repeating: "A", count: 1 << 20)
        for limit in [1_000, 700_000] {
            do {
                _ = try await loader(maximumBytes: limit).data(for: ImageRequest(text))
                Issue.record("too long")
            } catch ImageError.transport(let error) {
                #expect(error.reason == .bodyTooLarge(limit: limit) && error.url.utf8.count < 150)
            }
        }
        do {
            _ = try await ImageLoader(configuration: .patient).data(for: ImageRequest(text))
            Issue.record("there is no source")
        } catch ImageError.invalidURL(let shown) {
            #expect(shown == "data:…")
        }
    }
}
