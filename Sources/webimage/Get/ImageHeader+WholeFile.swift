import AsyncWebImage

extension ImageHeader {
    /// The header of a whole file, whose frames are counted too.
    ///
    /// Nothing is decoded.
    init(wholeFile bytes: [UInt8]) throws(CodecError) {
        if let header = try ImageHeader.probe(bytes.span) {
            self = header
        } else {
            // The decoder knows best why there is none.
            self = try StreamingDecoder.decode(bytes.span).header
        }
    }
}
