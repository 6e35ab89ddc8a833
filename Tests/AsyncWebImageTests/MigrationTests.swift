import AsyncWebImage
import Testing

/// The samples of the article about SDWebImage, here so that they are compiled.
struct MigrationTests {
    private func loadsAnImage() async throws {
        let loader = ImageLoader()
        let url = "https://example.com/photo.jpg"
        let photo = try await loader.image(for: ImageRequest(url, priority: .high))
        print(photo.pixels.size)
    }

    private func keepsAHandle() async throws {
        let task = ImageLoader().task(for: ImageRequest("https://example.com/photo.jpg"))
        task.priority = .veryHigh
        for await progress in task.progress { print(progress.received, progress.expected ?? -1) }
        print(try await task.value.pixels.size)
        task.cancel()
    }

    private func showsPreviews() async throws {
        for try await frame in ImageLoader().frames(for: ImageRequest("https://example.com/photo.jpg")) {
            print(frame.pixels.size, frame.isFinal)
        }
    }

    private func changesTheDownloader() async throws {
        let loader = ImageLoader()
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
        print(activity.running + activity.waiting)
    }

    private func modifiesRequests() async throws {
        struct Signature: RequestModifier {
            let key: String

            func modify(_ request: TransportRequest) async throws -> TransportRequest {
                var request = request
                request.headerFields[.authorization] = "Bearer \(key) \(request.url.host)"
                return request
            }
        }

        var configuration = ImageLoader.Configuration()
        configuration.downloads.requestModifier = Signature(key: "secret")
        let loader = ImageLoader(configuration: configuration)
        print(loader.cache.limit)
    }

    private func listens() async throws {
        let loader = ImageLoader()
        for await event in loader.coordinator.events() {
            switch event.kind {
            case .started(let attempt): print("\(event.url) started, \(attempt)")
            case .response(let head): print("\(event.url) answered \(head.status.code)")
            case .stopped(let error): print("\(event.url) stopped, \(String(describing: error))")
            case .finished(let byteCount, _): print("\(event.url) has \(byteCount) bytes")
            case .queued, .progress, .retrying: break
            }
        }
    }

    @Test func theArticleContainsTheSamplesThatAreCompiled() throws {
        let article = try Document("Sources/AsyncWebImage/AsyncWebImage.docc/MigrateFromSDWebImage.md")
        let source = try Document(#filePath)
        #expect(article.code("swift").count == 6)
        for sample in article.code("swift") { #expect(source.contains(Array(sample.dropFirst()))) }
    }
}
