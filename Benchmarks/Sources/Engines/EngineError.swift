/// Why an engine got no body, where its library has no error for it.
public enum EngineError: Error, Sendable, Hashable {
    /// The text is no URL.
    case invalidURL(String)
    /// The server answered with a status other than 200 to 299.
    case status(Int)
    /// The body is no image, or is missing.
    case noImage
    /// The loop in C ended early, for the reason it gave.
    case curl(String)
}
