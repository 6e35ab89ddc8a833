import HTTPSemantics
import HTTPTransport
import ImageCodecs
import ResponseCache

// Images that the response cache stores decoded.
extension DownloadCoordinator {
    /// A Boolean value that indicates whether the response cache stores decoded images.
    ///
    /// Not with a hook that changes bodies: what it does is not part of the stored response.
    var usesStoredImages: Bool { storesDecodedImages && responseCache != nil && hooks?.transform == nil }

    /// Returns the variant of a decode whose image can be stored decoded; `nil` for others.
    func storedVariant(_ variant: Variant, of key: FetchKey) -> String? {
        guard usesStoredImages, variant.digest == nil, case .pixels(let options) = variant.content,
            key.cacheKeyForStoring(options, digest: nil) != nil, key.headerFields[.range] == nil
        else { return nil }
        return options.storedVariant
    }

    /// Stores the image of a decode that has been delivered, on the cache's threads.
    func storeDecoded(_ result: DecodeResult, _ variant: Variant, of download: Download) {
        guard case .image(let image) = result.outcome, let stored = storedVariant(variant, of: download.key),
            let source = download.log.imageSource(for: stored)
        else { return }
        source.store(image, as: stored)
    }
}
