/// The check of one file of one format.
protocol FileVerifier: AnyObject {
    /// Checks the next bytes of the file, of any number, from the first one on.
    ///
    /// Bytes behind the end of the image are ignored.
    func append(_ bytes: Span<UInt8>) throws(CodecError)

    /// Ends the file: completes what its header says, the number of frames and an orientation behind the pixels, or throws
    /// the reason why the file is not whole.
    func finish(_ header: inout ImageHeader) throws(CodecError)
}

/// The check of a format of ours.
protocol BuiltInVerifier: FileVerifier {
    /// The maximum number of bytes of memory that the check holds itself; `beginning` is the file up to where its header is
    /// known, or more.
    static func workingBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int

    /// Creates a verifier for a file with this header, whose size is within the limits.
    init(header: ImageHeader, limits: DecodeLimits) throws(CodecError)
}
