import AsyncWebImage
import ImageCodecs
import ImageEncoders

extension ImageFormat {
    /// The format of NumPy for arrays, here the pixels of a still image; it is only written.
    static let npy = ImageFormat(name: "NPY", mediaType: "application/octet-stream", fileExtension: "npy")
}

/// Encodes the pixels as arrays of NumPy, without metadata.
struct NPYEncoder: ImageEncoder {
    var format: ImageFormat { .npy }
    var identity: String { "npy" }

    func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int {
        NPYFile.headerSize + size.area * (hasAlpha ? 4 : 3)
    }

    func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) -> [UInt8] { NPYFile.bytes(of: pixels) }
}

/// A file in the format of NumPy, version 1.0, with an array of bytes: height × width × channels.
enum NPYFile {
    /// The number of bytes before the pixels, a multiple of 64 as NumPy writes it.
    static let headerSize = 128
    /// The identification, the version, and the number of bytes in the rest of the header.
    private static let beginning = [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(headerSize - 10), 0]

    /// Returns the file of an image: three channels (red, green, and blue) or, if a pixel is transparent, four, with
    /// straight alpha.
    static func bytes(of pixels: PixelBuffer) -> [UInt8] {
        let pixels = pixels.converted(to: .rgba8)
        let channels = pixels.isOpaque ? 3 : 4
        var file: [UInt8] = []
        file.reserveCapacity(headerSize + pixels.size.area * channels)
        file += header(pixels.size, channels)
        guard channels == 3 else {
            file += pixels.bytes
            return file
        }
        let source = pixels.bytes.span
        for pixel in stride(from: 0, to: source.count, by: 4) {
            file.append(source[pixel])
            file.append(source[pixel + 1])
            file.append(source[pixel + 2])
        }
        return file
    }

    private static func header(_ size: PixelSize, _ channels: Int) -> [UInt8] {
        let shape = "(\(size.height), \(size.width), \(channels))"
        var header = beginning
        header += "{'descr': '|u1', 'fortran_order': False, 'shape': \(shape), }".utf8
        header += repeatElement(UInt8(ascii: " "), count: headerSize - 1 - header.count)
        header.append(UInt8(ascii: "\n"))
        return header
    }
}
