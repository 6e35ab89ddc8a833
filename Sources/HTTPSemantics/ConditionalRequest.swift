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

extension [UInt8] {
    /// The part of an entity tag used in weak comparison (RFC 9110, section 8.8.3.2).
    package var strongPart: ArraySlice<UInt8> { starts(with: "W/".utf8) ? dropFirst(2) : self[...] }
}
