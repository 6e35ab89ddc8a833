import ArgumentParser
import AsyncWebImage
import WebimageConsole
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

// Bodies that are not images, and images with much metadata before the header.
extension ImageFetcherTests {
    @Test(arguments: [nil, OutputFormat.original, .png])
    func endlessBodyThatIsNotAnImageIsRejectedEarly(format: OutputFormat?) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/zeros", Response(framing: .untilClose).followed(by: [0, 0, 0, 0], .endlessly))
            try await withTemporaryFolder { folder in
                let outcome = try await fetcher(folder, format: format).get(ImageSource(argument: origin.url("/zeros")))
                #expect(outcome.error?.hasPrefix("not an image: it looks like") == true)
                #expect((origin.counts.bodyBytesSent["/zeros"] ?? 0) < 256 << 20)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            }
        }
    }

    /// A GIF with an endless comment after its image.
    private var endlessGIF: Response {
        let beginning = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 0]
        let block = [255] + [UInt8](repeating: 0x41, count: 255)
        return Response(
            body: beginning + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x21, 0xFE], framing: .untilClose
        )
        .followed(by: block, .endlessly)
    }

    @Test(arguments: [nil, OutputFormat.original])
    func sixteenEndlessImagesHoldLittleMemory(format: OutputFormat?) async throws {
        let response = endlessGIF
        try await withLoopbackOrigin { (origin) async throws in
            for number in 0..<16 { origin.route("/\(number).gif", response) }
            try await withTemporaryFolder { folder in
                let fetcher = try fetcher(folder, format: format)
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<16 {
                        group.addTask {
                            let outcome = try? await fetcher.get(ImageSource(argument: origin.url("/\(number).gif")))
                            guard !Task.isCancelled else { return }
                            Issue.record("\(number).gif has ended: \(String(describing: outcome))")
                            await origin.stop()  // which ends the waits below
                        }
                    }
                    // Each exceeds the replay limit or is read without end.
                    for number in 0..<16 { await origin.bodyBytesSent(to: "/\(number).gif", reach: 12 << 20) }
                    let held = await fetcher.loader.coordinator.activity.bytesInFlight
                    #expect(held <= 16 * (3 << 20))
                    #expect(await fetcher.loader.decoder.memoryInUse <= fetcher.memory.allChecks)
                    group.cancelAll()
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            }
        }
    }

    private static let metadataSegment = [0xFF, 0xE1, 0xFF, 0xFF] + [UInt8](repeating: 0x41, count: 0xFFFF - 2)

    /// Returns a JPEG with at least `count` bytes of metadata.
    private func photograph(withMetadata count: Int) throws -> [UInt8] {
        let whole = try file(.jpeg)
        var image = Array(whole[..<2])
        // Arrays, because a sequence is copied element by element in a debug build.
        for _ in 0...count / Self.metadataSegment.count { image += Self.metadataSegment }
        return image + whole[2...]
    }

    /// The largest takes minutes under a sanitizer.
    @Test(
        arguments: [900_000, 1 << 20, 3 << 20] + (Sanitizer.isActive ? [] : [8_000_000]),
        [nil, OutputFormat.original, .png])
    func imageAfterLongMetadataIsFound(count: Int, format: OutputFormat?) async throws {
        let image = try photograph(withMetadata: count)
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a.jpg", Response(body: image))
            try await withTemporaryFolder { folder in
                let bytes = Data(image)
                try bytes.write(to: URL(fileURLWithPath: folder + "/local.jpg"))
                for source in [origin.url("/a.jpg"), folder + "/local.jpg"] {
                    let outcome = try await fetcher(folder, format: format).get(ImageSource(argument: source))
                    #expect(outcome.error == nil)
                    #expect(outcome.image.size?.width == 96 && outcome.image.size?.height == 64)
                    let written = try Data(contentsOf: URL(fileURLWithPath: try #require(outcome.path)))
                    #expect(format == .png ? written.count < 100_000 : written == bytes)
                }
            }
        }
    }

    @Test(arguments: [nil, OutputFormat.original, .png])
    func endlessMetadataIsRejectedAtItsLimit(format: OutputFormat?) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let response = Response(body: [0xFF, 0xD8], framing: .untilClose)
            origin.route("/a.jpg", response.followed(by: Self.metadataSegment, .endlessly))
            try await withTemporaryFolder { folder in
                let fetcher = try fetcher(folder, format: format)
                let outcome = try await fetcher.get(ImageSource(argument: origin.url("/a.jpg")))
                #expect(outcome.error?.contains("header") == true, "\(outcome)")
                // Besides the bytes before the header: the read-ahead and a piece.
                let limit = fetcher.loader.decoder.configuration.limits.maximumHeaderBytes
                #expect(fetcher.meter.received <= limit + 1 << 20 + 256 << 10)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            }
        }
    }

    @Test(arguments: [nil, OutputFormat.original, .png])
    func fileEndingInsideItsMetadataIsTruncated(format: OutputFormat?) async throws {
        let image = try photograph(withMetadata: 3 << 20)
        let (outcome, files) = try await get(Response(body: Array(image[..<(2 << 20)])), format: format)
        #expect(outcome.error?.contains("ends") == true, "\(outcome)")
        #expect(files.isEmpty)
    }

    /// Runs in a separate process, whose memory no other test uses; sanitizers use more memory than the images.
    @Test(.enabled(if: !Sanitizer.isActive), arguments: [[], ["--format", "original"]])
    func sixteenStalledImagesHoldLittleMetadata(options: [String]) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let metadata = Response(body: [0xFF, 0xD8], framing: .claimedContentLength(30 << 20))
                .followed(by: Self.metadataSegment, .times(120)).stalled(at: .body(7_800_000))
            for number in 0..<16 { origin.route("/\(number).jpg", metadata) }
            try await withTemporaryFolder { folder in
                let urls = (0..<16).map { origin.url("/\($0).jpg") }
                let patience = ["--timeout", "600", "--concurrency", "16", "--per-host", "16"]
                _ = try await Command.run(["get", "-o", folder] + patience + options + urls) { command in
                    for number in 0..<16 { await origin.bodyBytesSent(to: "/\(number).jpg", reach: 7_800_000) }
                    #expect(await ProcessState.reaches { (1..<(96 << 20)).contains(command.residentBytes) })
                    command.interrupt()
                }
            }
        }
    }
}
