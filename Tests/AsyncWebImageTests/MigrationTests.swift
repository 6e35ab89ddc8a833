import AsyncWebImage
import Testing

/// The examples of the guide for those who come from SDWebImage, here so that they are compiled.
struct MigrationTests {
    private let loader = ImageLoader()
    private let url = "https://example.com/photo.jpg"

    private func show(_ pixels: PixelBuffer) {}
    private func show(_ received: Int, _ expected: Int?) {}

    private func loadsAnImage() async throws {
        let photo = try await loader.image(for: ImageRequest(url, priority: .high))
        show(photo.pixels)
    }

    private func keepsAHandle() async throws {
        let task = loader.task(for: ImageRequest(url))
        task.priority = .veryHigh
        Task { for await progress in task.progress { show(progress.received, progress.expected) } }
        let pixels = try await task.value.pixels
        show(pixels)
    }

    private func showsFrames() async throws {
        for try await frame in loader.frames(for: ImageRequest(url)) {
            show(frame.pixels)
        }
    }

    private func changesTheDownloader() async {
        await loader.coordinator.configure {
            $0.maximumConcurrentDownloads = 4
            $0.deadlines.firstByte = .seconds(30)
            $0.deadlines.idle = .seconds(30)
            $0.executionOrder = .lifo
        }
        await loader.coordinator.setHeaderField(.acceptLanguage, to: "en")
        await loader.coordinator.suspend()
        await loader.coordinator.resume()
        await loader.coordinator.cancelAll()
        let activity = await loader.coordinator.activity
        log("\(activity.running)")
    }

    private func listens() async {
        for await event in loader.coordinator.events() {
            switch event.kind {
            case .started(let attempt): log("\(event.url) started, \(attempt)")
            case .response(let head): log("\(event.url) answered \(head.status.code)")
            case .stopped(let error): log("\(event.url) stopped, \(String(describing: error))")
            case .finished(let byteCount, _): log("\(event.url) has \(byteCount) bytes")
            case .queued, .progress, .retrying: break
            }
        }
    }

    private func storesResponses() throws {
        var configuration = ImageLoader.Configuration()
        configuration.responseCache = try ResponseCache(.init(directory: "/var/cache/images"))
        let loader = ImageLoader(configuration: configuration)
        log("\(loader)")
    }

    @Test func theExamplesAreTheOnesThatAreCompiled() throws {
        let guide = try Document("Docs/MigratingFromSDWebImage.md")
        let source = try Document(#filePath)
        #expect(guide.code("swift").count == 7)
        for example in guide.code("swift") { #expect(source.contains(example)) }
    }
}

private func log(_ text: String) {}

private func sign(_ url: HTTPURL) async throws -> String { "Bearer \(url.host)" }

private struct Signature: RequestModifier {
    func modify(_ request: TransportRequest) async throws -> TransportRequest {
        var request = request
        request.headerFields[.authorization] = try await sign(request.url)
        return request
    }
}
