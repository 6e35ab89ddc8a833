/// The printable name of an ICC profile (ICC.1:2022, 9.2.41).
enum ProfileDescription {
    static let unnamed = "unnamed"
    private static let maximumLength = 80
    private static let maximumTags = 200

    /// Returns the profile's description; "unnamed" if it has none, or none that can be read from these bytes.
    static func read(_ profile: Span<UInt8>) -> String {
        guard let tagCount = profile.bigEndian32(at: 128) else { return unnamed }
        for index in 0..<min(tagCount, maximumTags) {
            let entry = 132 + index * 12
            guard profile.has(12, at: entry) else { return unnamed }
            guard profile.has("desc", at: entry), let offset = profile.bigEndian32(at: entry + 4),
                offset < profile.count
            else { continue }
            return read(tag: profile.extracting(offset...))
        }
        return unnamed
    }

    /// Returns `text` if every character is printable, otherwise "unnamed".
    static func printable(_ text: some Sequence<Unicode.Scalar>) -> String {
        var name = String.UnicodeScalarView()
        for scalar in text.prefix(maximumLength + 1) {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                return unnamed
            default: name.append(scalar)
            }
        }
        return name.isEmpty || name.count > maximumLength ? unnamed : String(name)
    }

    private static func read(tag: Span<UInt8>) -> String {
        var scalars: [Unicode.Scalar] = []
        if tag.has("desc", at: 0), let length = tag.bigEndian32(at: 8) {
            // Version 2: ASCII; the length includes the terminating zero.
            for index in 0..<min(length, maximumLength + 2) {
                guard let byte = tag.byte(at: 12 + index) else { return unnamed }
                if byte == 0 { break }
                guard byte < 0x80 else { return unnamed }
                scalars.append(Unicode.Scalar(UInt8(byte)))
            }
        } else if tag.has("mluc", at: 0), let length = tag.bigEndian32(at: 20), let offset = tag.bigEndian32(at: 24) {
            // Version 4: UTF-16 in several languages; the first is used.
            for index in 0..<min(length / 2, maximumLength + 1) {
                guard let unit = tag.bigEndian16(at: offset + index * 2) else { return unnamed }
                if unit == 0 { break }
                guard let scalar = Unicode.Scalar(UInt32(unit)) else { return unnamed }
                scalars.append(scalar)
            }
        }
        return printable(scalars)
    }
}
