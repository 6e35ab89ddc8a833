/// The description of an image format: an entry of the ``FormatTable``.
///
/// Built-in formats and adapted ``CustomFormat`` values are described alike. Writing files is implemented only in the
/// `ImageEncoders` module, so that programs that only read images link no encoder.
protocol FormatDescriptor: Sendable {
    /// The name of the format.
    var format: ImageFormat { get }

    /// The number of leading bytes that decide whether a file has the format.
    var signatureLength: Int { get }

    /// Returns whether a file that begins with these bytes has the format.
    func recognizes(_ beginning: Span<UInt8>) -> Bool

    /// Returns whether a longer file that begins with these bytes, which are not recognized, can be recognized.
    func canRecognize(continuationOf beginning: Span<UInt8>) -> Bool

    /// Returns whether a file of only these bytes, too few for a header, can be the beginning of a file of this
    /// format.
    func canBePrefix(_ beginning: Span<UInt8>) -> Bool

    /// Returns the header of a file that begins with these bytes, or `nil` while more are needed.
    ///
    /// Sets `colors` to the color declarations of the file, in order of precedence. The limits on pixels have been
    /// checked when this method returns.
    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader?

    /// See ``BuiltInRowDecoder/rowSize(of:for:)``.
    func rowSize(of header: ImageHeader, for target: PixelSize) throws(CodecError) -> PixelSize

    /// See ``BuiltInRowDecoder/rowScale(of:rowSize:)``.
    func rowScale(of header: ImageHeader, rowSize: PixelSize) -> Double?

    /// See ``BuiltInRowDecoder/workingBytes(of:rowSize:)``.
    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int

    /// See ``BuiltInRowDecoder/planarWorkingBytes(of:)``.
    func planarWorkingBytes(of header: ImageHeader) -> Int?

    /// Creates a decoder for a file with this header. With `toleratesDamage`, it continues after damaged data if it
    /// can.
    func rowDecoder(
        for header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) -> any RowDecoder

    /// Returns the maximum memory that ``verifier(for:limits:)`` holds, in bytes; `Int.max` on overflow.
    func verifierBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int

    /// Creates a verifier for a file with this header.
    func verifier(for header: ImageHeader, limits: DecodeLimits) throws(CodecError) -> any FileVerifier

    /// A Boolean value that indicates whether the header and the decoder need the complete file, which is then appended
    /// in one call.
    var needsWholeFile: Bool { get }

    /// See ``WholeFileFormat/takesLong``.
    var takesLong: Bool { get }

    /// Creates a decoder of the frames of an animation; `nil` if each is decoded as a still image.
    func frameDecoder(for index: AnimationIndex) throws(CodecError) -> (any FrameDecoder)?

    /// Returns a counter of frames for files whose header does not declare their number; `nil` if every header does.
    func frameCounter() -> (any FrameCounter)?

    /// The parser of animations; `nil` if the format has none.
    var animation: (any AnimationParser.Type)? { get }

    /// Adds the color profile and the Exif data of `file`, which can be incomplete, to `metadata`.
    func readMetadata(of file: Span<UInt8>, into metadata: inout ImageMetadata)
}

extension FormatDescriptor {
    func canRecognize(continuationOf beginning: Span<UInt8>) -> Bool { beginning.count < signatureLength }
    func canBePrefix(_ beginning: Span<UInt8>) -> Bool { recognizes(beginning) }
    func planarWorkingBytes(of header: ImageHeader) -> Int? { nil }
    var needsWholeFile: Bool { false }
    var takesLong: Bool { false }
    func frameDecoder(for index: AnimationIndex) throws(CodecError) -> (any FrameDecoder)? { nil }
    func frameCounter() -> (any FrameCounter)? { nil }
    var animation: (any AnimationParser.Type)? { nil }
    func readMetadata(of file: Span<UInt8>, into metadata: inout ImageMetadata) {}
}

/// Counts the frames of a file, appended from its first byte.
protocol FrameCounter {
    /// Parses the next bytes.
    mutating func append(_ bytes: Span<UInt8>)
    /// The number of frames; `nil` before the end of the file.
    var count: Int? { get }
}
