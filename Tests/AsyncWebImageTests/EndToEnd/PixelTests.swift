import AsyncWebImage
import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import Testing

/// The processing of pixels by a loader, from URL to result.
@Suite(.timeLimit(.minutes(1)))
struct PixelTests {
    /// A JPEG whose Exif data declares an orientation.
    private func jpeg(_ width: Int, _ height: Int, orientation: UInt8) throws -> [UInt8] {
        let tiff: [UInt8] =
            Array("MM".utf8) + [0, 42, 0, 0, 0, 8] + [0, 1] + [1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
            + [0, 0, 0, 0]
        let exif = Array("Exif".utf8) + [0, 0] + tiff
        let segment = [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
        let file = try Samples.file(.jpeg, width, height)
        return file.prefix(2) + segment + file.dropFirst(2)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt8>)
    func imagesAreUpright(orientation: UInt8) async throws {
        try await withLoopbackOrigin { origin in
            let file = try jpeg(96, 64, orientation: orientation)
            origin.route("/a.jpg", .init(body: file))
            let isOnItsSide = orientation > 4
            let loader = ImageLoader(configuration: .patient)

            let image = try await loader.image(for: ImageRequest(origin.url("/a.jpg")))
            let small = try await loader.image(for: ImageRequest(origin.url("/a.jpg"), maximumSide: 48))
            let stored = try await loader.image(
                for: ImageRequest(origin.url("/a.jpg"), options: DecodeOptions(ignoresOrientation: true)))

            #expect(image.pixels.size == PixelSize(width: isOnItsSide ? 64 : 96, height: isOnItsSide ? 96 : 64))
            let expected = try StreamingDecoder.decode(file.span)
            #expect(image.pixels == expected.pixels)
            #expect(small.pixels.size == PixelSize(width: isOnItsSide ? 32 : 48, height: isOnItsSide ? 48 : 32))
            #expect(stored.pixels.size == PixelSize(width: 96, height: 64))
        }
    }

    @Test(arguments: EncodeOptions.formats)
    func loadedImagesFitTheTargetSize(_ format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(format, 200, 100)))
            let options = DecodeOptions(target: .fit(PixelSize(width: 100, height: 20)))
            let response = try await ImageLoader(configuration: .patient).image(
                for: ImageRequest(origin.url("/a"), options: options))
            #expect(response.pixels.size == PixelSize(width: 40, height: 20))
            #expect(response.image.originalSize == PixelSize(width: 200, height: 100))
        }
    }

    @Test(arguments: [LoopbackOrigin.Response.Framing.contentLength, .chunked, .untilClose])
    func scansOfAProgressiveJPEGComeInOrder(_ framing: LoopbackOrigin.Response.Framing) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.picture(400, 300).encoded(as: .jpeg, isProgressive: true)
            let gate = Gate()
            origin.route(
                "/a.jpg", .init(body: file, framing: framing).held(at: .body(file.count / 2), until: gate))
            var configuration = ImageLoader.Configuration.patient
            configuration.previews.minimumInterval = .zero
            var scans: [Int] = []
            var final: ImagePreview?

            for try await frame in ImageLoader(configuration: configuration).previews(
                for: ImageRequest(origin.url("/a.jpg")))
            {
                if frame.isFinal { final = frame } else { scans.append(try #require(frame.scan)) }
                gate.open()
            }

            #expect(!scans.isEmpty)
            #expect(scans == scans.sorted() && Set(scans).count == scans.count)
            let expected = try StreamingDecoder.decode(file.span)
            #expect(final?.response?.pixels == expected.pixels)
        }
    }

    @Test func downloadsOfOneHostNeverExceedItsLimit() async throws {
        try await withLoopbackOrigin { slow in
            try await withLoopbackOrigin { quick in
                for index in 0..<6 { slow.route("/\(index)", .init(body: [1]).stalled(at: .start)) }
                quick.route("/a", .init(body: [1, 2, 3]))
                var configuration = ImageLoader.Configuration.patient
                configuration.downloads.maximumConcurrentDownloads = 3
                configuration.downloads.maximumConcurrentDownloadsPerHost = 2
                let loader = ImageLoader(configuration: configuration)
                let hanging = (0..<6).map { loader.imageTask(for: ImageRequest(slow.url("/\($0)"))) }
                await loader.coordinator.activity { $0.running == 2 && $0.waiting == 4 && $0.callers == 6 }

                // Another name of the same machine.
                let url = "http://localhost:\(quick.port)/a"
                let data = try await loader.data(for: ImageRequest(url))
                #expect(data.bytes == [1, 2, 3])

                for task in hanging { task.cancel() }
                await loader.coordinator.becomesIdle()
            }
        }
    }
}
