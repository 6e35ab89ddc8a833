import HTTPSemantics
public import HTTPTransport
public import ImageCodecs
public import ImageProcessing

/// The properties of a request that determine its image: the URL or ``ImageRequest/cacheKey``, the header fields, the
/// credential, the use of cookies, the decoding options, the transformations, and the expected digest.
///
/// Requests that differ only in priority or cache policy have the same key.
public struct ImageCacheKey: Sendable, Hashable {
    let fetch: FetchKey
    let recipe: PixelRecipe
    /// The digest of the body from which the image is decoded; `nil` for any.
    public internal(set) var expectedDigest: BodyDigest?

    /// The URL.
    public var url: HTTPURL { fetch.url }
    /// The decoding options.
    public var options: DecodeOptions { recipe.options }
    /// The transformations of the decoded image.
    public var transformations: [ImageTransformation] { recipe.transformations }
}

extension FetchKey {
    /// Returns the key under which a cached image may be used for this request; `nil` if the policy forbids it.
    ///
    /// Under a key with a digest, there are only images of bodies with this digest.
    func cacheKeyForReading(_ recipe: PixelRecipe, digest: BodyDigest?) -> ImageCacheKey? {
        cachePolicy.usesFinishedPixels ? cacheKeyForStoring(recipe, digest: digest) : nil
    }

    /// Returns the key under which the image may be cached; `nil` if the policy forbids it.
    func cacheKeyForStoring(_ recipe: PixelRecipe, digest: BodyDigest?) -> ImageCacheKey? {
        guard cachePolicy != .noStore, !isConditional, source?.isReusable ?? true else { return nil }
        if !headerFields.isEmpty, CacheControl(headerFields, isRequest: true).noStore { return nil }
        return ImageCacheKey(fetch: ofResponse, recipe: recipe, expectedDigest: digest)
    }
}
