package import HTTPTypes

extension HTTPFields {
    /// A Boolean value that indicates whether the fields make the request conditional; the caller must then interpret
    /// the response.
    package var isConditional: Bool {
        Self.conditions.contains { self.contains($0) }
    }

    /// These fields without those that make a request conditional.
    package var withoutConditions: HTTPFields {
        isConditional ? filter { !Self.conditions.contains($0.name) } : self
    }

    private static let conditions: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
    ]
}

/// The field `If-None-Match` of a request (RFC 9110, section 13.1.2).
package struct IfNoneMatchField: Sendable {
    private let value: [UInt8]

    package init(_ value: String) {
        self.value = Array(value.utf8)
    }

    /// Returns whether the field contains an entity tag, by weak comparison, or is `*`.
    ///
    /// Elements that are not entity tags are skipped.
    package func matches(_ tag: String) -> Bool {
        let tag = Array(tag.utf8).strongPart
        var rest = value[...].drop(while: Self.isBlank)
        if rest.first == UInt8(ascii: "*"), rest.dropFirst().allSatisfy(Self.isBlank) { return true }
        while !rest.isEmpty {
            rest = rest.drop { Self.isBlank($0) || $0 == UInt8(ascii: ",") }
            if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
            // A tag can contain commas.
            if rest.first == UInt8(ascii: "\""), let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) {
                if rest[...end] == tag { return true }
                rest = rest[(end + 1)...]
            }
            rest = rest.drop { $0 != UInt8(ascii: ",") }
        }
        return false
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension [UInt8] {
    /// The part of an entity tag used in weak comparison (RFC 9110, section 8.8.3.2).
    package var strongPart: ArraySlice<UInt8> { starts(with: "W/".utf8) ? dropFirst(2) : self[...] }
}
