import Hashing
import Threading

// Decoded images beside the responses from which they were decoded; on the cache's threads.
extension ResponseCache {
    /// The maximum memory of images that wait to be stored, in bytes, unless a single one is larger.
    static let maximumWaitingImageBytes = 32 << 20
    /// The maximum number of images stored for one resource.
    static let maximumImages = 8

    /// Returns the image of a variant of a stored response, not read yet; `nil` if there is none.
    func image(_ variant: String, of source: StoredResponse) -> StoredImage? {
        guard let stored = open(StoredImage.name(variant, of: source.name)),
            StoredImage.matches(stored.head, variant, of: source)
        else { return nil }
        stored.body.markUsed()
        return StoredImage(variant: variant, sourceByteCount: source.body.length, stored: stored, cache: self)
    }

    /// Stores the image of a variant of a stored response, replacing an earlier one.
    func storeImage(_ bytes: [UInt8], _ variant: String, of source: StoredResponse) {
        let fields = StoredImage.fields(variant, of: source.name, source.body.facts)
        let head = StoredHead(ofImageFrom: source.head, fields: fields)
        let headByteCount = head.bytes.count
        let size = bytes.count + headByteCount
        guard !bytes.isEmpty, bytes.count <= configuration.maximumEntryBytes, size <= configuration.maximumBytes else {
            return
        }
        let name = StoredImage.name(variant, of: source.name)
        let facts = BodyFacts(
            identity: BodyFacts.newIdentity(), length: bytes.count, checksum: CRC32C(of: bytes.span))
        var room = EntryRoom(bytes.count)
        guard var writer = try? writing(bytes.count, &room, { try storage.writer(headByteCount: headByteCount) }) else {
            return
        }
        do {
            try writing(bytes.count, &room) { try writer.append(bytes) }
            try writing(headByteCount, &room) {
                try writer.commit(ResponseStorageHead(head, facts), as: ResponseStorageKey(name: name))
            }
        } catch {
            writer.discard()
            return
        }
        skipped.withLock { $0.remove(name) }
        // Removed in the meantime, maybe because all of it must be removed.
        if reopen(source) == nil { remove(name) }
        removeSurplusImages(ofResource: String(name.prefix(32)))
        enforceLimit(after: size)
    }

    private func removeSurplusImages(ofResource resource: String) {
        let keys = (try? storage.keys(ofResource: resource)) ?? []
        let names = keys.map(\.name).filter { EntryKind($0) == .image && StoredImage.isName($0) }
        for name in names.dropFirst(Self.maximumImages) { remove(name) }
    }

    /// Removes the images whose response has been removed or replaced.
    func removeImagesWithoutSource() async {
        for portion in 0..<storage.portionCount {
            await thread.run(to: .long) { [self] in
                for name in names(in: portion) where EntryKind(name) == .image {
                    guard let head = open(name)?.head else { continue }
                    let source = StoredImage.sourceName(head).flatMap { open($0) }
                    if source.map({ StoredImage.isDecoded(head, from: $0) }) != true { remove(name) }
                }
            }
        }
    }
}

extension CacheLookup {
    /// Returns the wanted image of a reply; `nil` if the body is wanted, or the image is not stored.
    func image(for reply: StoredReply) -> StoredImage? {
        guard reply.positions == nil, !reply.stored.head.isFailure, let variant = wantedImage?() else { return nil }
        return cache.image(variant, of: reply.stored)
    }

    /// Returns a reply whose stored head has been updated, with the wanted image, or its short body; `nil` if that is
    /// damaged.
    func renewed(_ reply: StoredReply, _ renewal: StoredHead) -> StoredReply? {
        var reply = reply
        reply.stored = cache.renew(reply.stored, renewal, key)
        reply.image = image(for: reply)
        if reply.image == nil {
            guard let loaded = try? cache.load(reply.stored) else { return nil }
            reply.stored = loaded
        }
        return reply
    }
}
