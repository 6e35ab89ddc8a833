/// Members of a tar archive in the ustar format (POSIX.1-1988), the same bytes whenever and wherever they are made.
enum TarArchive {
    /// The number of bytes of a header, of which the size of an archive is a multiple.
    static let blockSize = 512

    /// The end of an archive: two blocks of zeros.
    static let end = [UInt8](repeating: 0, count: 2 * blockSize)

    /// The maximum number of bytes of a member: 11 octal digits.
    static let largestMember = 1 << 33 - 1

    /// Appends a file called `name`, at most 100 bytes, to `archive`.
    static func append(_ file: [UInt8], named name: String, to archive: inout [UInt8]) {
        archive.reserveCapacity(archive.count + file.count + 2 * blockSize)
        archive += header(name: name, size: file.count)
        archive += file
        archive += repeatElement(0, count: paddedSize(file.count) - file.count)
    }

    /// Returns the number of bytes that a file of `size` bytes takes after its header.
    static func paddedSize(_ size: Int) -> Int { (size + blockSize - 1) / blockSize * blockSize }

    /// Reads the name and the size of a file from a header that ``append(_:named:to:)`` has written; returns `nil` if
    /// it is none.
    static func member(_ header: [UInt8]) -> (name: String, size: Int)? {
        guard header.count == blockSize, header[257..<262].elementsEqual("ustar".utf8),
            let name = String(validating: header[..<100].prefix { $0 != 0 }, as: UTF8.self),
            let size = Int(String(decoding: header[124..<135], as: UTF8.self), radix: 8),
            (0...largestMember).contains(size)
        else { return nil }
        return (name, size)
    }

    private static func header(name: String, size: Int) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: blockSize)
        func put(_ text: String, at offset: Int) {
            for (index, byte) in text.utf8.enumerated() { header[offset + index] = byte }
        }
        func put(_ number: Int, at offset: Int, digits: Int) {
            let octal = String(number, radix: 8)
            put(String(repeating: "0", count: max(0, digits - octal.count)) + octal, at: offset)
        }
        put(String(decoding: name.utf8.prefix(100), as: UTF8.self), at: 0)
        put(0o444, at: 100, digits: 7)
        put(0, at: 108, digits: 7)  // user
        put(0, at: 116, digits: 7)  // group
        put(size, at: 124, digits: 11)
        put(0, at: 136, digits: 11)  // time
        put("        ", at: 148)  // the checksum counts as blanks
        put("0", at: 156)  // a regular file
        put("ustar", at: 257)
        put("00", at: 263)
        put("webimage", at: 265)
        put("webimage", at: 297)
        put(0, at: 329, digits: 7)  // device
        put(0, at: 337, digits: 7)
        put(header.reduce(0) { $0 + Int($1) }, at: 148, digits: 6)
        header[154] = 0
        return header
    }
}
