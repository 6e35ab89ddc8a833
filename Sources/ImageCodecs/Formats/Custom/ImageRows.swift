/// Takes the rows of an image from a ``CustomRowDecoder``, from the top, one at a time.
public struct ImageRows: ~Copyable {
    private let sink: any RowSink
    private let format: ImageFormat
    private let size: PixelSize
    /// How many have come.
    private(set) var count: Int
    /// Why no more are taken.
    private(set) var failure: CodecError?
    /// A row of samples of 16 bits, as the sink takes it.
    private var samples: [UInt8] = []

    /// For an image with rows of `size`, of which `count` have come already.
    init(of format: ImageFormat, size: PixelSize, count: Int, to sink: any RowSink) {
        self.format = format
        self.size = size
        self.count = count
        self.sink = sink
    }

    /// The next row: red, green, blue and straight alpha of each pixel.
    ///
    /// Throws `decoderFault` for a row of another width than the decoder was made for, and for more rows; the decode is over
    /// then.
    public mutating func append(_ row: Span<UInt8>) throws(CodecError) {
        try admit(row.count)
        sink.append(row: row)
    }

    /// The next row with 16 bits a channel, which ``PixelFormat/rgba16`` keeps and others round to the nearest of 8.
    ///
    /// Rows of both kinds may follow each other. Throws what ``append(_:)-(Span<UInt8>)`` throws.
    public mutating func append(_ row: Span<UInt16>) throws(CodecError) {
        try admit(row.count)
        samples.removeAll(keepingCapacity: true)
        if sink.takesDeepRows {
            for index in row.indices {
                let sample = row[index].littleEndian  // `Span.sample(at:)` reads them again
                samples.append(UInt8(truncatingIfNeeded: sample))
                samples.append(UInt8(truncatingIfNeeded: sample >> 8))
            }
        } else {
            for index in row.indices { samples.append(UInt8((Int(row[index]) * 255 + 32_767) / 65_535)) }
        }
        let row = samples
        sink.append(row: row.span)
    }

    /// Counts a row, if there may be one more of so many samples.
    private mutating func admit(_ samples: Int) throws(CodecError) {
        if let failure { throw failure }
        let detail =
            if samples != size.width * 4 {
                "a row of \(samples) samples, where \(size.width) pixels have \(size.width * 4)"
            } else if count >= size.height {
                "more than the \(size.height) rows that there are"
            } else {
                ""
            }
        guard detail.isEmpty else {
            let fault = CodecError.decoderFault(format, detail)
            failure = fault
            throw fault
        }
        count += 1
    }
}

@available(*, unavailable)
extension ImageRows: Sendable {}
