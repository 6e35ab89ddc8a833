/// A number of bytes in human-readable form.
package struct ByteCount: CustomStringConvertible, Sendable {
    package let bytes: Int

    package init(_ bytes: Int) {
        self.bytes = bytes
    }

    package var description: String {
        guard bytes >= 1_000 else { return "\(bytes) B" }
        var value = Double(bytes) / 1_000
        for unit in ["kB", "MB", "GB"] {
            if value < 999.5 {
                return "\(value < 10 ? (value * 10).rounded() / 10 : value.rounded()) \(unit)".withoutPointZero
            }
            value /= 1_000
        }
        return "\(Int(value.rounded())) TB"
    }
}

extension String {
    fileprivate var withoutPointZero: String {
        contains(".0 ") ? String(prefix { $0 != "." } + drop { $0 != " " }) : self
    }
}
