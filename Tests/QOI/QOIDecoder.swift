import ImageCodecs

/// Decodes the rows of a QOI file while it arrives (qoiformat.org, version 1.0).
struct QOIDecoder: CustomRowDecoder {
    static let headerLength = 14

    private let rowBytes: Int
    private var rowsLeft: Int
    private var row: [UInt8] = []
    private var headerBytesLeft: Int
    /// The bytes of an incomplete operation.
    private var operation: [UInt8] = []
    private var pixel: [UInt8] = [0, 0, 0, 255]
    private var seen = [[UInt8]](repeating: [0, 0, 0, 0], count: 64)

    /// Creates a decoder of a file, or of the first frame of an animation.
    init(_ size: PixelSize, isAnimated: Bool = false) {
        let animationHeader = isAnimated ? QOIAnimation.headerLength + QOIAnimation.frameHeaderLength : 0
        headerBytesLeft = animationHeader + Self.headerLength
        rowBytes = size.width * 4
        rowsLeft = size.height
    }

    mutating func append(_ bytes: Span<UInt8>, to rows: inout ImageRows) throws(CodecError) {
        for index in bytes.indices where rowsLeft > 0 {
            guard headerBytesLeft == 0 else {
                headerBytesLeft -= 1
                continue
            }
            operation.append(bytes[index])
            guard operation.count == Self.length(operation[0]) else { continue }
            let count = perform()
            operation.removeAll(keepingCapacity: true)
            seen[Self.place(pixel)] = pixel
            for _ in 0..<count where rowsLeft > 0 { try put(into: &rows) }
        }
    }

    mutating func finish(to rows: inout ImageRows) throws(CodecError) {
        guard rowsLeft == 0 else { throw .truncated(QOIFormat().format) }
    }

    private mutating func put(into rows: inout ImageRows) throws(CodecError) {
        row += pixel
        guard row.count == rowBytes else { return }
        try rows.append(row.span)
        row.removeAll(keepingCapacity: true)
        rowsLeft -= 1
    }

    /// Applies the operation to the pixel, and returns how many times the pixel occurs.
    private mutating func perform() -> Int {
        let first = operation[0]
        let low = first & 0x3F
        switch (first, first >> 6) {
        case (0xFE, _): pixel.replaceSubrange(0..<3, with: operation[1...])
        case (0xFF, _): pixel = Array(operation[1...])
        case (_, 0): pixel = seen[Int(low)]
        case (_, 1): add(low >> 4 &- 2, low >> 2 & 3 &- 2, low & 3 &- 2)
        case (_, 2):
            let green = low &- 32
            add(green &+ operation[1] >> 4 &- 8, green, green &+ operation[1] & 15 &- 8)
        default: return Int(low) + 1
        }
        return 1
    }

    private mutating func add(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        pixel[0] &+= red
        pixel[1] &+= green
        pixel[2] &+= blue
    }

    /// Returns the number of bytes of an operation that begins with this one.
    private static func length(_ first: UInt8) -> Int {
        first == 0xFF ? 5 : first == 0xFE ? 4 : first >> 6 == 2 ? 2 : 1
    }

    static func place(_ pixel: [UInt8]) -> Int {
        (Int(pixel[0]) * 3 + Int(pixel[1]) * 5 + Int(pixel[2]) * 7 + Int(pixel[3]) * 11) % 64
    }
}
