import AsyncWebImage
import ImageCodecs
import ImageEncoders

#if AVIF
import ImageFormatAVIF
#endif
#if HEIC
import ImageFormatHEIC
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
    /// The value of `FORMATS` that adds the format, and of `--format` that selects it; the extension of its files.
    let argument: String
    /// A Boolean value that indicates whether files of the format are written if it is built in.
    let isWritten: Bool
    /// The format that is read; `nil` if it is not built in.
    var reader: (any CustomFormat)?
    /// The encoding of files; `nil` if the format is not built in, or not written.
    var encoding: Encoding?
}

/// The formats of this build of the command that are not built into the library.
enum CommandFormats {
    /// The formats that a build can contain.
    static let optional = [avif, heic, tiff, svg]

    private static var avif: OptionalFormat {
        var format = OptionalFormat(name: "AVIF", argument: "avif", isWritten: true)
        #if AVIF
        format.reader = AVIFFormat()
        format.encoding = { .avif(AVIFEncoder(quality: $0 ?? AVIFEncoder().quality, isLossless: $1)) }
        #endif
        return format
    }

    private static var heic: OptionalFormat {
        var format = OptionalFormat(name: "HEIC", argument: "heic", isWritten: false)
        #if HEIC
        format.reader = HEICFormat()
        #endif
        return format
    }

    private static var tiff: OptionalFormat {
        var format = OptionalFormat(name: "TIFF", argument: "tiff", isWritten: false)
        #if TIFF
        format.reader = TIFFFormat()
        #endif
        return format
    }

    private static var svg: OptionalFormat {
        var format = OptionalFormat(name: "SVG", argument: "svg", isWritten: false)
        #if SVG
        format.reader = SVGFormat()
        #endif
        return format
    }

    /// The formats that are read in addition.
    static let custom: [any CustomFormat] = optional.compactMap(\.reader)

    /// Returns the encoding of files in `format`; `nil` if it is not one of these formats.
    static func encoding(of format: ImageFormat) -> OptionalFormat.Encoding? {
        optional.first { $0.reader?.format == format }?.encoding
    }

    /// Returns what to do about an image in a format of this name, which this build lacks; `nil` if nothing can be done.
    static func remedy(forMissing name: String) -> String? {
        guard let format = optional.first(where: { $0.name == name }), format.reader == nil else { return nil }
        return "this command was built without \(name): build it with make install FORMATS=\(format.argument)"
    }
}
