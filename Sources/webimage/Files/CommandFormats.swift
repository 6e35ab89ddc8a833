import AsyncWebImage
import ImageCodecs
import ImageEncoders

#if AVIF
import ImageFormatAVIF
#endif
#if HEIC
import ImageFormatHEIC
#endif
#if JPEGXL
import ImageFormatJPEGXL
#endif
#if TIFF
import ImageFormatTIFF
#endif
#if SVG
import ImageFormatSVG
#endif

/// A format that a build of the command can contain in addition to those of the library.
struct OptionalFormat: Sendable {
    /// Returns the options for a file of a quality, by default that of the format, or for a lossless file.
    typealias Encoding = @Sendable (_ quality: Int?, _ isLossless: Bool) -> EncodeOptions

    /// The name of the format.
    let name: String
    /// The value of `FORMATS` that adds the format, and of `--format` that selects it.
    let argument: String
    /// A Boolean value that indicates whether files of the format are written if it is built in.
    let isWritten: Bool
    /// The entries that read the format; none if it is not built in.
    var readers: [any CustomFormat] = []
    /// The encoding of files; `nil` if the format is not built in, or not written.
    var encoding: Encoding?
}

/// The formats of this build of the command that are not built into the library.
enum CommandFormats {
    /// The formats that a build can contain.
    static let optional = [avif, heic, jpegXL, tiff, svg]

    private static var avif: OptionalFormat {
        var format = OptionalFormat(name: "AVIF", argument: "avif", isWritten: true)
        #if AVIF
        format.readers = [AVIFFormat()]
        format.encoding = { .avif(AVIFEncoder(quality: $0 ?? AVIFEncoder().quality, isLossless: $1)) }
        #endif
        return format
    }

    private static var heic: OptionalFormat {
        var format = OptionalFormat(name: "HEIC", argument: "heic", isWritten: false)
        #if HEIC
        format.readers = [HEICFormat()]
        #endif
        return format
    }

    private static var jpegXL: OptionalFormat {
        var format = OptionalFormat(name: "JPEG XL", argument: "jpegxl", isWritten: true)
        #if JPEGXL
        format.readers = [JPEGXLAnimationFormat(), JPEGXLFormat()]
        format.encoding = { .jpegXL(JPEGXLEncoder(quality: $0 ?? JPEGXLEncoder().quality, isLossless: $1)) }
        #endif
        return format
    }

    private static var tiff: OptionalFormat {
        var format = OptionalFormat(name: "TIFF", argument: "tiff", isWritten: false)
        #if TIFF
        format.readers = [TIFFFormat()]
        #endif
        return format
    }

    private static var svg: OptionalFormat {
        var format = OptionalFormat(name: "SVG", argument: "svg", isWritten: false)
        #if SVG
        format.readers = [SVGFormat()]
        #endif
        return format
    }

    /// The formats that are read in addition.
    static let custom: [any CustomFormat] = optional.flatMap(\.readers)

    /// Returns the encoding of files in `format`; `nil` if it is not one of these formats.
    static func encoding(of format: ImageFormat) -> OptionalFormat.Encoding? {
        optional.first { $0.readers.contains { $0.format == format } }?.encoding
    }

    /// Returns what to do about an image in a format of this name, which this build lacks; `nil` if nothing can be done.
    static func remedy(forMissing name: String) -> String? {
        guard let format = optional.first(where: { $0.name == name }), format.readers.isEmpty else { return nil }
        return "this command was built without \(name): build it with make install FORMATS=\(format.argument)"
    }
}
