import ImageCodecs

/// A product decoded from a download's bytes: callers with equal variants share the decode.
struct Variant: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        case header(readsAnimation: Bool)
        case pixels(PixelRecipe)
        case animation(PixelRecipe)
        case file(FileIdentity)
        /// The body, not decoded.
        case body
    }

    let content: Content
    /// The algorithm of the digest to compute, for which the whole body is read; `nil` for none.
    let digest: BodyDigest.Algorithm?
}
