/// Decodes one image while its bytes arrive.
///
/// Append the file from its first byte in pieces of any size. When ``plan`` appears the header is known; nothing has
/// been allocated for pixels yet, so the caller may first find room for `plan.estimatedBytes`, then calls ``begin()``.
/// Not `Sendable`: one decoder belongs to one task.
public final class StreamingDecoder {
    /// The header, as soon as enough of the file has come.
    public private(set) var header: ImageHeader?
    /// What the decode will do and cost, known together with ``header``.
    public private(set) var plan: DecodePlan?

    /// A decoder that has seen nothing yet.
    public init(options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()) {
    }

    /// Takes the next bytes of the file. Before ``begin()`` they are only kept, and looked through for the header.
    public func append(_ bytes: Span<UInt8>) throws(CodecError) {
    }

    /// Allocates what ``plan`` announced and decodes what has come. To be called once, after ``plan`` has appeared.
    public func begin() throws(CodecError) {
    }

    /// Grows whenever ``preview()`` would show more than before; 0 while there is nothing to show.
    public var previewVersion: Int { 0 }

    /// The image as far as it has come, or nil while there is nothing to show.
    public func preview() throws(CodecError) -> ImagePreview? {
        nil
    }

    /// The file is at its end: the finished image, or why there is none (`truncated`, if bytes are missing).
    ///
    /// Calls ``begin()`` if nobody has.
    public func finish() throws(CodecError) -> DecodedImage {
        throw .unsupportedFormat(lookingLike: "nothing")
    }

    /// Decodes a whole file.
    public static func decode(
        _ bytes: Span<UInt8>, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> DecodedImage {
        let decoder = StreamingDecoder(options: options, limits: limits)
        try decoder.append(bytes)
        return try decoder.finish()
    }
}

@available(*, unavailable)
extension StreamingDecoder: Sendable {}
