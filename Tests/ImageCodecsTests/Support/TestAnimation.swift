import ImageEncoders
import ImageTestSupport

@testable import ImageCodecs

/// Handwritten animations with every way of blending and disposing of frames.
enum TestAnimation {
    typealias Layer = ReferenceAnimation.Layer

    static let width = 13
    static let height = 9

    /// Returns frames with random positions, disposal, and blending, the first of which covers the canvas; `alphas` are
    /// the possible alpha values.
    static func layers(_ count: Int, seed: UInt64, alphas: [UInt8]) -> [Layer] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            let coversAll = index == 0 || Int.random(in: 0..<6, using: &random) == 0
            let width = coversAll ? Self.width : Int.random(in: 1...Self.width, using: &random)
            let height = coversAll ? Self.height : Int.random(in: 1...Self.height, using: &random)
            // At even positions, because WebP supports no others.
            var layer = Layer(
                left: Int.random(in: 0...(Self.width - width) / 2, using: &random) * 2,
                top: Int.random(in: 0...(Self.height - height) / 2, using: &random) * 2,
                width: width, height: height, pixels: [])
            for _ in 0..<width * height {
                let color = random.next()
                let alpha = alphas.randomElement(using: &random) ?? 255
                layer.pixels += [UInt8(truncatingIfNeeded: color), UInt8(truncatingIfNeeded: color >> 8), 60, alpha]
            }
            layer.disposal = Layer.Disposal.allCases.randomElement(using: &random) ?? .keep
            layer.isOver = Bool.random(using: &random)
            return layer
        }
    }

    /// Returns an APNG of `layers`, each shown for a tenth of a second; the default image is its first frame or a gray
    /// image.
    static func apng(
        _ layers: [Layer], hidesDefault: Bool = false, isInterlaced: Bool = false, declaredFrames: Int? = nil,
        runs: Int = 2
    ) -> [UInt8] {
        let size = [width, height].flatMap(TestPNG.number)
        let png = TestPNG(isInterlaced: isInterlaced)
        var file = TestPNG.signature
        file += TestPNG.chunk("IHDR", size + [8, 6, 0, 0, isInterlaced ? 1 : 0])
        file += TestPNG.chunk("acTL", [declaredFrames ?? layers.count, runs].flatMap(TestPNG.number))
        if hidesDefault { file += TestPNG.chunk("IDAT", png.data(of: gray)) }
        var sequence = 0
        for (index, layer) in layers.enumerated() {
            let place = [sequence, layer.width, layer.height, layer.left, layer.top].flatMap(TestPNG.number)
            file += TestPNG.chunk("fcTL", place + [0, 1, 0, 10, layer.disposal.rawValue, layer.isOver ? 1 : 0])
            sequence += 1
            let data = png.data(
                of: TestPNG.Image(
                    width: layer.width, height: layer.height, depth: 8, colorType: 6,
                    samples: layer.pixels.map { Int($0) }))
            if index == 0, !hidesDefault {
                file += TestPNG.chunk("IDAT", data)
                continue
            }
            // In two pieces, as writers with small buffers do.
            for piece in [data.prefix(data.count / 3), data.dropFirst(data.count / 3)] {
                file += TestPNG.chunk("fdAT", TestPNG.number(sequence) + piece)
                sequence += 1
            }
        }
        return file + TestPNG.chunk("IEND", [])
    }

    private static let gray = TestPNG.Image(
        width: width, height: height, depth: 8, colorType: 6,
        samples: [Int](repeating: 128, count: width * height * 4))

    /// Returns a GIF of `layers` in red and green; pixels with an alpha of 0 have a third index.
    static func gif(_ layers: [Layer]) -> [UInt8] {
        TestGIF(width: width, height: height, repetitions: 0).file(
            layers.map { layer in
                TestGIF.Frame(
                    left: layer.left, top: layer.top, width: layer.width, height: layer.height,
                    indices: stride(from: 0, to: layer.pixels.count, by: 4).map { offset in
                        layer.pixels[offset + 3] == 0 ? 2 : layer.pixels[offset] > 127 ? 0 : 1
                    },
                    transparentIndex: layer.isOver ? 2 : nil, disposal: layer.disposal.rawValue + 1, delay: 10)
            })
    }

    /// Returns the layers as they are shown by a GIF.
    static func gifLayers(_ layers: [Layer]) -> [Layer] {
        layers.map { layer in
            var layer = layer
            for offset in stride(from: 0, to: layer.pixels.count, by: 4) {
                // Where nothing is transparent, the third index is a color outside of the palette.
                let color: [UInt8] =
                    layer.pixels[offset + 3] == 0
                    ? [0, 0, 0, layer.isOver ? 0 : 255]
                    : layer.pixels[offset] > 127 ? [255, 0, 0, 255] : [0, 255, 0, 255]
                layer.pixels.replaceSubrange(offset..<offset + 4, with: color)
            }
            return layer
        }
    }

    /// Returns a WebP of `layers`, each shown for a tenth of a second; nothing is restored.
    static func webp(
        _ layers: [Layer], runs: Int = 2, exif: [UInt8]? = nil, profile: [UInt8]? = nil
    ) throws -> [UInt8] {
        func number(_ value: Int, bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
            Array(name.utf8) + number(data.count, bytes: 4) + data + (data.count % 2 == 1 ? [0] : [])
        }
        var body = chunk(
            "VP8X",
            [0x12 | (exif == nil ? 0 : 8) | (profile == nil ? 0 : 0x20), 0, 0, 0] + number(width - 1, bytes: 3)
                + number(height - 1, bytes: 3))
        if let profile { body += chunk("ICCP", profile) }
        body += chunk("ANIM", [255, 255, 255, 255] + number(runs, bytes: 2))
        for layer in layers {
            let size = PixelSize(width: layer.width, height: layer.height)
            let still = try PixelBuffer(size: size, bytes: layer.pixels).unwrapped().encoded(as: .webp, quality: 90)
            // Without the RIFF header, and without VP8X if there is one.
            let image = still.dropFirst(still[12...].starts(with: Array("VP8X".utf8)) ? 30 : 12)
            let place = [layer.left / 2, layer.top / 2, layer.width - 1, layer.height - 1, 100]
            let flags: UInt8 = (layer.disposal == .background ? 1 : 0) | (layer.isOver ? 0 : 2)
            body += chunk("ANMF", place.flatMap { number($0, bytes: 3) } + [flags] + image)
        }
        if let exif { body += chunk("EXIF", exif) }
        return Array("RIFF".utf8) + number(body.count + 4, bytes: 4) + Array("WEBP".utf8) + body
    }

    /// Returns a file of `count` random frames in `format`.
    static func file(_ format: ImageFormat, count: Int = 5, seed: UInt64 = 1) throws -> [UInt8] {
        let layers = layers(count, seed: seed, alphas: [0, 90, 255])
        return switch format {
        case .gif: gif(layers)
        case .png: apng(layers)
        default: try webp(layers)
        }
    }
}
