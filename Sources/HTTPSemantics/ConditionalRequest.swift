package import HTTPTypes

extension HTTPFields {
    /// A Boolean value that indicates whether they ask for a response only if something has changed, or has not; the
    /// answer is the caller's to judge.
    package var isConditional: Bool {
        [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange].contains {
            self.contains($0)
        }
    }
}

extension String {
    /// Of an entity tag what weak comparison looks at (RFC 9110, section 8.8.3.2).
    package var strongPart: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}
