import ArgumentParser
import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --compute-phash` and `--compute-thumbhash`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchPixelHashTests {
    private let arguments = ["--input", "-", "--output", "-", "--compute-phash", "--compute-thumbhash"]

    @Test func recordsHaveTheHashesOfTheWrittenImages() async throws {
        let photograph = try #require(testPhotograph)
        let file = try photograph.encoded(as: .png)
        try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: file))
            let result = try await Command.run(
                ["batch", "--ordered", "--format", "png"] + arguments,
                input: origin.url("/image") + "\n" + origin.url("/missing"))
            let frames = try BatchFrames(result.outputBytes).frames
            let record = try #require(frames.first).object
            let hash = photograph.perceptualHash()
            #expect((record["phash"] as? String).map { UInt64($0, radix: 16) } == hash)
            #expect((record["phash"] as? String)?.count == 16)
            #expect(record["thumbhash"] as? String == Data(photograph.thumbHash()).base64EncodedString())
            let failure = try #require(frames.last).object
            #expect(failure["phash"] is NSNull && failure["thumbhash"] is NSNull)
        }
    }

    @Test func animationsHaveTheHashesOfTheirFirstFrame() async throws {
        let photograph = try #require(testPhotograph)
        let encoder = try AnimationEncoder(
            options: try EncodeOptions(.webp), size: photograph.size, repetitionCount: 0)
        let white = [UInt8](repeating: 255, count: photograph.bytes.count)
        try encoder.append(photograph, delay: .milliseconds(50))
        try encoder.append(
            try #require(PixelBuffer(size: photograph.size, bytes: white)), delay: .milliseconds(50))
        let file = try encoder.finish()
        let first = try AnimationDecoder(AnimatedImage(file)).frame(at: 0)
        try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: file))
            let result = try await Command.run(
                ["batch", "--format", "webp"] + arguments, input: origin.url("/image"))
            let record = try #require(try BatchFrames(result.outputBytes).frames.first).object
            #expect(record["frames"] as? Int == 2)
            #expect(record["thumbhash"] as? String == Data(first.thumbHash()).base64EncodedString())
        }
    }

    @Test(arguments: [[], ["--format", "original"], ["--header-only"]])
    func imagesThatAreNotDecodedHaveNoHashes(options: [String]) throws {
        do {
            _ = try BatchCommand.parse(arguments + options)
            Issue.record("accepted")
        } catch {
            #expect(
                BatchCommand.message(for: error)
                    == "--compute-phash applies to converted images: add --format jpeg or a size option.")
        }
    }

    @Test func namesOfComputedHashesAreReservedOnlyIfRequested() throws {
        let command = try BatchCommand.parse(arguments + ["--format", "png"])
        #expect(command.listColumns.conflict(among: ["a", "phash"]) == "phash")
        #expect(ListColumns().conflict(among: ["a", "phash", "thumbhash"]) == nil)
    }
}
