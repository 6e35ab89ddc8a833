/// A compressed image format: one of the four that this library reads and writes, or another, read by a ``CustomFormat``.
public struct ImageFormat: Sendable, Hashable {
    /// Which of the four it is; nil of others.
    let builtIn: BuiltInFormat?
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
        builtIn = nil
        self.name = name
        self.mediaType = mediaType
        self.fileExtension = fileExtension
    }

    private init(_ builtIn: BuiltInFormat, name: String, mediaType: String, fileExtension: String) {
        self.builtIn = builtIn
        self.name = name
        self.mediaType = mediaType
        self.fileExtension = fileExtension
    }

    /// JPEG, baseline and progressive (ITU-T T.81).
    public static let jpeg = ImageFormat(.jpeg, name: "JPEG", mediaType: "image/jpeg", fileExtension: "jpg")
    /// PNG (W3C PNG, third edition).
    public static let png = ImageFormat(.png, name: "PNG", mediaType: "image/png", fileExtension: "png")
    /// WebP, lossy and lossless (RFC 9649).
    public static let webp = ImageFormat(.webp, name: "WebP", mediaType: "image/webp", fileExtension: "webp")
    /// GIF87a and GIF89a.
    public static let gif = ImageFormat(.gif, name: "GIF", mediaType: "image/gif", fileExtension: "gif")

    /// The formats that this library reads and writes.
    public static let allBuiltIn: [ImageFormat] = [.jpeg, .png, .webp, .gif]

    /// The name in lower case, for logs and JSON: `jpeg`, `png`, `webp`, `gif`.
    public var identifier: String { name.lowercased() }

    /// How many leading bytes decide whether a file has one of the four formats.
    public static let signatureLength = 12

    /// The format that `bytes`, the beginning of a file, announce by their signature, or nil if it is none of the four.
    public init?(signature bytes: Span<UInt8>) {
        guard let format = BuiltInFormat(signature: bytes)?.format else { return nil }
        self = format
    }
}

extension ImageFormat: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
