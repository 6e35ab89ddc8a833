/// A compressed image format: one of the four that this library reads and writes, or another, read by a ``CustomFormat``.
public struct ImageFormat: Sendable, Hashable {
    /// A Boolean value that indicates whether it is one of the four, which no other equals whatever it is called.
    private let isBuiltIn: Bool
    /// What people call it: JPEG, PNG, WebP, GIF.
    public let name: String
    /// The media type registered for the format, such as `image/jpeg`.
    public let mediaType: String
    /// The usual file name extension, without the dot.
    public let fileExtension: String

    /// Another format, for the ``CustomFormat`` that reads it.
    ///
    /// It differs from the four whatever it is called.
    public init(name: String, mediaType: String, fileExtension: String) {
        isBuiltIn = false
        self.name = name
        self.mediaType = mediaType
        self.fileExtension = fileExtension
    }

    /// A format of this library.
    init(builtIn name: String, mediaType: String, fileExtension: String) {
        isBuiltIn = true
        self.name = name
        self.mediaType = mediaType
        self.fileExtension = fileExtension
    }

    /// The name in lower case, for logs and JSON: `jpeg`, `png`, `webp`, `gif`.
    public var identifier: String { name.lowercased() }

    /// How many leading bytes decide whether a file has one of the four formats.
    public static let signatureLength = 12
}

extension ImageFormat: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
