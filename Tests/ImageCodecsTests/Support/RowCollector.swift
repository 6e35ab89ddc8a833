import ImageTestSupport

@testable import ImageCodecs

/// Keeps all rows that a decoder delivers.
final class RowCollector: RowSink {
    private(set) var bytes: [UInt8] = []
    private(set) var rowCount = 0

    func append(row: Span<UInt8>) {
        rowCount += 1
        row.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }
}

/// The result of a row decoder for a file.
struct DecodedRows: Equatable {
    var header: ImageHeader
    var size: PixelSize
    var bytes: [UInt8]
    var frameCount: Int?
    var trailingOrientation: ImageOrientation?
}

/// Returns the descriptor of a format; `nil` for JPEG, whose rows are compared in the tests of its decoder.
func descriptor(_ format: ImageFormat) -> (any FormatDescriptor)? {
    format == .jpeg ? nil : FormatTable.builtIn.descriptors.first { $0.format == format }
}

/// Probes and decodes `file`, appended in pieces of `step` bytes.
func decodeRows(
    _ file: [UInt8], target: PixelSize? = nil, step: Int = .max, limits: DecodeLimits = DecodeLimits()
) throws(CodecError) -> DecodedRows {
    guard let header = try ImageHeader.probe(file.span, limits: limits), let format = descriptor(header.format) else {
        throw .notAnImage(lookingLike: "a prefix")
    }
    let rowSize = try format.rowSize(of: header, for: target ?? header.size)
    let decoder = try format.rowDecoder(for: header, rowSize: rowSize, limits: limits, toleratesDamage: false)
    let rows = RowCollector()
    var offset = 0
    while offset < file.count {
        let end = offset + min(step, file.count - offset)
        try decoder.append(file.span.extracting(offset..<end), to: rows)
        offset = end
    }
    try decoder.finish(to: rows)
    guard rows.rowCount == rowSize.height, rows.bytes.count == rowSize.area * 4 else {
        throw .corrupt(header.format, "\(rows.rowCount) rows instead of \(rowSize.height)")
    }
    return DecodedRows(
        header: header, size: rowSize, bytes: rows.bytes, frameCount: decoder.frameCount,
        trailingOrientation: decoder.trailingOrientation)
}
