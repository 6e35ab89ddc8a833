/// What this library knows of one image format: an entry of the ``FormatTable``.
///
/// The formats of the library are entries like those that are made of a ``CustomFormat``. How files are written is known
/// to the `ImageEncoders` module alone, so that programs that only read link no encoder.
protocol FormatDescriptor: Sendable {
    /// The name of the format.
    var format: ImageFormat { get }

    /// How many leading bytes decide whether a file has the format.
    var signatureLength: Int { get }

    /// Returns whether a file with this beginning has the format.
    func recognizes(_ beginning: Span<UInt8>) -> Bool

    /// Returns whether a file of no more than these bytes, too few for a header, may be the beginning of one of this format.
    func mayHaveBegun(_ beginning: Span<UInt8>) -> Bool

    /// The header of a file that begins with these bytes; nil while more are needed.
    ///
    /// Sets `colors` to what the file says of its colors, what counts most first. Limits of pixels have been checked when
    /// it returns.
    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader?

    /// See ``BuiltInRowDecoder/rowSize(of:for:)``.
    func rowSize(of header: ImageHeader, for target: PixelSize) throws(CodecError) -> PixelSize

    /// See ``BuiltInRowDecoder/workingBytes(of:rowSize:)``.
    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int

    /// Creates a decoder for a file with this header; with `toleratesDamage` it goes on behind damaged data if it can.
    func rowDecoder(
        for header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) -> any RowDecoder

    /// The maximum number of bytes of memory that ``verifier(for:limits:)`` holds; `Int.max` if that is beyond counting.
    func verifierBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int

    /// Creates a verifier for a file with this header.
    func verifier(for header: ImageHeader, limits: DecodeLimits) throws(CodecError) -> any FileVerifier

    /// Counts the frames of files whose header does not say how many there are; nil if every header does.
    func frameCounter() -> (any FrameCounter)?

    /// What finds the frames of animations; nil if the format has none.
    var animation: (any AnimationWalk.Type)? { get }

    /// Adds the color profile and the Exif data of `file`, as much of a file as there is, to `metadata`.
    func readMetadata(of file: Span<UInt8>, into metadata: inout ImageMetadata)
}

extension FormatDescriptor {
    func mayHaveBegun(_ beginning: Span<UInt8>) -> Bool { recognizes(beginning) }
    func frameCounter() -> (any FrameCounter)? { nil }
    var animation: (any AnimationWalk.Type)? { nil }
    func readMetadata(of file: Span<UInt8>, into metadata: inout ImageMetadata) {}
}

/// Counts the frames of a file that is appended from its first byte.
protocol FrameCounter {
    /// Passes over the next bytes.
    mutating func append(_ bytes: Span<UInt8>)
    /// The number of frames; nil before the end of the file.
    var count: Int? { get }
}
