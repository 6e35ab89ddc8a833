import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import Testing

/// Responses of hostile servers end in one clear error or in the image, never in a crash, without effects on other
/// requests.
@Suite(.timeLimit(.minutes(5)))
struct HostileOriginTests {
    static let file = (try? Samples.file(.png)) ?? []

    /// Returns a loader with a time limit for silent servers.
    private func loader(patience: Duration = .seconds(8)) -> ImageLoader {
        var configuration = ImageLoader.Configuration()
        configuration.transport.proxy = .none
        configuration.downloads.deadlines = Deadlines(
            lookup: nil, connect: nil, firstByte: patience, idle: patience, total: .seconds(60))
        configuration.downloads.retry = nil
        configuration.downloads.maximumBodyBytes = HostileAnswer.maximumBodyBytes
        configuration.decoding.threadCount = 1
        return ImageLoader(configuration: configuration)
    }

    @Test(arguments: HostileAnswer.all(file))
    func hostileResponseEndsInTheExpectedResult(_ answer: HostileAnswer) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/good", .init(body: Self.file))
            origin.route("/hostile", answer.response)
            var loader: ImageLoader? = loader()
            if let loader {
                // The connection and the handle have been used before.
                try await expectImage(origin.url("/good?0"), loader)
                async let neighbor: Void = expectImage(origin.url("/good?1"), loader)
                let end = try await end(of: origin.url("/hostile"), loader)
                #expect(end == answer.end, "\(answer.testDescription)")
                try await neighbor
                try await expectImage(origin.url("/good?2"), loader)
                await loader.coordinator.becomesIdle()
                while await loader.decoder.memoryInUse != 0, !Task.isCancelled { await Task.yield() }
            }
            loader = nil
            await origin.openConnections(become: 0)
            // The bound covers the limit and the socket buffers of both sides; the count for a raw response includes
            // its head.
            guard answer.response.framing != .raw else { return }
            #expect(origin.counts.bodyBytesSent["/hostile", default: 0] < 32 << 20)
        }
    }

    /// Many at a time over the same few connections and handles.
    @Test func goodImagesArriveBetweenAllHostileAnswers() async throws {
        try await withLoopbackOrigin { origin in
            let answers = HostileAnswer.all(Self.file)
            origin.route("/good*", .init(body: Self.file))
            for (index, answer) in answers.enumerated() { origin.route("/\(index)", answer.response) }
            // The floods keep the origin's one thread from the end of other answers for a while.
            let loader = loader(patience: .seconds(20))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, answer) in answers.enumerated() {
                    group.addTask {
                        let end = try await end(of: origin.url("/\(index)"), loader)
                        #expect(end == answer.end, "\(answer.testDescription)")
                    }
                    group.addTask { try await expectImage(origin.url("/good-\(index)"), loader) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func expectImage(_ url: String, _ loader: ImageLoader) async throws {
        let size = try await loader.image(for: ImageRequest(url)).pixels.size
        #expect(size == PixelSize(width: 64, height: 48))
    }

    /// Returns the outcome of a load; throws errors that no server may cause.
    private func end(of url: String, _ loader: ImageLoader) async throws -> HostileAnswer.End {
        do {
            try await expectImage(url, loader)
            return .image
        } catch let error as ImageError {
            let text = error.description
            #expect(!text.isEmpty && !text.contains("\n"))
            switch error {
            case .transport(let cause):
                if case .truncated = cause.reason { return .truncated }
                return .failure(cause.reason)
            case .status(let head, _): return .status(head.status.code)
            case .codec: return .codec
            case .emptyBody: return .emptyBody
            default: throw error
            }
        }
    }
}
