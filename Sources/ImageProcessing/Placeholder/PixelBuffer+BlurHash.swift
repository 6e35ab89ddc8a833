import Glibc
public import ImageCodecs

extension PixelBuffer {
    /// Returns the BlurHash of the image: a short text for a placeholder, with `columns` × `rows` frequencies.
    ///
    /// Both numbers are limited to 1 through 9. Transparent parts count as white. Images larger than 100 × 100 pixels are
    /// scaled down first. The hash of an empty image has no characters.
    public func blurHash(columns: Int = 4, rows: Int = 3) -> String {
        guard size.area > 0 else { return "" }
        let (columns, rows) = (min(max(columns, 1), 9), min(max(rows, 1), 9))
        return BlurHash(reduced(toSide: 100), columns: columns, rows: rows).text
    }

    /// Creates the placeholder image of a BlurHash in any size up to 16 megapixels, with at most 16,384 pixels on a
    /// side; a small one suffices, to be enlarged when it is shown.
    ///
    /// Returns `nil` if the text is not a BlurHash, or the size is empty or too large.
    public init?(blurHash: String, size: PixelSize) {
        let sides = 1...16_384
        guard sides ~= size.width, sides ~= size.height, size.area <= 1 << 24, let hash = BlurHash(text: blurHash)
        else { return nil }
        self.init(size: size, bytes: hash.pixels(size))
    }
}

/// The frequencies of an image in linear light.
private struct BlurHash {
    private let columns: Int
    private let rows: Int
    /// Red, green, and blue of each frequency, row by row; the first is the mean color.
    private var factors: [SIMD3<Double>]

    /// Creates the frequencies of an image in RGBA, not empty.
    init(_ image: PixelBuffer, columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        let horizontal = Self.cosines(image.width, columns)
        let vertical = Self.cosines(image.height, rows)
        let light = (0...255).map { Self.light(Double($0) / 255) }
        factors = [SIMD3<Double>](repeating: .zero, count: columns * rows)
        for y in 0..<image.height {
            for x in 0..<image.width {
                let (red, green, blue, alpha) = image[x, y]
                func linear(_ value: UInt8) -> Double {
                    light[(Int(value) * Int(alpha) + 255 * (255 - Int(alpha)) + 127) / 255]
                }
                let color = SIMD3(linear(red), linear(green), linear(blue))
                for row in 0..<rows {
                    for column in 0..<columns {
                        let wave = horizontal[x * columns + column] * vertical[y * rows + row]
                        factors[row * columns + column] += color * wave
                    }
                }
            }
        }
        for index in factors.indices { factors[index] *= (index == 0 ? 1 : 2) / Double(image.size.area) }
    }

    /// Reads a hash; `nil` if the text is none.
    init?(text: String) {
        let digits = text.utf8.prefix(4 + 2 * 81 + 1).compactMap { Self.alphabet.firstIndex(of: $0) }
        guard digits.count == text.utf8.count, digits.count >= 6 else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 83 + $1 } }
        (columns, rows) = (digits[0] % 9 + 1, digits[0] / 9 + 1)
        guard rows <= 9, digits.count == 4 + 2 * columns * rows else { return nil }
        let greatest = Double(digits[1] + 1) / 166
        let mean = number(2..<6)
        guard mean < 1 << 24 else { return nil }
        func light(_ shift: Int) -> Double { Self.light(Double(mean >> shift & 255) / 255) }
        factors = [SIMD3(light(16), light(8), light(0))]
        for index in 1..<columns * rows {
            let value = number(4 + index * 2..<6 + index * 2)
            func factor(_ level: Int) -> Double {
                let part = (Double(level) - 9) / 9
                return (part < 0 ? -1 : 1) * part * part * greatest
            }
            factors.append(SIMD3(factor(value / 361), factor(value / 19 % 19), factor(value % 19)))
        }
    }

    /// The hash.
    var text: String {
        let varying = factors.dropFirst()
        let greatest = varying.reduce(0) { max($0, abs($1.x), abs($1.y), abs($1.z)) }
        let level = varying.isEmpty ? 0 : Int(max(0, min(82, (greatest * 166 - 0.5).rounded(.down))))
        let scale = Double(level + 1) / 166
        var text = Self.digits(columns - 1 + (rows - 1) * 9, 1) + Self.digits(level, 1)
        let mean = factors[0]
        text += Self.digits(Self.byte(mean.x) << 16 | Self.byte(mean.y) << 8 | Self.byte(mean.z), 4)
        for factor in varying {
            func level(_ value: Double) -> Int {
                let part = value / scale
                let root = (part < 0 ? -1 : 1) * abs(part).squareRoot()
                return Int(max(0, min(18, (root * 9 + 9.5).rounded(.down))))
            }
            text += Self.digits(level(factor.x) * 361 + level(factor.y) * 19 + level(factor.z), 2)
        }
        return text
    }

    /// Returns the pixels of an image of `size` in RGBA.
    func pixels(_ size: PixelSize) -> [UInt8] {
        let horizontal = Self.cosines(size.width, columns)
        let vertical = Self.cosines(size.height, rows)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.area * 4)
        for y in 0..<size.height {
            // The sums of the rows of frequencies.
            var line = [SIMD3<Double>](repeating: .zero, count: columns)
            for row in 0..<rows {
                let wave = vertical[y * rows + row]
                for column in 0..<columns { line[column] += factors[row * columns + column] * wave }
            }
            for x in 0..<size.width {
                var color = SIMD3<Double>.zero
                for column in 0..<columns {
                    let wave = horizontal[x * columns + column]
                    color += line[column] * wave
                }
                for channel in 0..<3 { bytes.append(UInt8(Self.byte(color[channel]))) }
                bytes.append(255)
            }
        }
        return bytes
    }

    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    private static func digits(_ value: Int, _ count: Int) -> String {
        var (left, digits) = (value, [UInt8]())
        for _ in 0..<count {
            digits.append(alphabet[left % 83])
            left /= 83
        }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }

    /// Returns `count` cosines for each position in a line of `length` pixels, one position after the other.
    private static func cosines(_ length: Int, _ count: Int) -> [Double] {
        (0..<length * count).map { index -> Double in
            let (position, frequency) = (index / count, index % count)
            return cos(.pi * Double(position) * Double(frequency) / Double(length))
        }
    }

    /// Returns the linear light of an sRGB value (IEC 61966-2-1), both from 0 to 1.
    private static func light(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// Returns the sRGB value, 0 to 255, of linear light.
    private static func byte(_ light: Double) -> Int {
        let light = max(0, min(1, light))
        return Int(((light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055) * 255).rounded())
    }
}
