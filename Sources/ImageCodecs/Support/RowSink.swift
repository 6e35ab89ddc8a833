/// A destination for the rows of an image, from the top, one at a time.
protocol RowSink: AnyObject {
    /// A Boolean value that indicates whether CMYK rows are passed as stored in the JPEG, inverted, instead of RGBA.
    var acceptsCMYK: Bool { get }

    /// A Boolean value that indicates whether rows can have 16 bits per channel, in the byte order of the machine.
    var accepts16BitRows: Bool { get }

    /// The destination for rows as planes, which must be used instead of this one; `nil` if only pixels are accepted.
    var planes: (any PlaneSink)? { get }

    /// Takes the next row: RGBA with 8 or 16 bits per channel and straight alpha. The span is valid only during the
    /// call.
    func append(row: Span<UInt8>)
}

extension RowSink {
    var acceptsCMYK: Bool { false }
    var accepts16BitRows: Bool { false }
    var planes: (any PlaneSink)? { nil }
}
