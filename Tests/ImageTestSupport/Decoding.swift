package import ImageCodecs

/// Decodes `file` in one go.
package func decode(
    _ file: [UInt8], options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
) throws(CodecError) -> DecodedImage {
    try StreamingDecoder.decode(file.span, options: options, limits: limits)
}

/// Appends `file`, or a part of it, to `decoder`.
package func append(_ file: [UInt8], _ range: Range<Int>? = nil, to decoder: StreamingDecoder) throws(CodecError) {
    try decoder.append(file.span.extracting(range ?? file.indices))
}

/// The header of `file`.
package func probe(_ file: [UInt8]) throws(CodecError) -> ImageHeader? {
    try ImageHeader.probe(file.span)
}

/// Decodes `file` appended in pieces whose sizes `nextPiece` gives.
package func decode(
    _ file: [UInt8], options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
    pieces nextPiece: () -> Int
) throws(CodecError) -> DecodedImage {
    let decoder = StreamingDecoder(options: options, limits: limits)
    var offset = 0
    while offset < file.count {
        let end = min(file.count, offset + max(1, nextPiece()))
        try decoder.append(file.span.extracting(offset..<end))
        if decoder.plan != nil { try decoder.begin() }
        offset = end
    }
    return try decoder.finish()
}
