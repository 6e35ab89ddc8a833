import AsyncWebImage
import ImageCodecs
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

struct NPYFileTests {
    private func image(_ bytes: [UInt8], _ width: Int, _ height: Int, _ format: PixelFormat = .rgba8) throws
        -> PixelBuffer
    {
        try #require(PixelBuffer(size: PixelSize(width: width, height: height), bytes: bytes, format: format))
    }

    @Test func headerOfNPYFileIsTheOneThatNumPyWrites() throws {
        let file = NPYFile.bytes(of: try image([UInt8](repeating: 255, count: 24), 3, 2))
        let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3), }"
        let padding = String(repeating: " ", count: 117 - text.count)
        #expect(file.prefix(10) == [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59, 1, 0, 118, 0])
        #expect(String(decoding: file[10..<128], as: UTF8.self) == text + padding + "\n")
        #expect(file.count == 128 + 2 * 3 * 3)
    }

    @Test func opaquePixelsOfNPYFileHaveThreeChannels() throws {
        let file = NPYFile.bytes(of: try image([1, 2, 3, 255, 4, 5, 6, 255], 1, 2))
        #expect(file.dropFirst(128) == [1, 2, 3, 4, 5, 6])
        let gray = NPYFile.bytes(of: try image([7, 8], 2, 1, .gray8))
        #expect(gray.dropFirst(128) == [7, 7, 7, 8, 8, 8])
    }

    @Test func transparentPixelsOfNPYFileHaveFourChannels() throws {
        let file = NPYFile.bytes(of: try image([1, 2, 3, 255, 4, 5, 6, 0], 2, 1))
        #expect(file.dropFirst(128) == [1, 2, 3, 255, 4, 5, 6, 0])
        #expect(String(decoding: file[..<128], as: UTF8.self).contains("'shape': (1, 2, 4)"))
    }

    @Test func headerOfNPYFileHasRoomForTheLargestSize() throws {
        let file = NPYFile.bytes(of: try image([], 0, Int.max))
        #expect(file.count == 128 && file.last == UInt8(ascii: "\n"))
        #expect(String(decoding: file[10...], as: UTF8.self).contains("(\(Int.max), 0, 3), }"))
    }

    @Test func npyFormatKeepsOnlyTheFirstFrame() throws {
        let plan = OutputPlan(format: .npy, options: DecodeOptions(), quality: 85)
        #expect(plan.mode == .converted(.npy))
        #expect(!plan.keepsAnimations)
    }
}

/// The built commands with `--format npy`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(2))
)
struct NPYCommandTests {
    @Test func getWritesTheDecodedPixels() async throws {
        let pixels = try #require(testPhotograph)
        try await withTemporaryFolder { folder in
            try Data(try pixels.encoded(as: .png)).write(to: URL(fileURLWithPath: folder + "/photo.png"))
            let result = try await Command.run(["get", "--format", "npy", "-o", folder, folder + "/photo.png"])
            #expect(result.status == 0)
            #expect(try ImageFile(path: folder + "/photo.npy").bytes() == NPYFile.bytes(of: pixels))
        }
    }

    @Test func batchWritesTheShrunkPixels() async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: file))
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--format", "npy", "--max-pixel-size", "48"],
                input: origin.url("/a"))
            let frame = try #require(try BatchFrames(result.outputBytes).frames.first)
            #expect(frame.status == "success" && frame.object["format"] as? String == "jpeg")
            #expect(frame.object["bytes"] as? Int == 128 + 48 * 32 * 3)
            #expect(frame.file.count == 128 + 48 * 32 * 3)
            #expect(String(decoding: frame.file[..<128], as: UTF8.self).contains("'shape': (32, 48, 3)"))
        }
    }

    @Test func samplesHaveTheExtensionNPY() async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: file))
            try await withTemporaryFolder { folder in
                let result = try await Command.run(
                    ["batch", "--input", "-", "--output", folder, "--format", "npy"], input: origin.url("/a"))
                #expect(result.status == 0)
                let listing = try await Command.run([], by: "tar tf \(folder)/00000.tar").output
                #expect(listing == "000000000.json\n000000000.npy\n")
            }
        }
    }
}
