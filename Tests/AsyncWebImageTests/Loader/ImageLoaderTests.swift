import AsyncWebImage
import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ImageLoaderTests {
    @Test(arguments: EncodeOptions.formats)
    func imageIsLoadedAndDecoded(_ format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(format)
            origin.route("/image", .init(body: file))
            let loader = ImageLoader(configuration: .patient)

            let response = try await loader.image(for: ImageRequest(origin.url("/image")))

            #expect(response.image.header.format == format)
            #expect(response.pixels == (try StreamingDecoder.decode(file.span)).pixels)
            #expect(response.source == .network)
            #expect(response.byteCount == file.count)
            #expect(origin.counts.requests["/image"] == 1)
        }
    }

    @Test(arguments: ["", "photo.jpg", "ftp://example.com/a.jpg", "http://", "http://example.com:0/"])
    func invalidURLIsRejectedImmediately(text: String) async throws {
        let loader = ImageLoader()
        let request = ImageRequest(text)
        func refused(_ call: () async throws -> Void) async -> String? {
            do { try await call() } catch ImageError.invalidURL(let refused) { return refused } catch {}
            return nil
        }
        #expect(await refused { _ = try await loader.image(for: request) } == text)
        #expect(await refused { _ = try await loader.data(for: request) } == text)
        #expect(await refused { _ = try await loader.info(for: request) } == text)
        #expect(await refused { _ = try await loader.animation(for: request) } == text)
        #expect(await refused { _ = try await loader.imageTask(for: request).value } == text)
        #expect(await refused { for try await _ in loader.previews(for: request) {} } == text)
        #expect(await refused { for try await _ in loader.animationFrames(for: request) {} } == text)
    }

    @Test func dataRequestReturnsTheUndecodedBody() async throws {
        try await withLoopbackOrigin { origin in
            let body = [UInt8]((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            origin.route("/data", .init(body: body))

            let data = try await ImageLoader(configuration: .patient).data(for: ImageRequest(origin.url("/data")))

            #expect(data.bytes == body)
            #expect(data.head.response.status == .ok)
            #expect(data.metrics.bodyBytes == body.count)
        }
    }

    @Test func infoStopsTheDownloadAtTheHeader() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.jpeg, 2_000, 1_500)
            let gate = Gate()
            origin.route("/image.jpg", .init(body: file).held(at: .body(4_096), until: gate))

            let info = try await ImageLoader(configuration: .patient).info(for: ImageRequest(origin.url("/image.jpg")))

            #expect(info.header.size == PixelSize(width: 2_000, height: 1_500))
            #expect(info.byteCount <= 4_096)
            await origin.openConnections(become: 0)
        }
    }

    @Test(arguments: [LoopbackOrigin.Response.Framing.contentLength, .chunked, .untilClose])
    func previewsEndWithTheFinalImage(_ framing: LoopbackOrigin.Response.Framing) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 400, 300)
            let whole = try StreamingDecoder.decode(file.span).pixels
            let gate = Gate()
            origin.route(
                "/image.png", .init(body: file, framing: framing).held(at: .body(file.count / 2), until: gate))
            var previews = 0
            var final: ImagePreview?

            for try await frame in ImageLoader(configuration: .patient).previews(
                for: ImageRequest(origin.url("/image.png")))
            {
                if frame.isFinal {
                    final = frame
                } else {
                    previews += 1
                    #expect(frame.completeRows > 0 && frame.completeRows <= 300)
                    #expect(frame.pixels.size == PixelSize(width: 400, height: 300))
                    // Received rows are those of the image, the others are transparent.
                    let come = frame.completeRows * 400 * 4
                    #expect(frame.pixels.bytes[..<come] == whole.bytes[..<come])
                    #expect(frame.pixels.bytes[come...].allSatisfy { $0 == 0 })
                    gate.open()
                }
            }

            #expect(previews >= 1)
            #expect(final?.response?.pixels == whole)
        }
    }

    @Test func thousandCallersMakeOneRequestAndGetTheSamePixels() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.jpeg)
            let gate = Gate()
            origin.route("/shared.jpg", .init(body: file).held(at: .body(100), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/shared.jpg"))

            let responses = try await withThrowingTaskGroup(of: ImageResponse.self) { group in
                for _ in 0..<1_000 { group.addTask { try await loader.image(for: request) } }
                await loader.coordinator.callers(reach: 1_000)
                gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(responses.count == 1_000)
            let expected = try StreamingDecoder.decode(file.span).pixels
            #expect(responses.allSatisfy { $0.pixels == expected })
            #expect(responses.count { $0.source == .network } == 1)
            #expect(origin.counts.requests["/shared.jpg"] == 1)
        }
    }

    @Test func unrequested206IsRejected() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/part", .init(status: 206, body: try Samples.file(.png)))
            let error = await #expect(throws: ImageError.self) {
                try await ImageLoader(configuration: .patient).data(for: ImageRequest(origin.url("/part")))
            }
            #expect(error?.httpStatus == 206)
        }
    }
}
