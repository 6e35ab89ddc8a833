import AsyncWebImage
import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import QOI
import Testing

/// Images of a custom format, from URL to result.
@Suite(.timeLimit(.minutes(1)))
struct CustomFormatLoadingTests {
    private let picture = Samples.picture(200, 150)

    private var configuration: ImageLoader.Configuration {
        var configuration = ImageLoader.Configuration.patient
        configuration.decoding.customFormats = [QOIFormat()]
        return configuration
    }

    @Test func customFormatImagesAreLoaded() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.qoi", .init(body: picture.qoi()))
            let loader = ImageLoader(configuration: configuration)
            let request = ImageRequest(origin.url("/a.qoi"))

            let response = try await loader.image(for: request)
            let animation = try await loader.animation(for: request).animation

            #expect(response.pixels == picture)
            #expect(response.image.header.format == QOIFormat().format)
            #expect(animation.frameCount == 1)
            #expect(try AnimationDecoder(animation).frame(at: 0) == picture)
            #expect(try await loader.image(for: request).source == .imageCache)
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    @Test func wholeFileFormatIsLoadedInPieces() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let frames = [PixelBuffer](repeating: Samples.picture(40, 30), count: 3)
            let encoder = try AnimationEncoder(options: EncodeOptions(QOIEncoder()), size: frames[0].size)
            for frame in frames { try encoder.append(frame, delay: .milliseconds(50)) }
            origin.route("/a.qoi", .init(body: picture.qoi()).held(at: .body(50), until: gate))
            origin.route("/b.qoi", .init(body: try encoder.finish()).held(at: .body(50), until: gate))
            var configuration = configuration
            configuration.decoding.customFormats = [WholeQOIFormat()]
            let loader = ImageLoader(configuration: configuration)
            async let still = loader.image(for: ImageRequest(origin.url("/a.qoi")))
            async let moving = loader.animation(for: ImageRequest(origin.url("/b.qoi")))
            await loader.coordinator.callers(reach: 2)
            gate.open()

            #expect(try await still.pixels == picture)
            let animation = try await moving.animation
            #expect(animation.frameCount == 3)
            #expect(try AnimationDecoder(animation).frame(at: 2) == frames[2])
            let info = try await loader.info(for: ImageRequest(origin.url("/b.qoi")), readsAnimation: true)
            #expect(info.animation?.frameCount == 3)
        }
    }

    @Test func twoSizesOfACustomFormatImageShareADownload() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.qoi", .init(body: picture.qoi()).held(at: .body(50), until: gate))
            let loader = ImageLoader(configuration: configuration)
            async let large = loader.image(for: ImageRequest(origin.url("/a.qoi")))
            async let small = loader.image(for: ImageRequest(origin.url("/a.qoi"), maximumSide: 40))
            await loader.coordinator.callers(reach: 2)
            gate.open()

            let answers = try await (large, small)
            #expect(answers.0.pixels == picture)
            #expect(answers.1.pixels.size == PixelSize(width: 40, height: 30))
            #expect(origin.counts.requests["/a.qoi"] == 1)
        }
    }

    @Test func customFormatShowsRowsWhileDownloading() async throws {
        try await withLoopbackOrigin { origin in
            let file = picture.qoi()
            let gate = Gate()
            origin.route("/a.qoi", .init(body: file).held(at: .body(file.count / 2), until: gate))
            var previews = 0
            var final: ImagePreview?

            for try await frame in ImageLoader(configuration: configuration).previews(
                for: ImageRequest(origin.url("/a.qoi")))
            {
                if frame.isFinal {
                    final = frame
                } else {
                    previews += 1
                    #expect(frame.completeRows > 0 && frame.completeRows <= 150)
                    let complete = frame.completeRows * picture.rowBytes
                    #expect(frame.pixels.bytes[..<complete] == picture.bytes[..<complete])
                    gate.open()
                }
            }

            #expect(previews >= 1)
            #expect(final?.response?.pixels == picture)
        }
    }

    @Test func infoOfCustomFormatStopsTheDownloadAtTheHeader() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.qoi", .init(body: picture.qoi()).held(at: .body(100), until: Gate()))

            let info = try await ImageLoader(configuration: configuration).info(
                for: ImageRequest(origin.url("/a.qoi")))

            #expect(info.header.size == picture.size && info.header.format.mediaType == "image/qoi")
            #expect(info.byteCount <= 100)
            await origin.openConnections(become: 0)
        }
    }

    /// A format that takes precedence needs more bytes to reject the file than the file has.
    @Test func fileEndingBeforeItsFormatIsKnownIsDecoded() async throws {
        struct Patient: CustomFormat {
            let format = ImageFormat(name: "none", mediaType: "image/x-none", fileExtension: "none")
            let signatureLength = 4_096
            func recognizes(_ beginning: Span<UInt8>) -> Bool { false }
            func header(of beginning: Span<UInt8>) -> ImageHeader? { nil }
            func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { 0 }
            func decoder(for header: ImageHeader, rowSize: PixelSize) -> any CustomRowDecoder {
                QOIFormat().decoder(for: header, rowSize: rowSize)
            }
        }
        try await withLoopbackOrigin { origin in
            let picture = Samples.picture(20, 15)
            origin.route("/a.qoi", .init(body: picture.qoi()))
            var configuration = configuration
            configuration.decoding.customFormats = [Patient(), QOIFormat()]
            let loader = ImageLoader(configuration: configuration)
            let request = ImageRequest(origin.url("/a.qoi"))

            let info = try await loader.info(for: request)
            let response = try await loader.image(for: request)
            let animation = try await loader.animation(for: request).animation

            #expect(picture.qoi().count < 4_096)
            #expect(info.header.size == picture.size && info.byteCount == picture.qoi().count)
            #expect(response.pixels == picture)
            #expect(animation.size == picture.size)
        }
    }

    @Test func interruptedCustomFormatTransferGivesReceivedRowsIfAllowed() async throws {
        try await withLoopbackOrigin { origin in
            let file = picture.qoi()
            origin.route("/a.qoi", .init(body: file).cut(at: .body(file.count * 3 / 4)))
            let request = ImageRequest(origin.url("/a.qoi"), options: DecodeOptions(allowsPartial: true))
            let response = try await ImageLoader(configuration: configuration).image(for: request)
            #expect(response.isPartial)
            let complete = response.image.completeRows * picture.rowBytes
            #expect(complete > 0 && response.pixels.bytes[..<complete] == picture.bytes[..<complete])
        }
    }

    @Test func pixelLimitOfCustomFormatIsCheckedBeforeAllocation() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.qoi", .init(body: picture.qoi()).held(at: .body(100), until: Gate()))
            var configuration = configuration
            configuration.decoding.limits.maximumPixels = 29_999
            let loader = ImageLoader(configuration: configuration)
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/a.qoi")))
            }
            guard case .codec(.overLimit(.pixels, value: 30_000, limit: 29_999), _, nil) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func customFormatMediaTypeIsInAccept() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.qoi", .init(body: picture.qoi()))
            var own = configuration
            own.downloads.headerFields[.accept] = "image/*"
            for configuration in [configuration, own, .patient] {
                _ = try await ImageLoader(configuration: configuration).data(
                    for: ImageRequest(origin.url("/a.qoi")))
            }
            let request = ImageRequest(origin.url("/a.qoi"), headerFields: [.accept: "text/plain"])
            _ = try await ImageLoader(configuration: configuration).data(for: request)
            #expect(
                origin.recordedRequests.map { $0.headerFields["Accept"] } == [
                    "image/qoi,image/jpeg,image/png,image/webp,image/gif,image/*;q=0.8", "image/*",
                    "image/jpeg,image/png,image/webp,image/gif,image/*;q=0.8", "text/plain",
                ])
        }
    }

    @Test func fileOfAnUnregisteredCustomFormatIsUnsupported() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.qoi", .init(body: picture.qoi()))
            let error = await #expect(throws: ImageError.self) {
                try await ImageLoader(configuration: .patient).image(for: ImageRequest(origin.url("/a.qoi")))
            }
            guard case .codec(.notAnImage, _, nil) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
