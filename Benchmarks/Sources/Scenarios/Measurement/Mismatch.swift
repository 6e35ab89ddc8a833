/// The error when an engine does not do all the work to be measured.
struct Mismatch: Error, CustomStringConvertible {
    let description: String

    /// Throws unless `actual` is `expected`.
    static func check(_ what: String, _ actual: Int, is expected: Int) throws {
        guard actual == expected else {
            throw Mismatch(description: "\(what): \(actual) instead of \(expected)")
        }
    }
}
