/// Takes the rows of an image, from the top, one at a time.
protocol RowSink: AnyObject {
    /// A Boolean value that indicates whether rows of four inks are to come as a JPEG has them, inverted, and not as RGBA.
    var takesInks: Bool { get }

    /// A Boolean value that indicates whether rows of 16 bits a channel may come, in the byte order of the machine.
    var takesDeepRows: Bool { get }

    /// The next row: RGBA, 8 bits a channel or 16, straight alpha. The span is good for the call only.
    func append(row: Span<UInt8>)
}

extension RowSink {
    var takesInks: Bool { false }
    var takesDeepRows: Bool { false }
}
