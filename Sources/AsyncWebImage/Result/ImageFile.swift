public import HTTPSemantics
public import HTTPTransport
public import ImageCodecs
public import ResponseCache

/// An encoded image, made from a response; see ``ImageLoader/file(for:as:)``.
public struct ImageFile: Sendable {
    private let file: EncodedFile
    private let origin: ResponseOrigin

    init(_ file: EncodedFile, origin: ResponseOrigin) {
        (self.file, self.origin) = (file, origin)
    }

    /// The file.
    public var bytes: [UInt8] { file.bytes }
    /// The format of the file, with its media type.
    public var format: ImageFormat { file.format }
    /// The size in pixels; of an animation, that of its frames.
    public var size: PixelSize { file.size }
    /// A Boolean value that indicates whether a part of the image is missing, as the request's options allowed.
    public var isPartial: Bool { file.isPartial }
    /// A strong entity tag of the bytes, including quotes, for the `ETag` of one's own response.
    public var entityTag: String { file.entityTag }

    /// Returns whether a client has the file already, by the value of the `If-None-Match` field of its request (RFC 9110,
    /// section 13.1.2); `nil` for a request without that field.
    ///
    /// Answer such a request with status 304, with ``entityTag`` and without the file.
    public func matches(ifNoneMatch value: String?) -> Bool {
        value.map { IfNoneMatchField($0).matches(entityTag) } ?? false
    }

    /// The status and header fields of the response from which the file was made.
    public var head: ResponseHead { origin.head }
    /// The freshness of the original, which is that of the file as well.
    public var freshness: Freshness { head.freshness() }
    /// The source of the bytes, for this caller: for a file that was made earlier, the response cache in which it was
    /// stored; otherwise, the source of the response from which it was made.
    public var source: ResponseSource { origin.source }
}

/// A file as an encoder has made it.
struct EncodedFile: Sendable {
    let bytes: [UInt8]
    let format: ImageFormat
    let size: PixelSize
    let entityTag: String
    var isPartial = false
    /// The header of the original; `nil` if the file was stored.
    var header: ImageHeader?
}
