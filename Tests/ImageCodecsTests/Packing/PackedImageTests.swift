import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Decoded images as bytes, and back.
struct PackedImageTests {
    private func unpacked(_ bytes: [UInt8], pieces: Int = 1 << 20, count: Int? = nil) -> DecodedImage? {
        var unpacker = ImageUnpacker(count: count ?? bytes.count)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            unpacker.append(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        return unpacker.finish()
    }

    /// An image with a value in every property.
    private func image(_ format: PixelFormat, isOpaque: Bool = true) -> DecodedImage {
        let pixels = TestImage.noise(37, 23, seed: 3, isOpaque: isOpaque).converted(to: format)
        var header = ImageHeader(format: .jpeg, size: PixelSize(width: 230, height: 370))
        header.orientation = .right
        header.hasAlpha = !isOpaque
        header.isProgressive = true
        header.colorChannels = 4
        header.colorProfile = "Display P3"
        header.colorConversion = .converted
        header.hasTrailingOrientation = true
        header.isGray = true
        header.hasSeparateScans = true
        header.sampling = [SamplingFactors(horizontal: 2, vertical: 1), SamplingFactors(horizontal: 1, vertical: 1)]
        header.tableBytes = 5
        header.memoryUsage = 7
        header.warnings = [.missingEnd, .extraBytes]
        return DecodedImage(
            pixels: pixels, header: header, originalSize: PixelSize(width: 370, height: 230),
            visibleSize: PixelSize(width: 360, height: 230), completeRows: 37, iccProfile: [1, 2, 3])
    }

    @Test(arguments: PixelFormat.allCases.filter { $0 != .rgba16 }, [true, false])
    func imageIsRestoredExactly(format: PixelFormat, isOpaque: Bool) throws {
        let image = image(format, isOpaque: isOpaque)
        let bytes = try #require(PackedImage.bytes(of: image))
        for pieces in [1, 2, 3, 5, 64, 1 << 20] { #expect(unpacked(bytes, pieces: pieces) == image) }
        #expect(ImageUnpacker.memory(forCount: bytes.count) >= image.pixels.bytes.count)
    }

    @Test func opaqueImageIsPackedWithoutAlpha() throws {
        let bytes = try #require(PackedImage.bytes(of: image(.rgba8)))
        let translucent = try #require(PackedImage.bytes(of: image(.rgba8, isOpaque: false)))
        #expect(bytes.count == translucent.count - 37 * 23)
    }

    @Test func imageThatCannotBeRepresentedIsNotPacked() {
        let image = image(.rgba8)
        func isPacked(_ change: (inout DecodedImage) -> Void) -> Bool {
            var changed = image
            change(&changed)
            return PackedImage.bytes(of: changed) != nil
        }
        #expect(isPacked { _ in })
        #expect(!isPacked { $0.isPartial = true })
        #expect(!isPacked { $0.header.frameCount = 2 })
        #expect(!isPacked { $0.header.frameCount = nil })
        #expect(!isPacked { $0.header.hasInvalidAnimation = true })
        #expect(!isPacked { $0.pixels = $0.pixels.converted(to: .rgba16) })
        #expect(!isPacked { $0.pixels = PixelBuffer(transparent: PixelSize(width: 0, height: 0)) })
        #expect(!isPacked { $0.iccProfile = [UInt8](repeating: 0, count: 9 << 20) })
        let custom = ImageFormat(name: "JPEG", mediaType: "image/jpeg", fileExtension: "jpg")
        #expect(!isPacked { $0.header.format = custom })
    }

    @Test func truncatedOrExtendedPackedImageIsRejected() throws {
        let bytes = try #require(PackedImage.bytes(of: image(.rgba8)))
        for count in 0..<bytes.count {
            #expect(unpacked(Array(bytes[..<count])) == nil)
            #expect(unpacked(Array(bytes[..<count]), count: bytes.count) == nil)
        }
        #expect(unpacked(bytes + [0]) == nil)
        #expect(unpacked(bytes + [0], count: bytes.count) == nil)
    }

    @Test func changedBytesOfPackedImageNeverTrap() throws {
        let bytes = try #require(PackedImage.bytes(of: image(.rgba8)))
        for index in 0..<min(bytes.count, 700) {
            for value in [UInt8(0), 1, 0x7F, 0x80, 0xFF] {
                var changed = bytes
                changed[index] = value
                let image = unpacked(changed, pieces: 97)
                #expect(image == nil || image?.pixels.bytes.count == 37 * 23 * 4)
            }
        }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            var changed = bytes
            for _ in 0..<4 {
                changed[Int.random(in: 0..<400, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = unpacked(changed, pieces: 1_000)
        }
    }
}
