import AsyncWebImage
import ImageCodecs
import ImageEncoders

#if AVIF
import ImageFormatAVIF
#endif
#if TIFF
import ImageFormatTIFF
#endif

/// The formats of this build of the command that are not built into the library.
enum CommandFormats {
    /// The formats that are read in addition.
    static let custom: [any CustomFormat] = {
        var formats: [any CustomFormat] = []
        #if AVIF
        formats.append(AVIFFormat())
        #endif
        #if TIFF
        formats.append(TIFFFormat())
        #endif
        return formats
    }()

    /// The formats that a build can contain, by their names.
    static let optional = ["AVIF", "TIFF"]

    /// Returns what to do about an image in a format of this name, which this build lacks; `nil` if nothing can be done.
    static func remedy(forMissing name: String) -> String? {
        guard optional.contains(name), !custom.contains(where: { $0.format.name == name }) else { return nil }
        return "this command was built without \(name): build it with make install FORMATS=\(name.lowercased())"
    }
}
