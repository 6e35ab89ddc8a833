final class WebPRowDecoder: RowDecoder {
    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { 0 }
    init(header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits) throws(CodecError) {
        throw .unsupportedFeature(.webp, "WebP")
    }
    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {}
    func finish(to rows: any RowSink) throws(CodecError) {}
}
