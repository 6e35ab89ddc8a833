/// A verifier of one file of one format.
protocol FileVerifier: AnyObject {
    /// Checks the next bytes of the file, in pieces of any size, starting with the first byte.
    ///
    /// Bytes after the end of the image are ignored.
    func append(_ bytes: Span<UInt8>) throws(CodecError)

    /// Ends the file. Completes the header with the number of frames, an orientation found after the pixels, and the
    /// warnings, or throws the reason why the file is incomplete.
    func finish(_ header: inout ImageHeader) throws(CodecError)
}

/// A verifier of files in a built-in format.
protocol BuiltInVerifier: FileVerifier {
    /// Returns the maximum memory that the verifier holds, in bytes. `beginning` is the file at least up to where its
    /// header is known.
    static func workingBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int

    /// Creates a verifier for a file with this header, whose size is within the limits.
    init(header: ImageHeader, limits: DecodeLimits) throws(CodecError)
}
