/// A destination for the rows of an image from a ``CustomRowDecoder``, from the top, one at a time.
public struct ImageRows: ~Copyable {
    private let sink: any RowSink
    private let format: ImageFormat
    private let size: PixelSize
    /// The number of rows received.
    private(set) var count: Int
    /// The reason why no more rows are accepted.
    private(set) var failure: CodecError?
    /// A row of 16-bit samples in the sink's format.
    private var samples: [UInt8] = []

    /// Creates a destination for the rows of an image of `size`, of which the first `count` have already been received.
    init(of format: ImageFormat, size: PixelSize, count: Int, to sink: any RowSink) {
        self.format = format
        self.size = size
        self.count = count
        self.sink = sink
    }

    /// Appends the next row: red, green, blue, and straight alpha of each pixel, 8 bits each.
    ///
    /// Throws `decoderFault` for a row of the wrong width and for too many rows, and `cancelled` if the task has been
    /// canceled; the decode then fails.
    public mutating func append(_ row: Span<UInt8>) throws(CodecError) {
        try admit(row.count)
        sink.append(row: row)
    }

    /// Appends the next row with 16 bits per channel, which ``PixelFormat/rgba16`` keeps and other formats round to 8
    /// bits.
    ///
    /// Rows of both kinds can be mixed. Throws the errors of ``append(_:)-(Span<UInt8>)``.
    public mutating func append(_ row: Span<UInt16>) throws(CodecError) {
        try admit(row.count)
        samples.removeAll(keepingCapacity: true)
        if sink.accepts16BitRows {
            for index in row.indices {
                let sample = row[index].littleEndian  // `Span.sample(at:)` reads them again
                samples.append(UInt8(truncatingIfNeeded: sample))
                samples.append(UInt8(truncatingIfNeeded: sample >> 8))
            }
        } else {
            for index in row.indices { samples.append(row[index].roundedToByte) }
        }
        let row = samples
        sink.append(row: row.span)
    }

    /// Counts a row of this number of samples, or throws an error if it is not allowed.
    private mutating func admit(_ samples: Int) throws(CodecError) {
        if failure == nil, Task.isCancelled { failure = .cancelled(format) }
        if let failure { throw failure }
        let detail =
            if samples != size.width * 4 {
                "a row of \(samples) samples instead of \(size.width * 4)"
            } else if count >= size.height {
                "more than \(size.height) rows"
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
