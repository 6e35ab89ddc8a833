import Glibc
public import ImageCodecs

extension PixelBuffer {
    /// Creates the placeholder image of a ThumbHash, as `PixelBuffer.thumbHash()` returns it: at most 32 ×
    /// 32 pixels.
    ///
    /// Returns `nil` if `thumbHash` has fewer bytes than its header requires.
    public init?(thumbHash: [UInt8]) {
        guard let hash = ThumbHash(thumbHash) else { return nil }
        self.init(size: hash.size, bytes: hash.pixels())
    }
}

/// The decoder of ThumbHash.
private struct ThumbHash {
    /// The frequencies of a channel.
    private struct Channel {
        let (columns, rows): (Int, Int)
        var mean: Double
        var scale: Double
        /// The triangle of low frequencies, without the mean.
        var varying: [Double] = []

        /// The columns and rows of the frequencies, in the order in which they are stored.
        var places: [(column: Int, row: Int)] {
            (0..<rows).flatMap { row in
                (0..<columns).filter { column in
                    (column, row) != (0, 0) && column * rows < columns * (rows - row)
                }.map { ($0, row) }
            }
        }

        /// Returns the value at a pixel, for whose position the cosines are given.
        func value(_ horizontal: [Double], _ vertical: [Double]) -> Double {
            var value = mean
            for ((column, row), frequency) in zip(places, varying) {
                value += 2 * frequency * horizontal[column] * vertical[row]
            }
            return value
        }
    }

    let size: PixelSize
    private var lightness: Channel
    private var yellowBlue: Channel
    private var redGreen: Channel
    private var alpha: Channel?

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 5 else { return nil }
        let header = (0..<5).reduce(0) { $0 | Int(bytes[$1]) << ($1 * 8) }
        func part(_ shift: Int, _ most: Int) -> Double { Double(header >> shift & most) }
        let hasAlpha = header >> 23 & 1 == 1
        let isLandscape = header >> 39 & 1 == 1
        let (longer, shorter) = (hasAlpha ? 5 : 7, max(1, header >> 24 & 7))
        let (columns, rows) = isLandscape ? (longer, shorter) : (shorter, longer)
        let ratio = Double(columns) / Double(rows)
        size = PixelSize(
            width: max(1, Int((ratio > 1 ? 32 : 32 * ratio).rounded())),
            height: max(1, Int((ratio > 1 ? 32 / ratio : 32).rounded())))
        lightness = Channel(
            columns: max(3, columns), rows: max(3, rows), mean: part(0, 63) / 63, scale: part(18, 31) / 31)
        // The scales of colors are increased, because quantization reduces saturation.
        yellowBlue = Channel(
            columns: 3, rows: 3, mean: part(6, 63) / 31.5 - 1, scale: part(27, 63) / 63 * 1.25)
        redGreen = Channel(columns: 3, rows: 3, mean: part(12, 63) / 31.5 - 1, scale: part(33, 63) / 63 * 1.25)
        var next = 10
        if hasAlpha {
            guard bytes.count >= 6 else { return nil }
            alpha = Channel(columns: 5, rows: 5, mean: Double(bytes[5] & 15) / 15, scale: Double(bytes[5] >> 4) / 15)
            next = 12
        }
        func read(_ channel: inout Channel) -> Bool {
            for _ in channel.places {
                guard next / 2 < bytes.count else { return false }
                let value = bytes[next / 2] >> (next % 2 * 4) & 15
                channel.varying.append((Double(value) / 7.5 - 1) * channel.scale)
                next += 1
            }
            return true
        }
        guard read(&lightness), read(&yellowBlue), read(&redGreen) else { return nil }
        if var channel = alpha {
            guard read(&channel) else { return nil }
            alpha = channel
        }
    }

    /// Returns the pixels in RGBA.
    func pixels() -> [UInt8] {
        let horizontal = (0..<size.width).map { Self.cosines(at: $0, of: size.width) }
        let vertical = (0..<size.height).map { Self.cosines(at: $0, of: size.height) }
        func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(1, value)) * 255) }
        return vertical.flatMap { vertical in
            horizontal.flatMap { horizontal in
                let light = lightness.value(horizontal, vertical)
                let yellow = yellowBlue.value(horizontal, vertical)
                let red = redGreen.value(horizontal, vertical)
                let blue = light - 2 / 3 * yellow
                let redValue = (3 * light - blue + red) / 2
                return [
                    byte(redValue), byte(redValue - red), byte(blue), byte(alpha?.value(horizontal, vertical) ?? 1),
                ]
            }
        }
    }

    private static func cosines(at position: Int, of length: Int) -> [Double] {
        (0..<7).map { cos(.pi / Double(length) * (Double(position) + 0.5) * Double($0)) }
    }
}
