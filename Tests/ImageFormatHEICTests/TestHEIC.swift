#if HEIC
import ImageCodecs
import ImageEncoders
import ImageFormatHEIC
import ImageTestSupport

/// HEIC files made by `heif-enc`, and the pixels that `heif-convert` decodes.
enum TestHEIC {
    static var isAvailable: Bool { ReferenceDecoder.has("heif-enc") && ReferenceDecoder.has("heif-convert") }

    static func file(_ image: PixelBuffer, _ options: String = "-q 80") throws -> [UInt8] {
        try file(image.encoded(as: .png), options)
    }

    /// Returns the file that `heif-enc` makes of a PNG or JPEG file.
    static func file(
        _ image: [UInt8], _ options: String = "-q 80", from suffix: String = "png"
    ) throws -> [UInt8] {
        try ReferenceDecoder.convert([image], with: "heif-enc", options, from: suffix, output: "-o", to: "heic")
    }

    static func reference(_ file: [UInt8], isDeep: Bool = false) throws -> PixelBuffer {
        let png = try ReferenceDecoder.convert([file], with: "heif-convert", from: "heic", to: "png")
        return try StreamingDecoder.decode(png.span, options: options(isDeep)).pixels
    }

    static func decode(
        _ file: [UInt8], _ options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws -> DecodedImage {
        try StreamingDecoder.decode(file.span, options: options, limits: limits, customFormats: [HEICFormat()])
    }

    static func options(_ isDeep: Bool) -> DecodeOptions {
        DecodeOptions(ignoresOrientation: true, keepsProfile: true, pixelFormat: isDeep ? .rgba16 : .rgba8)
    }

    /// A property of an image: the name and the content of its box.
    typealias Property = (name: String, content: [UInt8])

    /// Returns a grid of images that have one size, cropped to `size`, as in the files of phones.
    static func grid(
        _ tiles: [PixelBuffer], columns: Int, size: PixelSize, _ further: [Property] = []
    ) throws -> [UInt8] {
        let files = try tiles.map { try file($0) }
        let first = files[0]
        let position = try first.indices.first { first.span.has("hvcC", at: $0) }.unwrapped() - 4
        let configuration = Array(first[position..<position + (first.span.bigEndian32(at: position) ?? 0)])
        let contents = try [gridData(rows: tiles.count / columns, columns: columns, size: size)] + files.map(mediaData)

        // Transformations must be understood.
        let ownProperties =
            [UInt8(1 + further.count), 1] + further.indices.map { (further[$0].name == "colr" ? 4 : 0x84) + UInt8($0) }

        func metadata(from start: Int) -> [UInt8] {
            var places = number(0x4400, 2) + number(contents.count, 2)
            var offset = start
            for (index, content) in contents.enumerated() {
                places += number(index + 1, 2) + number(0, 2) + number(1, 2) + number(offset, 4)
                places += number(content.count, 4)
                offset += content.count
            }
            let entries = contents.indices.flatMap { index -> [UInt8] in
                box(
                    "infe",
                    number(index == 0 ? 0x200_0000 : 0x200_0001, 4) + number(index + 1, 2) + number(0, 2)
                        + Array((index == 0 ? "grid" : "hvc1").utf8) + [0])
            }
            let references = box(
                "dimg",
                number(1, 2) + number(tiles.count, 2)
                    + (2...contents.count).flatMap { index -> [UInt8] in number(index, 2) })
            let properties = box(
                "ipco",
                extent(size) + configuration + extent(tiles[0].size) + further.flatMap { box($0.name, $0.content) })
            let associations = contents.indices.flatMap { index -> [UInt8] in
                number(index + 1, 2) + (index == 0 ? ownProperties : [2, 0x82, 3])
            }
            return box(
                "meta",
                number(0, 4)
                    + box("hdlr", number(0, 8) + Array("pict".utf8) + number(0, 13))
                    + box("pitm", number(0, 4) + number(1, 2))
                    + box("iloc", number(0, 4) + places)
                    + box("iinf", number(0, 4) + number(contents.count, 2) + entries)
                    + box("iref", number(0, 4) + references)
                    + box("iprp", properties + box("ipma", number(0, 4) + number(contents.count, 4) + associations)))
        }
        let beginning = box("ftyp", Array("heic".utf8) + number(0, 4) + Array("mif1heic".utf8))
        let start = beginning.count + metadata(from: 0).count + 8
        return beginning + metadata(from: start) + box("mdat", contents.flatMap(\.self))
    }

    /// Returns a profile that libheif does not look into.
    static func profile(_ bytes: [UInt8]) -> Property { ("colr", Array("prof".utf8) + bytes) }

    /// Returns code points of colors (ITU-T H.273), with the matrix of BT.601 and the full range.
    static func colors(primaries: Int, transfer: Int) -> Property {
        ("colr", Array("nclx".utf8) + number(primaries, 2) + number(transfer, 2) + number(6, 2) + [0x80])
    }

    private static func gridData(rows: Int, columns: Int, size: PixelSize) -> [UInt8] {
        [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + number(size.width, 2) + number(size.height, 2)
    }

    private static func extent(_ size: PixelSize) -> [UInt8] {
        box("ispe", number(0, 4) + number(size.width, 4) + number(size.height, 4))
    }

    /// Returns the content of the last box of a file.
    private static func mediaData(_ file: [UInt8]) throws -> [UInt8] {
        let position = try (0..<file.count).last { file.span.has("mdat", at: $0) }.unwrapped()
        return Array(file[(position + 4)...])
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        number(content.count + 8, 4) + Array(name.utf8) + content
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * $0)) : 0 }
    }
}
#endif
