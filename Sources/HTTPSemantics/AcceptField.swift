/// The media types that a client accepts, with their weights (RFC 9110, section 12.5.1).
package struct AcceptField: Sendable {
    private struct Range {
        let type: Substring
        let subtype: Substring
        let weight: Double
    }

    private let ranges: [Range]

    /// Parses the value of `Accept`; elements that are not media ranges are ignored.
    package init(_ value: String) {
        ranges = value.lowercased().split(separator: ",").compactMap { element in
            let parts = element.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let names = parts.first?.split(separator: "/") ?? []
            guard names.count == 2 else { return nil }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return Range(
                type: Substring(names[0]), subtype: Substring(names[1]),
                weight: weight.isFinite ? min(max(weight, 0), 1) : 0)
        }
    }

    /// Returns the weight of a media type, from 0 (not accepted) to 1: that of the most specific range.
    package func weight(of mediaType: String) -> Double {
        let names = mediaType.split(separator: "/")
        guard names.count == 2 else { return 0 }
        let exact = ranges.first { $0.type == names[0] && $0.subtype == names[1] }
        let family = ranges.first { $0.type == names[0] && $0.subtype == "*" }
        let any = ranges.first { $0.type == "*" && $0.subtype == "*" }
        return (exact ?? family ?? any)?.weight ?? 0
    }
}
