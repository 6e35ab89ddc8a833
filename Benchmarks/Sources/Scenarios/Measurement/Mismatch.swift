/// The error when an engine did not do the measured work.
struct Mismatch: Error, CustomStringConvertible {
    let description: String

    /// Throws unless `actual` is `expected`.
    static func check(_ what: String, _ actual: Int, is expected: Int) throws {
        guard actual == expected else {
            throw Mismatch(description: "\(what): \(actual) instead of \(expected)")
        }
    }
}
