/// A failure for which the engine's library has no error.
public enum EngineError: Error, Sendable, Hashable {
    /// The text is not a URL.
    case invalidURL(String)
    /// The server responded with a status other than 200 to 299.
    case status(Int)
    /// The body is not an image, or is missing.
    case noImage
    /// The loop in C ended early for this reason.
    case curl(String)
}
