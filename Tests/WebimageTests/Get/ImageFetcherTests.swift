import ArgumentParser
import AsyncWebImage
import ImageCodecs
import WebimageConsole
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(5)))
struct ImageFetcherTests {
    typealias Response = LoopbackOrigin.Response

    let photograph = testPhotograph

    /// Returns the outcome of `webimage get` for `response`, and the files that it writes.
    func get(
        _ response: Response, format: OutputFormat? = nil, target: DecodeOptions.Target = .original,
        takesFirstFrame: Bool = false, allowsPartial: Bool = false, keepsProfile: Bool = false,
        maximumBytes: Int? = nil
    ) async throws -> (outcome: Outcome, files: [String: [UInt8]]) {
        try await withLoopbackOrigin { origin in
            origin.route("/photo", response)
            return try await get(
                ImageSource(argument: origin.url("/photo")), format: format, target: target,
                takesFirstFrame: takesFirstFrame, allowsPartial: allowsPartial, keepsProfile: keepsProfile,
                maximumBytes: maximumBytes)
        }
    }

    func get(
        _ source: ImageSource, format: OutputFormat? = nil, target: DecodeOptions.Target = .original,
        takesFirstFrame: Bool = false, allowsPartial: Bool = false, keepsProfile: Bool = false,
        maximumBytes: Int? = nil
    ) async throws -> (outcome: Outcome, files: [String: [UInt8]]) {
        try await withTemporaryFolder { folder in
            let meter = TransferMeter(over: CurlTransport(configuration: CurlTransport.Configuration()))
            var configuration = ImageLoader.Configuration()
            configuration.downloads.deadlines = Deadlines(connect: nil, firstByte: nil, idle: nil, total: nil)
            let fetcher = ImageFetcher(
                loader: ImageLoader(configuration: configuration, transport: meter), meter: meter,
                output: ImageOutput(folder: try OutputFolder(path: folder)),
                plan: OutputPlan(
                    format: format,
                    options: DecodeOptions(target: target, allowsPartial: allowsPartial, keepsProfile: keepsProfile),
                    quality: 85, takesFirstFrame: takesFirstFrame, maximumBytes: maximumBytes),
                workers: ThreadPool(count: 1))
            let outcome = try await fetcher.get(source)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let files = try names.map { ($0, Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))) }
            return (outcome, Dictionary(uniqueKeysWithValues: files))
        }
    }

    func file(_ format: ImageFormat) throws -> [UInt8] {
        try #require(photograph).encoded(as: format)
    }

    @Test func fileHasTheBestQualityThatFits() async throws {
        let original = try file(.png)
        for format in [nil, OutputFormat.jpeg, .webp] {
            let (usual, _) = try await get(Response(body: original), format: format ?? .jpeg)
            let limit = try #require(usual.bytes) * 2 / 3
            let (outcome, files) = try await get(Response(body: original), format: format, maximumBytes: limit)
            #expect(try #require(outcome.bytes) <= limit)
            #expect(files.values.first?.count == outcome.bytes)
            #expect(outcome.outputFormat == (format ?? .jpeg).rawValue)
        }
    }

    @Test func fileThatFitsInNoQualityIsAFailure() async throws {
        let (outcome, files) = try await get(Response(body: try file(.png)), format: .jpeg, maximumBytes: 200)
        #expect(outcome.failure?.code == .encode)
        #expect(try #require(outcome.error).contains("over the limit of 200"))
        #expect(files.isEmpty)
    }

    @Test(arguments: [OutputFormat.png, .jpeg, .webp]) func profileIsKeptOnRequest(output: OutputFormat) async throws {
        // A chunk that says Display P3.
        let chunk: [UInt8] = [0, 0, 0, 4] + Array("cICP".utf8) + [12, 13, 0, 1, 0x6E, 0x03, 0xE3, 0xEF]
        let untagged = try file(.png)
        let response = Response(body: untagged[..<33] + chunk + untagged[33...])
        let options = DecodeOptions(keepsProfile: true)

        let (_, converted) = try await get(response, format: output)
        let sRGB = try #require(converted.values.first)
        let plain = try StreamingDecoder.decode(sRGB.span, options: options)
        #expect(plain.iccProfile == nil)
        let (_, kept) = try await get(response, format: output, keepsProfile: true)
        let tagged = try #require(kept.values.first)
        let stored = try StreamingDecoder.decode(tagged.span, options: options)
        #expect(stored.iccProfile != nil)
        #expect(stored.header.colorConversion == .converted)
        #expect(stored.pixels != plain.pixels)
        if output == .png { #expect(stored.pixels == photograph) }
    }

    @Test(arguments: EncodeOptions.formats, [nil, OutputFormat.original])
    func downloadedBytesAreWrittenUnchanged(format: ImageFormat, output: OutputFormat?) async throws {
        let file = try file(format)
        let (outcome, files) = try await get(Response(body: file), format: output)
        #expect(files == ["photo.\(format.fileExtension)": file])
        #expect(outcome.error == nil)
        #expect(outcome.httpStatus == 200)
        #expect(outcome.image.format == format.identifier)
        #expect(outcome.image.size?.width == 96 && outcome.image.originalSize?.width == 96 && outcome.image.frames == 1)
        #expect(outcome.bytes == file.count)
        #expect(outcome.source == "network")
    }

    @Test func scaledImagesAreJPEGsOrPNGsIfTransparent() async throws {
        let (opaque, opaqueFiles) = try await get(Response(body: try file(.png)), target: .maximumSide(48))
        #expect(opaqueFiles.keys.sorted() == ["photo.jpg"])
        #expect(
            opaque.image.size?.width == 48 && opaque.image.size?.height == 32 && opaque.image.originalSize?.width == 96
                && opaque.httpStatus == 200)

        let clear = PixelBuffer(size: PixelSize(width: 4, height: 4), bytes: [UInt8](repeating: 100, count: 64))
        let clearPNG = try #require(clear).encoded(as: .png)
        let (_, clearFiles) = try await get(Response(body: clearPNG), target: .maximumSide(2))
        #expect(clearFiles.keys.sorted() == ["photo.png"])
    }

    @Test(arguments: [(OutputFormat.jpeg, "jpg"), (.png, "png"), (.webp, "webp")])
    func imagesAreConvertedToTheGivenFormat(format: OutputFormat, suffix: String) async throws {
        let (outcome, files) = try await get(Response(body: try file(.gif)), format: format)
        let written = try #require(files["photo.\(suffix)"])
        #expect(try StreamingDecoder.decode(written.span).pixels.size == PixelSize(width: 96, height: 64))
        #expect(outcome.image.format == "gif")
    }

    /// Three frames, each shown for 0.3 seconds.
    private func animation(_ format: ImageFormat) throws -> [UInt8] {
        let encoder = try AnimationEncoder(format: format, size: PixelSize(width: 96, height: 64), repetitionCount: 2)
        var bytes = try #require(photograph).bytes
        for frame in 0..<3 {
            for offset in frame * 4000..<frame * 4000 + 800 { bytes[offset] |= 0xF0 }
            let pixels = try #require(PixelBuffer(size: PixelSize(width: 96, height: 64), bytes: bytes))
            try encoder.append(pixels, delay: .milliseconds(300))
        }
        return try encoder.finish()
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp], [nil, OutputFormat.gif, .png, .webp])
    func animationsStayAnimations(format: ImageFormat, output: OutputFormat?) async throws {
        let file = try animation(format)
        let (outcome, files) = try await get(Response(body: file), format: output, target: .maximumSide(48))
        let suffix = output?.rawValue ?? format.identifier
        let written = try AnimatedImage(#require(files["photo.\(suffix)"]))
        #expect(written.size == PixelSize(width: 48, height: 32))
        #expect(written.header.format.identifier == suffix)
        #expect((written.frameCount, written.repetitionCount, written.duration) == (3, 2, .milliseconds(900)))
        #expect((outcome.image.frames, outcome.image.size?.width, outcome.image.originalSize?.width) == (3, 48, 96))
    }

    @Test(arguments: [(OutputFormat.jpeg, false), (nil, true), (.webp, true)] as [(OutputFormat?, Bool)])
    func firstFrameOfAnAnimationIsWrittenAsStillImage(output: OutputFormat?, takesFirstFrame: Bool) async throws {
        let file = try animation(.gif)
        let (outcome, files) = try await get(
            Response(body: file), format: output, takesFirstFrame: takesFirstFrame)
        let written = try #require(files["photo.\(output == .webp ? "webp" : "jpg")"])
        #expect(try ImageHeader.probe(written.span)?.frameCount == 1)
        #expect(outcome.image.frames == 3)
    }

    @Test func aFileWithABrokenFrameIsNotWritten() async throws {
        var file = try animation(.png)
        let data = try #require(file.indices.last { file[$0...].starts(with: Array("fdAT".utf8)) })
        file[data + 20] ^= 1
        let (outcome, files) = try await get(Response(body: file))
        #expect(files.isEmpty)
        #expect(outcome.error?.hasPrefix("the PNG file is corrupt") == true)
    }

    @Test(arguments: EncodeOptions.formats, [nil, OutputFormat.png])
    func partialImagesAreWrittenIfAllowed(format: ImageFormat, output: OutputFormat?) async throws {
        let file = try file(format)
        let count = file.count * 2 / 3
        // Cut on the way, and cut before it was served.
        for response in [Response(body: file).cut(at: .body(count)), Response(body: Array(file.prefix(count)))] {
            let (outcome, files) = try await get(response, format: output, allowsPartial: true)
            #expect(outcome.error == nil)
            #expect(outcome.image.isPartial)
            #expect(outcome.line.hasSuffix("  partial"))
            #expect(outcome.json.contains(#""status":"partial""#))
            let written = try #require(files["photo.png"])
            let pixels = try StreamingDecoder.decode(written.span).pixels
            #expect(pixels.size == PixelSize(width: 96, height: 64))
            #expect(pixels[0, 0].alpha == 255 && pixels[95, 63].alpha == 0)
        }
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp], [nil, OutputFormat.webp])
    func aCutAnimationKeepsItsCompleteFramesIfAllowed(format: ImageFormat, output: OutputFormat?) async throws {
        let file = try animation(format)
        // The last frame is not whole.
        for response in [
            Response(body: file).cut(at: .body(file.count - 30)), Response(body: Array(file.dropLast(30))),
        ] {
            let (strict, none) = try await get(response, format: output)
            #expect(strict.error != nil && none.isEmpty)
            let (outcome, files) = try await get(response, format: output, allowsPartial: true)
            #expect(outcome.image.isPartial && outcome.error == nil && outcome.image.frames == 2)
            let suffix = output?.rawValue ?? format.identifier
            let written = try AnimatedImage(#require(files["photo.\(suffix)"]))
            #expect((written.frameCount, written.isPartial) == (2, false))
        }
    }

    @Test func anAnimationWithABrokenFrameIsPartialIfAllowed() async throws {
        var file = try animation(.png)
        let data = try #require(file.indices.last { file[$0...].starts(with: Array("fdAT".utf8)) })
        file[data + 20] ^= 1
        let (outcome, files) = try await get(Response(body: file), allowsPartial: true)
        #expect(outcome.image.isPartial && outcome.error == nil)
        #expect(try AnimatedImage(#require(files["photo.png"])).frameCount == 3)
    }

    @Test func allowPartialWritesIntactImagesUnchanged() async throws {
        let file = try file(.jpeg)
        let (outcome, files) = try await get(Response(body: file), allowsPartial: true)
        #expect(files == ["photo.jpg": file])
        #expect(!outcome.image.isPartial && outcome.json.contains(#""status":"ok""#))
    }

    @Test func fileWithoutADecodableRowIsNotWritten() async throws {
        let file = try file(.jpeg)
        let (cut, cutFiles) = try await get(Response(body: file).cut(at: .body(300)), allowsPartial: true)
        #expect(cut.error?.contains("300") == true && cutFiles.isEmpty)
        let (short, shortFiles) = try await get(Response(body: Array(file.prefix(300))), allowsPartial: true)
        #expect(short.error == "the JPEG file ends before its image is complete" && shortFiles.isEmpty)
    }

    @Test func previewsAreWrittenWhileTheImageArrives() async throws {
        let file = try #require(photograph).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let gate = Gate()
        try await withLoopbackOrigin { origin in
            origin.route("/photo", Response(body: file).held(at: .body(file.count / 2), until: gate))
            try await withTemporaryFolder { folder in
                let meter = TransferMeter(over: CurlTransport(configuration: CurlTransport.Configuration()))
                let fetcher = ImageFetcher(
                    loader: ImageLoader(configuration: .init(), transport: meter), meter: meter,
                    output: ImageOutput(folder: try OutputFolder(path: folder)),
                    previews: try OutputFolder(path: folder + "/previews"),
                    plan: OutputPlan(format: nil, options: DecodeOptions(), quality: 85), workers: ThreadPool(count: 1))
                async let outcome = fetcher.get(ImageSource(argument: origin.url("/photo")))
                let first = folder + "/previews/photo-01.png"
                while !FileManager.default.fileExists(atPath: first), !Task.isCancelled { await Task.yield() }
                gate.open()
                #expect(try await outcome.error == nil)
                #expect(FileManager.default.contents(atPath: folder + "/photo.jpg") == Data(file))
                let preview = Array(try #require(FileManager.default.contents(atPath: first)))
                #expect(try StreamingDecoder.decode(preview.span).pixels.size == PixelSize(width: 96, height: 64))
                #expect(origin.counts.requests["/photo"] == 1)
            }
        }
    }

    @Test func localFilesAreProcessed() async throws {
        let file = try file(.png)
        try await withTemporaryFolder { folder in
            let path = folder + "/a.b.PNG"
            try Data(file).write(to: URL(fileURLWithPath: path))
            let (outcome, files) = try await get(ImageSource(argument: path), format: .webp)
            #expect(outcome.source == "file" && outcome.error == nil)
            #expect(files.keys.sorted() == ["a.b.webp"])
        }
    }

    @Test func failedDownloadsHaveAReason() async throws {
        let html = Array("<!DOCTYPE html><title>Not here</title>".utf8)
        let jpeg = try file(.jpeg)
        func error(_ response: Response, _ format: OutputFormat? = nil) async throws -> String {
            let (outcome, files) = try await get(response, format: format)
            #expect(files.isEmpty)
            return outcome.error ?? "none"
        }
        for format in [nil, OutputFormat.original, .jpeg] {
            #expect(try await error(Response(body: html), format).hasPrefix("not an image: it looks like"))
            #expect(try await error(Response(status: 404), format).hasPrefix("the server responded with 404"))
            #expect(try await error(Response(body: jpeg).cut(at: .body(300)), format) != "none")
        }
        for format in [nil, OutputFormat.jpeg] {
            let truncated = Array(jpeg.prefix(jpeg.count / 2))
            #expect(
                try await error(Response(body: truncated), format)
                    == "the JPEG file ends before its image is complete")
        }
    }

    @Test(arguments: [
        ("nowhere/photo.jpg", "cannot read the file: No such file or directory; a URL begins with http:// or https://"),
        ("/dev/null", "not a regular file; - reads standard input"), ("/", "a folder; pass its files, as in /*.jpg"),
        ("ftp://127.0.0.1/photo.jpg", "URLs of the scheme ftp are not supported"),
        ("http://127.0.0.1:99999/photo.jpg", "not a valid http or https URL"),
    ])
    func invalidSourcesHaveAReason(source: String, error: String) async throws {
        let (outcome, files) = try await get(ImageSource(argument: source))
        #expect(outcome.error == error)
        #expect(files.isEmpty)
    }

    @Test func listsCannotReachLocalFiles() async throws {
        let (outcome, _) = try await get(ImageSource(listed: "/etc/hostname"))
        #expect(outcome.error == "not a valid http or https URL")
    }

    /// A loader as the command makes it for 16 images of one host at a time, and a fetcher that writes to `folder`.
    func fetcher(
        _ folder: String, format: OutputFormat? = nil, memory: MemoryLimits = MemoryLimits()
    ) throws -> ImageFetcher {
        let meter = TransferMeter(over: CurlTransport(configuration: CurlTransport.Configuration()))
        var configuration = try GetCommand.parse(["-o", folder, "--per-host", "16", "a"]).loaderConfiguration(
            concurrency: 16)
        configuration.downloads.deadlines = Deadlines(connect: nil, firstByte: nil, idle: nil, total: nil)
        configuration.downloads.retry = nil
        configuration.decoding.memoryBudget = memory.allChecks
        return ImageFetcher(
            loader: ImageLoader(configuration: configuration, transport: meter), meter: meter,
            output: ImageOutput(folder: try OutputFolder(path: folder)),
            plan: OutputPlan(format: format, options: DecodeOptions(), quality: 85), workers: ThreadPool(count: 2),
            memory: memory)
    }

    @Test func aProgressiveJPEGWithADamagedLaterScanIsNotWritten() async throws {
        let whole = try #require(photograph).encoded(as: .jpeg, quality: 90, isProgressive: true)
        let scans = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA }
        try #require(scans.count > 2)
        let last = try #require(scans.last)
        var cut = Array(whole[..<(last + 14)])
        cut += [0xFF, 0xD9]
        var zeros = whole
        for index in (last + 14)..<(whole.count - 2) { zeros[index] = 0 }
        for damaged in [cut, zeros] {
            let (outcome, files) = try await get(Response(body: damaged))
            #expect(files.isEmpty)
            #expect(outcome.error?.contains("the JPEG file") == true, "\(outcome)")
        }
    }

    @Test func errorOfTooLargeImageNamesTheMemoryOption() async throws {
        var memory = MemoryLimits(bytes: 1 << 10)
        let file = try file(.png)
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a.png", Response(body: file))
            try await withTemporaryFolder { folder in
                let source = ImageSource(argument: origin.url("/a.png"))
                let refused = try await fetcher(folder, memory: memory).get(source)
                let words = "of memory to check this image, over the limit of 0 MiB (see --memory-limit)"
                #expect(refused.error?.hasSuffix(words) == true)
                let converted = try await fetcher(folder, format: .webp, memory: memory).get(source)
                #expect(converted.error?.contains("of memory to convert this image, over the limit of 0 MiB") == true)
                memory = MemoryLimits()
                #expect(try await fetcher(folder, memory: memory).get(source).error == nil)
            }
        }
    }

    @Test func fullDiskEndsTheRunInsteadOfFailingAnImage() async throws {
        let file = try file(.jpeg)
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a.jpg", Response(body: file))
            try await withTemporaryFolder { folder in
                var calls = FileCalls()
                calls.write = { _, _ in -ENOSPC }
                let meter = TransferMeter(over: CurlTransport(configuration: CurlTransport.Configuration()))
                let fetcher = ImageFetcher(
                    loader: ImageLoader(transport: meter), meter: meter,
                    output: ImageOutput(folder: try OutputFolder(path: folder, calls: calls)),
                    plan: OutputPlan(format: nil, options: DecodeOptions(), quality: 85), workers: ThreadPool(count: 1))
                let error = await #expect(throws: FileError.self) {
                    try await fetcher.get(ImageSource(argument: origin.url("/a.jpg")))
                }
                #expect(error?.description == "cannot write \(folder)/a.jpg: No space left on device")
            }
        }
    }

    @Test func aFileThatChangesWhileItIsDownloadedIsWrittenAsTheNewOne() async throws {
        let (first, second) = (try file(.png), try file(.jpeg))
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/photo", [Response(body: first).cut(at: .body(first.count - 5)), Response(body: second)])
            try await withTemporaryFolder { folder in
                let meter = TransferMeter(over: CurlTransport(configuration: CurlTransport.Configuration()))
                var configuration = ImageLoader.Configuration()
                configuration.downloads.retry = ExponentialBackoff(base: .milliseconds(1))
                let fetcher = ImageFetcher(
                    loader: ImageLoader(configuration: configuration, transport: meter), meter: meter,
                    output: ImageOutput(folder: try OutputFolder(path: folder)),
                    plan: OutputPlan(format: nil, options: DecodeOptions(), quality: 85), workers: ThreadPool(count: 1))
                let outcome = try await fetcher.get(ImageSource(argument: origin.url("/photo")))
                #expect(outcome.image.format == "jpeg")
                #expect(FileManager.default.contents(atPath: folder + "/photo.jpg") == Data(second))
            }
        }
    }
}
