/// Guesses the format of unsupported files, for error messages.
enum FormatGuess {
    /// Returns a short description, such as "HTML", of the beginning of a file.
    static func describe(_ bytes: Span<UInt8>) -> String {
        for (signature, offset, name) in signatures where bytes.has(signature, at: offset) { return name }
        if bytes.count >= 12, bytes.has("ftyp", at: 4) { return describe(brandOf: bytes) }
        return describe(text: bytes) ?? "data beginning \(hexadecimal(bytes))"
    }

    private static let signatures: [(signature: StaticString, offset: Int, name: String)] = [
        ("%PDF-", 0, "a PDF"),
        ("%!PS", 0, "PostScript"),
        ("II*\0", 0, "TIFF"),
        ("MM\0*", 0, "TIFF"),
        ("\0\0\u{1}\0", 0, "ICO"),
        ("8BPS", 0, "a Photoshop document"),
        ("\0\0\0\u{c}JXL ", 0, "JPEG XL"),
        ("\0\0\0\u{c}jP  ", 0, "JPEG 2000"),
        ("PK\u{3}\u{4}", 0, "ZIP"),
        ("Rar!", 0, "RAR"),
        ("OggS", 0, "Ogg"),
        ("WAVE", 8, "WAV audio"),
        ("AVI ", 8, "AVI video"),
    ]

    private static func describe(brandOf bytes: Span<UInt8>) -> String {
        for brand: StaticString in ["avif", "avis"] where bytes.has(brand, at: 8) { return "AVIF" }
        for brand: StaticString in ["heic", "heix", "hevc", "heim", "heis"] where bytes.has(brand, at: 8) {
            return "HEIC"
        }
        for brand: StaticString in ["mif1", "msf1"] where bytes.has(brand, at: 8) { return "AVIF or HEIC" }
        return "MPEG-4"
    }

    private static func describe(text bytes: Span<UInt8>) -> String? {
        if bytes.byte(at: 0) == 0x1F, bytes.byte(at: 1) == 0x8B { return "gzip" }
        if bytes.has("BM", at: 0), let reserved = bytes.littleEndian32(at: 6), reserved == 0 { return "BMP" }

        var start = bytes.byte(at: 0) == 0xEF && bytes.byte(at: 1) == 0xBB && bytes.byte(at: 2) == 0xBF ? 3 : 0
        while let byte = bytes.byte(at: start), byte == 0x20 || (0x09...0x0D).contains(byte) { start += 1 }
        let end = min(bytes.count, start + 64)
        guard start < end else { return bytes.isEmpty ? nil : "white space" }

        var text = ""
        for index in start..<end {
            let byte = bytes[index]
            guard (0x20...0x7E).contains(byte) || (0x09...0x0D).contains(byte) || byte >= 0x80 else { return nil }
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        text = text.lowercased()
        if ["<!doctype html", "<html", "<head", "<body", "<script"].contains(where: text.hasPrefix) { return "HTML" }
        if ["<svg", "<?xml", "<!doctype", "<!--"].contains(where: text.hasPrefix) { return "XML or SVG" }
        if text.hasPrefix("<") { return "HTML or XML" }
        if text.hasPrefix("{") || text.hasPrefix("[") { return "JSON" }
        return text.utf8.count == end - start ? "plain text" : nil
    }

    private static func hexadecimal(_ bytes: Span<UInt8>) -> String {
        (0..<min(8, bytes.count)).map { index in
            let digits = String(bytes[index], radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: " ")
    }
}
