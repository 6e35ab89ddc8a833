import Hashing
import Threading

/// A stored response, or one that is being stored, whose decoded images can be stored beside it.
package struct StoredImageSource: Sendable {
    /// The properties so far of a body that is being stored.
    private struct Arriving: Sendable {
        var length = 0
        var checksum = CRC32C()
    }

    private let cache: ResponseCache
    /// The name of the entry.
    private let name: String
    /// The properties of a stored body.
    private let facts: BodyFacts?
    private let arriving = Locked(Arriving())

    /// Creates the source of images of a stored response; returns `nil` if its body is no image.
    init?(_ stored: StoredResponse, in cache: ResponseCache) {
        guard !stored.head.isFailure else { return nil }
        (self.cache, name, facts) = (cache, stored.name, stored.body.facts)
    }

    /// Creates the source of images of a response that is being stored; returns `nil` if its body is no image.
    init?(arriving head: StoredHead, _ key: CacheKey, in cache: ResponseCache) {
        guard head.kind == .whole, !head.isFailure else { return nil }
        (self.cache, name, facts) = (cache, head.name(key), nil)
    }

    /// Notes the next piece of the body that is being stored.
    func note(_ piece: [UInt8]) {
        arriving.withLock { arriving in
            arriving.length += piece.count
            arriving.checksum.update(piece.span)
        }
    }

    /// Returns whether the images of a stored response are those of this body.
    private func matches(_ stored: StoredResponse) -> Bool {
        let found = stored.body.facts
        if let facts { return facts == found }
        return arriving.withLock { $0.length == found.length && $0.checksum == found.checksum }
    }

    /// Stores an image on the cache's threads, if the response is still stored then.
    ///
    /// `bytes` returns the bytes of the image, which takes about `byteCount` bytes of memory until then. If too many
    /// images wait, this one is not stored.
    package func store(
        _ variant: String, byteCount: Int, _ bytes: @escaping @Sendable () -> [UInt8]?
    ) {
        let waits = cache.waitingImageBytes.withLock { waiting in
            guard waiting == 0 || waiting + byteCount <= ResponseCache.maximumWaitingImageBytes else { return false }
            waiting += byteCount
            return true
        }
        guard waits else { return }
        cache.thread.append(to: .long) { [cache, name, self] in
            defer { cache.waitingImageBytes.withLock { $0 -= byteCount } }
            guard let stored = cache.open(name), matches(stored), let bytes = bytes() else { return }
            cache.storeImage(bytes, variant, of: stored)
        }
    }
}

extension StoredReply {
    /// Returns the source of images of the stored response.
    package func imageSource(in cache: ResponseCache) -> StoredImageSource? {
        StoredImageSource(stored, in: cache)
    }
}
