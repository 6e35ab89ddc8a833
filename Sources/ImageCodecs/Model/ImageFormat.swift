/// A compressed image format: one of the built-in formats, or another one read by a ``CustomFormat``.
public struct ImageFormat: Sendable, Hashable {
    /// A Boolean value that indicates whether it is a built-in format, which no other equals regardless of its name.
    private let isBuiltIn: Bool
    /// The common name: JPEG, PNG, WebP, GIF, BMP, ICO.
    public let name: String
    /// The media type registered for the format, such as `image/jpeg`.
    public let mediaType: String
    /// The usual file name extension, without the dot.
    public let fileExtension: String

    /// Creates a format that is not built in, for the ``CustomFormat`` that reads it.
    ///
    /// It differs from the built-in formats regardless of its name.
    public init(name: String, mediaType: String, fileExtension: String) {
        isBuiltIn = false
        self.name = name
        self.mediaType = mediaType
        self.fileExtension = fileExtension
    }

    /// Creates a built-in format.
    init(builtIn name: String, mediaType: String, fileExtension: String) {
        isBuiltIn = true
        self.name = name
        self.mediaType = mediaType
        self.fileExtension = fileExtension
    }

    /// The name in lower case without spaces, for logs and JSON: `jpeg`, `png`, `webp`, `gif`, `bmp`, `ico`.
    public var identifier: String { name.lowercased().filter { $0 != " " } }

    /// The number of leading bytes that decide whether a file has a built-in format, unless it begins with the letters of
    /// BMP.
    static let signatureLength = 12
}

extension ImageFormat: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
