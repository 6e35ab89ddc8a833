import Benchmark
@testable import ImageCodecs

/// A row sink that discards rows.
final class RowDrain: RowSink {
    private(set) var count = 0

    func append(row: Span<UInt8>) {
        blackHole(row[0])
        count += 1
    }
}
