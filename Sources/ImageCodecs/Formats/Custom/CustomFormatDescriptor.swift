/// The adapter that makes a ``CustomFormat`` an entry of the ``FormatTable`` and enforces its contract.
struct CustomFormatDescriptor: FormatDescriptor {
    let custom: any CustomFormat

    init(_ custom: any CustomFormat) {
        self.custom = custom
    }

    var format: ImageFormat { custom.format }

    var signatureLength: Int { custom.usableSignatureLength }

    func recognizes(_ beginning: Span<UInt8>) -> Bool { custom.claims(beginning) }

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        try custom.checkedHeader(of: beginning, limits: limits, colors: &colors)
    }

    func rowSize(of header: ImageHeader, for target: PixelSize) throws(CodecError) -> PixelSize {
        let size = custom.rowSize(of: header, for: target)
        var largest = header.size
        if header.proportions != nil {
            largest = PixelSize(width: max(largest.width, target.width), height: max(largest.height, target.height))
        }
        guard (1...largest.width).contains(size.width), (1...largest.height).contains(size.height) else {
            throw .decoderFault(header.format, "rows of \(size) for an image of \(header.size)")
        }
        return size
    }

    func rowScale(of header: ImageHeader, rowSize: PixelSize) -> Double? { nil }

    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        max(0, custom.workingBytes(of: header, rowSize: rowSize))
    }

    func rowDecoder(
        for header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) -> any RowDecoder {
        CheckedRowDecoder(try custom.decoder(for: header, rowSize: rowSize), of: format, rowSize: rowSize)
    }

    var needsWholeFile: Bool { custom is any WholeFileFormat }

    var takesLong: Bool { (custom as? any WholeFileFormat)?.takesLong == true }

    var animation: (any AnimationParser.Type)? { CustomAnimationParser.self }

    func frameDecoder(for index: AnimationIndex) throws(CodecError) -> (any FrameDecoder)? {
        guard let format = custom as? any WholeFileFormat,
            let animation = try format.animation(of: index.preamble, header: index.header)
        else { return nil }
        return WholeFileFrameDecoder(animation, header: index.header)
    }

    func readMetadata(of file: Span<UInt8>, into metadata: inout ImageMetadata) {
        let read = custom.metadata(of: file)
        func usable(_ part: [UInt8]?) -> [UInt8]? { part.flatMap { $0.count <= ImageMetadata.maximumBytes ? $0 : nil } }
        metadata.colorProfile = usable(read.colorProfile)
        metadata.exif = usable(read.exif)
    }

    func verifierBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int {
        let bytes = workingBytes(of: header, rowSize: header.size)
        // The parser, the frame decoder, and its library have a copy of the file each.
        guard needsWholeFile, header.mayBeAnimated else { return bytes }
        let (sum, overflow) = bytes.addingReportingOverflow(3 * beginning.count)
        return overflow ? .max : sum
    }

    func verifier(for header: ImageHeader, limits: DecodeLimits) throws(CodecError) -> any FileVerifier {
        guard !header.mayBeAnimated else { return CustomAnimationVerifier(header, self, limits: limits) }
        return RowVerifier(
            try rowDecoder(for: header, rowSize: header.size, limits: limits, toleratesDamage: false),
            rowCount: header.size.height)
    }
}
