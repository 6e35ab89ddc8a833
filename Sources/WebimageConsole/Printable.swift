extension String {
    /// The text without what would move a terminal's cursor, color it, or change how the rest of a line is read.
    package var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isInvisible ? "?" : $0 }))
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether it is a control or format character, or has no shape of its own
    /// otherwise: these could forge what a terminal or a file manager shows.
    package var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
