/// An error for a failure for which the engine's library has none.
public enum EngineError: Error, Sendable, Hashable {
    /// The text is not a URL.
    case invalidURL(String)
    /// The server answered with a status other than 200 to 299.
    case status(Int)
    /// The body is not an image, or is missing.
    case noImage
    /// The loop in C ended early, for the reason it gave.
    case curl(String)
}
