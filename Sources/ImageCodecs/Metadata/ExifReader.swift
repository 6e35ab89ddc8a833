/// Reads the fields of Exif data, a TIFF file without pixels.
///
/// Follows one pointer to each directory, and so ends for any data. Fields that are broken, or that lie beyond the end
/// of the data, count as missing.
package struct ExifReader: Sendable {
    /// The maximum number of fields that are read, in all directories.
    package static let maximumFields = 256
    /// The maximum number of bytes in a value; larger ones are left out.
    package static let maximumValueBytes = 4 << 10

    /// The tags of data in other formats: XMP, IPTC, Photoshop resources, ICC profiles, and the notes of camera makers.
    private static let foreign: Set<Int> = [0x02BC, 0x83BB, 0x8649, 0x8773, 0x927C]

    private let bytes: [UInt8]
    private let isLittleEndian: Bool

    /// Creates a reader of Exif data that start with the TIFF header; `nil` if there is none.
    package init?(_ exif: [UInt8]) {
        bytes = exif
        isLittleEndian = exif.span.has("II", at: 0)
        guard isLittleEndian || exif.span.has("MM", at: 0), unsigned(2, at: 2) == 42 else { return nil }
    }

    /// Returns the fields of the directories of the image, of Exif, and of the location, each in the order of the data.
    package func fields() -> [ExifField] {
        guard let first = unsigned(4, at: 4) else { return [] }
        let (fields, exif, gps) = fields(of: .image, at: first, limit: Self.maximumFields)
        var all = fields
        for (directory, offset) in [(ExifField.Directory.exif, exif), (.gps, gps)] {
            guard let offset else { continue }
            all += self.fields(of: directory, at: offset, limit: Self.maximumFields - all.count).fields
        }
        return all
    }

    /// Returns up to `limit` fields of a directory, and the positions of the directories to which it points.
    private func fields(
        of directory: ExifField.Directory, at start: Int, limit: Int
    ) -> (fields: [ExifField], exif: Int?, gps: Int?) {
        var fields: [ExifField] = []
        var exif: Int?
        var gps: Int?
        for index in 0..<(unsigned(2, at: start) ?? 0) {
            let entry = start + 2 + index * 12
            guard fields.count < limit, let tag = unsigned(2, at: entry), bytes.span.has(12, at: entry) else { break }
            switch tag {
            case 0x8769: exif = exif ?? unsigned(4, at: entry + 8)
            case 0x8825: gps = gps ?? unsigned(4, at: entry + 8)
            // The directory for interoperability says nothing about the image.
            case 0xA005: break
            case _ where Self.foreign.contains(tag): break
            default:
                guard let value = value(at: entry) else { continue }
                fields.append(ExifField(tag: tag, directory: directory, value: value))
            }
        }
        return (fields, exif, gps)
    }

    /// Returns the value of the field whose entry of 12 bytes is at `entry`.
    private func value(at entry: Int) -> ExifField.Value? {
        guard let type = unsigned(2, at: entry + 2).flatMap(ExifType.init(rawValue:)),
            let count = unsigned(4, at: entry + 4),
            count > 0, count <= Self.maximumValueBytes / type.size
        else { return nil }
        let length = count * type.size
        guard let start = length <= 4 ? entry + 8 : unsigned(4, at: entry + 8), bytes.span.has(length, at: start) else {
            return nil
        }
        let positions = stride(from: start, to: start + length, by: type.size)
        switch type {
        case .ascii, .utf8: return .text(text(start..<start + length))
        case .undefined: return unspecified(start..<start + length)
        case .byte, .short, .long: return .integers(positions.compactMap { unsigned(type.size, at: $0) })
        case .signedByte, .signedShort, .signedLong:
            return .integers(positions.compactMap { signed(type.size, at: $0) })
        case .rational: return .rationals(positions.compactMap { rational(at: $0, unsigned) })
        case .signedRational: return .rationals(positions.compactMap { rational(at: $0, signed) })
        case .float:
            return .reals(positions.compactMap { unsigned(4, at: $0) }.map { Double(Float(bitPattern: UInt32($0))) })
        case .double: return .reals(positions.compactMap { double(at: $0) })
        }
    }

    /// Returns the text before the first zero byte, as UTF-8, which includes ASCII.
    private func text(_ range: Range<Int>) -> String {
        Self.trimmed(String(decoding: bytes[range].prefix { $0 != 0 }, as: UTF8.self))
    }

    /// Returns bytes whose type is undefined, if they are text.
    private func unspecified(_ range: Range<Int>) -> ExifField.Value? {
        let content = range.dropFirst(8)
        if bytes.span.has("ASCII\0\0\0", at: range.lowerBound), range.count >= 8 { return .text(text(content)) }
        if bytes.span.has("UNICODE\0", at: range.lowerBound), range.count >= 8 {
            let units = stride(from: content.lowerBound, to: content.upperBound - 1, by: 2)
                .compactMap { unsigned(2, at: $0).map { UInt16($0) } }
            return .text(Self.trimmed(String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)))
        }
        guard bytes[range].allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        return .text(text(range))
    }

    private static func trimmed(_ text: String) -> String {
        var scalars = text.unicodeScalars
        while scalars.last == " " { scalars.removeLast() }
        return String(scalars)
    }

    private func rational(at offset: Int, _ number: (Int, Int) -> Int?) -> ExifField.Rational? {
        guard let numerator = number(4, offset), let denominator = number(4, offset + 4) else { return nil }
        return ExifField.Rational(numerator: numerator, denominator: denominator)
    }

    private func double(at offset: Int) -> Double? {
        guard let first = unsigned(4, at: offset), let second = unsigned(4, at: offset + 4) else { return nil }
        let (high, low) = isLittleEndian ? (second, first) : (first, second)
        return Double(bitPattern: UInt64(high) << 32 | UInt64(low))
    }

    /// Returns the integer in two's complement of 1, 2, or 4 bytes.
    private func signed(_ length: Int, at offset: Int) -> Int? {
        unsigned(length, at: offset).map { $0 < 1 << (8 * length - 1) ? $0 : $0 - 1 << (8 * length) }
    }

    /// Returns the integer of 1, 2, or 4 bytes.
    private func unsigned(_ length: Int, at offset: Int) -> Int? {
        let span = bytes.span
        return switch length {
        case 1: span.byte(at: offset)
        case 2: isLittleEndian ? span.littleEndian16(at: offset) : span.bigEndian16(at: offset)
        default: isLittleEndian ? span.littleEndian32(at: offset) : span.bigEndian32(at: offset)
        }
    }
}

/// The types of the values in Exif data (TIFF 6.0, section 2; Exif 3.0 for UTF-8).
private enum ExifType: Int {
    case byte = 1
    case ascii
    case short
    case long
    case rational
    case signedByte
    case undefined
    case signedShort
    case signedLong
    case signedRational
    case float
    case double
    case utf8 = 129

    /// The number of bytes of one element.
    var size: Int {
        switch self {
        case .byte, .ascii, .signedByte, .undefined, .utf8: 1
        case .short, .signedShort: 2
        case .long, .signedLong, .float: 4
        case .rational, .signedRational, .double: 8
        }
    }
}
