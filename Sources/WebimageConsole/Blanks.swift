extension StringProtocol {
    /// The text without white space, control characters, and invisible characters of no width around it.
    package var withoutBlanksAround: SubSequence {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.isBlank }),
            let last = scalars.lastIndex(where: { !$0.isBlank })
        else { return self[endIndex...] }
        return self[first..<scalars.index(after: last)]
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the character is nothing of a URL, but typical of text that was copied.
    fileprivate var isBlank: Bool {
        switch value {
        case 0...0x20, 0x200B, 0x2060, 0xFEFF: true
        case 0x21...0x7E: false
        default: properties.isWhitespace
        }
    }
}
