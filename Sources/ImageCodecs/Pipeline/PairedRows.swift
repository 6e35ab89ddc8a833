/// A destination that passes rows of pixels to two others with the same requirements.
final class PairedRows: RowSink {
    private let first: any RowSink
    private let second: any RowSink

    let acceptsCMYK: Bool
    let accepts16BitRows: Bool

    init(_ first: any RowSink, _ second: any RowSink) {
        (self.first, self.second) = (first, second)
        (acceptsCMYK, accepts16BitRows) = (first.acceptsCMYK, first.accepts16BitRows)
    }

    func append(row: Span<UInt8>) {
        first.append(row: row)
        second.append(row: row)
    }
}
