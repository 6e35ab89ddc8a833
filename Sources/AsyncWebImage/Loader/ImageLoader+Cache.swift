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

    /// Returns the images of a request's URL that are in the cache of decoded images, whatever their decoding options,
    /// the one with the most pixels first.
    ///
    /// For example, show a smaller one while the requested size is being loaded. It takes time in proportion to the
    /// number of cached images. The request's ``ImageRequest/transformations`` and ``ImageRequest/expectedDigest`` must
    /// be the same; its cache policy and its ``ImageRequest/transfer`` do not count.
    public func cachedImages(for request: ImageRequest) -> [ImageResponse] {
        guard let key = cacheKey(for: request) else { return [] }
        var keys: [ImageCacheKey] = []
        imageCache.removeAll { other in
            if other.fetch == key.fetch, other.transformations == key.transformations,
                other.expectedDigest == key.expectedDigest
            {
                keys.append(other)
            }
            return false
        }
        return keys.compactMap(imageCache.response).sorted { $0.pixels.size.area > $1.pixels.size.area }
    }

    /// Removes everything that is stored for a request: its images of all sizes from ``imageCache``, its responses from
    /// ``responseCache``, including those to which stored redirects lead, and the partial body of an interrupted
    /// download.
    ///
    /// A download that is in progress is not affected, and can store them again.
    public func remove(_ request: ImageRequest) async {
        var request = request
        request.knownVersion = nil
        guard let key = try? fetchKey(request) else { return }
        imageCache.removeAll { $0.fetch.hasSameResponse(as: key) }
        await coordinator.forget(key)
        await responseCache?.removeAllHops(coordinator.configuration.request(for: key))
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
