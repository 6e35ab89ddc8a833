extension String {
    /// The text without characters that would move a terminal's cursor, change colors, or change the direction of
    /// text.
    package var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isInvisible ? "?" : $0 }))
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the character is a control or format character, or otherwise invisible:
    /// such characters could forge the display of a terminal or a file manager.
    package var isInvisible: Bool {
        // Looking up the category takes much longer.
        if (0x20..<0x7F).contains(value) { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
