import AsyncWebImage
import ImageEncoders

/// The formats of files that are written.
struct OutputFormat: RawRepresentable, CaseIterable, Hashable, Sendable {
    static let jpeg = OutputFormat(.jpeg)
    static let png = OutputFormat(.png)
    static let webp = OutputFormat(.webp)
    static let gif = OutputFormat(.gif)
    static let npy = OutputFormat(.npy)
    static let original = OutputFormat(name: "original", imageFormat: nil, missing: nil)

    /// All formats, also those that this build lacks.
    static let allCases =
        EncodeOptions.formats.map { Self($0) } + CommandFormats.optional.compactMap { Self($0) } + [.npy, .original]

    /// The name in arguments, in lowercase.
    let rawValue: String
    /// The format of the files; `nil` for that of the original.
    let imageFormat: ImageFormat?
    /// The name of a format that this build lacks; `nil` for the others.
    let missing: String?

    private init(name: String, imageFormat: ImageFormat?, missing: String?) {
        rawValue = name
        self.imageFormat = imageFormat
        self.missing = missing
    }

    private init(_ format: ImageFormat) {
        self.init(name: format.identifier, imageFormat: format, missing: nil)
    }

    private init?(_ format: OptionalFormat) {
        guard format.isWritten else { return nil }
        let isMissing = format.readers.isEmpty
        self.init(
            name: format.argument, imageFormat: format.readers.first?.format, missing: isMissing ? format.name : nil)
    }

    init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    /// Creates a format from its name, in lowercase or uppercase; `jpg` is `jpeg`, and `jxl` is `jpegxl`.
    init?(argument: String) {
        let name = argument.lowercased()
        self.init(rawValue: ["jpg": "jpeg", "jxl": "jpegxl"][name] ?? name)
    }

    /// Creates the format that files with this extension have; returns `nil` if none can be written.
    init?(fileExtension: String) {
        let name = fileExtension.lowercased()
        guard !["original", "jpegxl"].contains(name) else { return nil }
        self.init(rawValue: ["jpg": "jpeg", "jpe": "jpeg", "jfif": "jpeg", "jxl": "jpegxl"][name] ?? name)
    }

    /// A Boolean value that indicates whether files can be encoded with a quality.
    var hasQuality: Bool { self == .jpeg || canBeLossless }

    /// A Boolean value that indicates whether files can be encoded either with a quality or lossless.
    var canBeLossless: Bool { self == .webp || imageFormat.flatMap(CommandFormats.encoding(of:)) != nil }

    /// The way to get a format that this build lacks; `nil` for the others.
    var remedy: String? { missing.flatMap(CommandFormats.remedy(forMissing:)) }
}
