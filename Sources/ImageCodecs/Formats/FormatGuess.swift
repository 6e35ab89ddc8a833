/// Guesses the format of unsupported files, for error messages.
enum FormatGuess {
    /// Returns the reason why the file with this beginning is not decoded.
    static func error(of bytes: Span<UInt8>) -> CodecError {
        for (signature, offset, name) in images where bytes.has(signature, at: offset) {
            return .unsupportedFormat(name)
        }
        if bytes.count >= 12, bytes.has("ftyp", at: 4) {
            return imageName(brandOf: bytes).map { .unsupportedFormat($0) } ?? .notAnImage(lookingLike: "MPEG-4")
        }
        for (signature, offset, name) in others where bytes.has(signature, at: offset) {
            return .notAnImage(lookingLike: name)
        }
        return textError(of: bytes) ?? .notAnImage(lookingLike: "data beginning \(hexadecimal(bytes))")
    }

    private static let images: [(signature: StaticString, offset: Int, name: String)] = [
        ("II*\0", 0, "TIFF"),
        ("MM\0*", 0, "TIFF"),
        ("II+\0", 0, "TIFF"),
        ("MM\0+", 0, "TIFF"),
        ("8BPS", 0, "Photoshop"),
        ("\0\0\0\u{c}JXL ", 0, "JPEG XL"),
        ("\0\0\0\u{c}jP  ", 0, "JPEG 2000"),
    ]

    private static let others: [(signature: StaticString, offset: Int, name: String)] = [
        ("%PDF-", 0, "a PDF"),
        ("%!PS", 0, "PostScript"),
        ("PK\u{3}\u{4}", 0, "ZIP"),
        ("Rar!", 0, "RAR"),
        ("PAR1", 0, "Parquet"),
        ("OggS", 0, "Ogg"),
        ("WAVE", 8, "WAV audio"),
        ("AVI ", 8, "AVI video"),
    ]

    private static func imageName(brandOf bytes: Span<UInt8>) -> String? {
        for brand: StaticString in ["avif", "avis"] where bytes.has(brand, at: 8) { return "AVIF" }
        for brand: StaticString in ["heic", "heix", "hevc", "heim", "heis"] where bytes.has(brand, at: 8) {
            return "HEIC"
        }
        for brand: StaticString in ["mif1", "msf1"] where bytes.has(brand, at: 8) { return "AVIF or HEIC" }
        return nil
    }

    private static func textError(of bytes: Span<UInt8>) -> CodecError? {
        // A JPEG XL codestream without a container; the two bytes are not text.
        if bytes.byte(at: 0) == 0xFF, bytes.byte(at: 1) == 0x0A { return .unsupportedFormat("JPEG XL") }
        guard let name = describe(text: bytes) else { return nil }
        return name == "SVG" ? .unsupportedFormat(name) : .notAnImage(lookingLike: name)
    }

    private static func describe(text bytes: Span<UInt8>) -> String? {
        if bytes.byte(at: 0) == 0x1F, bytes.byte(at: 1) == 0x8B { return "gzip" }
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
        if text.hasPrefix("<svg") { return "SVG" }
        if ["<?xml", "<!doctype", "<!--"].contains(where: text.hasPrefix) {
            return hasSVGElement(bytes) ? "SVG" : "XML or SVG"
        }
        if text.hasPrefix("<") { return "HTML or XML" }
        if text.hasPrefix("{") || text.hasPrefix("[") { return "JSON" }
        return text.utf8.count == end - start ? "plain text" : nil
    }

    /// Returns whether the root element seems to be `svg`: behind a declaration or comments, in the first 4 KiB.
    private static func hasSVGElement(_ bytes: Span<UInt8>) -> Bool {
        (0..<min(bytes.count, 4 << 10)).contains { bytes.has("<svg", at: $0) || bytes.has("<!DOCTYPE svg", at: $0) }
    }

    private static func hexadecimal(_ bytes: Span<UInt8>) -> String {
        (0..<min(8, bytes.count)).map { index in
            let digits = String(bytes[index], radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: " ")
    }
}
