import AsyncWebImage
import ImageCodecs
import ImageEncoders

#if AVIF
import ImageFormatAVIF
#endif

/// The formats of this build of the command that are not built into the library.
enum CommandFormats {
    /// The formats that are read in addition.
    static let custom: [any CustomFormat] = {
        #if AVIF
        [AVIFFormat()]
        #else
        []
        #endif
    }()

    /// The names of the formats that a build can contain.
    static let optional = ["AVIF"]

    /// Returns what to do about an image in a format of this name, which this build lacks; `nil` if nothing can be done.
    static func remedy(forMissing name: String) -> String? {
        guard optional.contains(name), !custom.contains(where: { $0.format.name == name }) else { return nil }
        return "this command was built without \(name): build it with make install FORMATS=\(name.lowercased())"
    }
}
