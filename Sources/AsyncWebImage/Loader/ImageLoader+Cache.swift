import HTTPTransport
public import ImageCodecs
import HTTPTypes

// The cache of decoded images, without a load.
extension ImageLoader {
    /// Returns the image of a request if it is in the cache of decoded images, regardless of the request's cache
    /// policy; `nil` otherwise.
    ///
    /// Nothing is loaded. For responses in a ``ResponseCache``, load with ``CachePolicy/cacheOnly``.
    public func cachedImage(for request: ImageRequest) -> ImageResponse? {
        cacheKey(for: request).flatMap(imageCache.response)
    }

    /// Stores an image in the cache of decoded images, as if it had been loaded by a request.
    ///
    /// Does nothing if ``cacheKey(for:)`` returns `nil`, for example because the URL is invalid.
    /// ``ImageRequest/cacheKey`` is not required.
    public func cacheImage(_ image: DecodedImage, for request: ImageRequest) {
        guard let key = cacheKey(for: request) else { return }
        let head = ResponseHead(response: HTTPResponse(status: .ok), url: key.url)
        let origin = ResponseOrigin(head: head, source: .imageCache, byteCount: 0, metrics: nil)
        imageCache.insert(ImageResponse(image: image, origin: origin, scale: key.url.displayScale), for: key)
    }

    /// Returns the key of a request in the cache of decoded images, regardless of the request's cache policy; `nil` if
    /// its images are never cached because the URL is invalid, the request is conditional, or its header fields contain
    /// `no-store`.
    public func cacheKey(for request: ImageRequest) -> ImageCacheKey? {
        var request = request
        request.cachePolicy = .useProtocol
        return (try? fetchKey(request))?.cacheKeyForStoring(request.recipe, digest: request.expectedDigest)
    }
}
