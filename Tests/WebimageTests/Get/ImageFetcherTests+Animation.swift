import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

// Animations that become much larger.
extension ImageFetcherTests {
    /// Returns a GIF of about 140 KB whose first frame, of noise, appears again and again.
    ///
    /// Each time, a frame of one color covers it and is removed. Encoders store the noise each time.
    private func repeatedNoise(_ count: Int) throws -> [UInt8] {
        var random = SplitMix(seed: 1)
        let size = PixelSize(width: 128, height: 128)
        func image(_ size: PixelSize, _ bytes: [UInt8]) throws -> [UInt8] {
            try #require(PixelBuffer(size: size, bytes: bytes)).encoded(as: .gif)
        }
        /// The blocks of a single frame, after the header of 13 bytes, with a disposal method.
        func frame(_ file: [UInt8], disposal: UInt8) -> [UInt8] {
            var blocks = Array(file[13..<file.count - 1])
            blocks[3] = blocks[3] & ~0x1C | disposal << 2
            return blocks
        }
        let noise = (0..<size.area).flatMap { _ -> [UInt8] in
            let gray = UInt8(truncatingIfNeeded: random.next())
            return [gray, gray, gray, 255]
        }
        let cover = try image(size, (0..<size.area).flatMap { _ -> [UInt8] in [255, 0, 0, 255] })
        let pixel = try image(PixelSize(width: 1, height: 1), Array(noise[..<4]))
        let repetition = frame(cover, disposal: 3) + frame(pixel, disposal: 1)
        var file = try image(size, noise)
        file.removeLast()
        // A comment, so that the file is read in several pieces.
        file += [0x21, 0xFE]
        for _ in 0..<400 { file += [255] + [UInt8](repeating: 0x41, count: 255) }
        file.append(0)
        for _ in 0..<count { file += repetition }
        return file + [0x3B]
    }

    @Test(arguments: [false, true])
    func animationThatBecomesMuchLargerIsConverted(isDownloaded: Bool) async throws {
        let file = try repeatedNoise(56)
        try #require(file.count < AnimationMemory.smallestOutput / AnimationMemory.usualGrowth)
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/noise.gif", Response(body: file))
            try await withTemporaryFolder { folder in
                let path = folder + "/noise.gif"
                try Data(file).write(to: URL(fileURLWithPath: path))
                let source = ImageSource(argument: isDownloaded ? origin.url("/noise.gif") : path)
                let outcome = try await fetcher(folder, format: .png).get(source)
                #expect(outcome.error == nil && outcome.image.frames == 113)
                let data = try Data(contentsOf: URL(fileURLWithPath: try #require(outcome.path)))
                // It did not fit into the memory that was reserved first.
                #expect(data.count > AnimationMemory.smallestOutput)
                #expect(try AnimatedImage(Array(data)).frameCount == 113)
            }
        }
    }

    @Test func animationThatBecomesLargerThanTheMemoryFails() async throws {
        let file = try repeatedNoise(56)
        try await withTemporaryFolder { folder in
            let path = folder + "/noise.gif"
            try Data(file).write(to: URL(fileURLWithPath: path))
            let fetcher = try fetcher(folder, format: .png, memory: MemoryLimits(bytes: 2 << 20))
            let outcome = try await fetcher.get(ImageSource(argument: path))
            #expect(
                outcome.error
                    == "the frames of this animation take too much memory to convert them, over the limit of 2 MiB; "
                    + "smaller frames or lossy WebP take less (see --memory-limit)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["noise.gif"])
        }
    }
}
