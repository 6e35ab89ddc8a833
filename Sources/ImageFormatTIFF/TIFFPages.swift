#if TIFF
import ImageCodecs

/// The list of directories of a file, each of which describes one image.
enum TIFFPages {
    /// The maximum number of directories that are counted.
    private static let maximumCount = 10_000
    /// The tag that declares an image to be a smaller version of another one, or its mask (TIFF 6.0, section 8).
    private static let subfileType = 254
    /// The number of bytes of a value of each type.
    private static let widths = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]

    /// Returns the number of pages, at least 1: directories that describe neither smaller versions nor masks.
    ///
    /// The list ends where it leaves the file or returns to an earlier directory. Throws `truncated` if the file ends
    /// before the end of the first directory.
    static func count(in file: Span<UInt8>) throws(CodecError) -> Int {
        let isBig = file.byte(at: 2) == 43 || file.byte(at: 3) == 43
        let isLittleEndian = file.has("II", at: 0)
        let offsetLength = isBig ? 8 : 4
        guard var start = number(offsetLength, at: offsetLength, of: file, isLittleEndian) else {
            throw .truncated(.tiff)
        }
        var seen: Set<Int> = []
        var count = 0
        while start > 0, seen.count < maximumCount, seen.insert(start).inserted {
            let (countLength, entryLength) = isBig ? (8, 20) : (2, 12)
            let entry = start + countLength
            guard let entryCount = number(countLength, at: start, of: file, isLittleEndian), entryCount <= 1 << 16,
                file.has(entryCount * entryLength, at: entry)
            else {
                if seen.count == 1 { throw .truncated(.tiff) }
                break
            }
            // Entries are sorted, and this tag is the lowest one.
            let isDeclared = entryCount > 0 && number(2, at: entry, of: file, isLittleEndian) == subfileType
            let kind = isDeclared ? number(4, at: entry + entryLength - offsetLength, of: file, isLittleEndian) : nil
            if (kind ?? 0) & 0b101 == 0 { count += 1 }
            start = number(offsetLength, at: entry + entryCount * entryLength, of: file, isLittleEndian) ?? 0
        }
        return max(count, 1)
    }

    /// Returns the size of all values of tags of the first directory that are outside of it, in bytes: the sum, even if
    /// tags share them.
    static func tagBytes(in file: Span<UInt8>) -> Int {
        let isBig = file.byte(at: 2) == 43 || file.byte(at: 3) == 43
        let isLittleEndian = file.has("II", at: 0)
        let (offsetLength, countLength, entryLength) = isBig ? (8, 8, 20) : (4, 2, 12)
        guard let start = number(offsetLength, at: offsetLength, of: file, isLittleEndian),
            let entryCount = number(countLength, at: start, of: file, isLittleEndian), entryCount <= 1 << 16,
            file.has(entryCount * entryLength, at: start + countLength)
        else { return 0 }
        var sum = 0
        for index in 0..<entryCount {
            let entry = start + countLength + index * entryLength
            guard let type = number(2, at: entry + 2, of: file, isLittleEndian), widths.indices.contains(type),
                let itemCount = number(offsetLength, at: entry + 4, of: file, isLittleEndian),
                let offset = number(offsetLength, at: entry + 4 + offsetLength, of: file, isLittleEndian)
            else { continue }
            let (size, overflow) = itemCount.multipliedReportingOverflow(by: widths[type])
            // At most 2^16 times the size of the file.
            if !overflow, size > offsetLength, file.has(size, at: offset) { sum += size }
        }
        return sum
    }

    /// Returns the number of `length` bytes at `offset`; `nil` if the file ends before it, or if it exceeds 2^62.
    static func number(
        _ length: Int, at offset: Int, of file: Span<UInt8>, _ isLittleEndian: Bool
    ) -> Int? {
        guard file.has(length, at: offset) else { return nil }
        var value: UInt64 = 0
        for index in 0..<length {
            value = value << 8 | UInt64(file[offset + (isLittleEndian ? length - 1 - index : index)])
        }
        return value < 1 << 62 ? Int(value) : nil
    }
}
#endif
