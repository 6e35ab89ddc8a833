/// The cache of decoded images, which answers callers without a download.
struct FinishedImages: Sendable {
    let cache: any ImageCache
    let metrics: MemoryCacheMetrics?

    /// Returns the image for a key; `nil` if there is none.
    func response(for key: ImageCacheKey) -> ImageResponse? {
        guard let response = cache.response(for: key) else { return nil }
        metrics?.recordHit()
        return response
    }

    /// Answers a caller if its image is cached; returns whether it is.
    func answer(_ caller: Subscriber) -> Bool {
        guard case .pixels(let recipe) = caller.variant?.content,
            let key = caller.key.cacheKeyForReading(recipe, digest: caller.expectedDigest)
        else { return false }
        guard let cached = response(for: key) else {
            metrics?.recordMiss()
            return false
        }
        if let refusal = caller.refusal(of: cached.image.header) {
            caller.fail(refusal)
        } else {
            caller.deliver(cached.image, from: cached.origin)
        }
        return true
    }
}
