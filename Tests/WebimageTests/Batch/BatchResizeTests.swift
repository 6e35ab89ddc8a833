import AsyncWebImage
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --resize-mode`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchResizeTests {
    /// Returns the images that result from one of 96 x 64 pixels.
    private func images(
        of file: [UInt8]? = nil, _ options: String...
    ) async throws -> (pixels: [PixelBuffer], record: [String: Any]) {
        let body = try file ?? #require(testPhotograph).encoded(as: .jpeg)
        return try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: body))
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--resize-mode"] + options, input: origin.url("/image"))
            let frame = try #require(try BatchFrames(result.outputBytes).frames.first)
            let animation = try AnimatedImage(frame.file)
            let decoder = AnimationDecoder(animation)
            return (try (0..<animation.frameCount).map { try decoder.frame(at: $0) }, frame.object)
        }
    }

    @Test(arguments: [
        ("keep_ratio", "32", 48, 32), ("keep_ratio_largest", "48", 48, 32), ("center_crop", "32", 32, 32),
        ("border", "48", 48, 48), ("keep_ratio", "128", 192, 128), ("keep_ratio_largest", "192", 192, 128),
        ("center_crop", "128", 128, 128), ("border", "192", 192, 192),
    ])
    func resizeModeDeterminesTheSizeOfTheImage(mode: String, side: String, width: Int, height: Int) async throws {
        let (pixels, record) = try await images(mode, "--image-size", side)
        #expect(pixels.map(\.size) == [PixelSize(width: width, height: height)])
        #expect(record["width"] as? Int == width && record["height"] as? Int == height)
        #expect(record["original_width"] as? Int == 96 && record["original_height"] as? Int == 64)
    }

    @Test(arguments: ["keep_ratio", "keep_ratio_largest", "center_crop", "border"])
    func resizeOnlyIfBiggerKeepsTheSizeOfSmallerImages(mode: String) async throws {
        let (pixels, record) = try await images(mode, "--image-size", "96", "--resize-only-if-bigger")
        #expect(pixels.map(\.size) == [PixelSize(width: 96, height: 64)])
        #expect(record["width"] as? Int == 96)
    }

    @Test(arguments: [
        (["keep_ratio", "--image-size", "96", "--resize-only-if-bigger"], true),
        (["keep_ratio", "--image-size", "32"], false),
        (["border", "--image-size", "96"], false), (["keep_ratio", "--image-size", "64"], true),
        (["keep_ratio", "--image-size", "64", "--format", "png"], false),
    ])
    func imagesThatNeedNoChangeKeepTheirBytes(options: [String], keeps: Bool) async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: file))
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--skip-reencode", "--resize-mode"] + options,
                input: origin.url("/image"))
            let frame = try #require(try BatchFrames(result.outputBytes).frames.first)
            #expect(frame.status == "success" && (frame.file == file) == keeps)
            #expect(frame.object["original_bytes"] as? Int == file.count)
            #expect(frame.object["bytes"] as? Int == frame.file.count)
        }
    }

    @Test func resizeModeBorderPadsWithWhite() async throws {
        let pixels = try #require(try await images("border", "--image-size", "48", "--format", "png").pixels.first)
        for x in 0..<48 {
            for y in [0, 7, 40, 47] { #expect(pixels[x, y] == (255, 255, 255, 255)) }
        }
        // The first color of the photograph is dark.
        #expect(pixels[0, 8].red < 128 && pixels[0, 39].red < 128)
    }

    /// A kilobyte could otherwise take hours.
    @Test func pixelsOfEnlargedFramesAreLimited() async throws {
        let size = PixelSize(width: 1, height: 1)
        let encoder = try AnimationEncoder(format: .gif, size: size)
        for frame in 0..<2_100 {
            let gray = frame.isMultiple(of: 2) ? UInt8(0) : 255
            try encoder.append(
                try #require(PixelBuffer(size: size, bytes: [gray, gray, gray, 255])), delay: .milliseconds(50))
        }
        let file = try encoder.finish()
        try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: file))
            let options = ["--resize-mode", "border", "--image-size", "1024", "--format", "webp"]
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-"] + options, input: origin.url("/image"))
            #expect(try BatchFrames(result.outputBytes).frames.first?.code == "too_many_pixels")
        }
    }

    @Test func everyFrameHasBorders() async throws {
        let photograph = try #require(testPhotograph)
        let encoder = try AnimationEncoder(
            options: try EncodeOptions(.gif), size: photograph.size, repetitionCount: 0)
        try encoder.append(photograph, delay: .milliseconds(50))
        try encoder.append(
            try #require(PixelBuffer(size: photograph.size, bytes: photograph.bytes.map { $0 / 2 + 127 })),
            delay: .milliseconds(50))
        let (pixels, record) = try await images(
            of: try encoder.finish(), "border", "--image-size", "48", "--format", "webp")
        #expect(pixels.map(\.size) == [PixelSize](repeating: PixelSize(width: 48, height: 48), count: 2))
        #expect(pixels.allSatisfy { $0[0, 0] == (255, 255, 255, 255) })
        #expect(record["height"] as? Int == 48)
    }

    @Test func resizeModeNoKeepsTheFile() async throws {
        let file = try #require(testPhotograph).encoded(as: .png)
        #expect(try await images(of: file, "no").record["bytes"] as? Int == file.count)
    }
}
