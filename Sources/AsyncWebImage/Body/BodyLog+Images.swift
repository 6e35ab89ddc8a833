import ResponseCache
import Threading

/// The error for a reader that wants an image which is stored decoded, so that the body need not be read.
struct ImageOffered: Error {
    let image: StoredImage
}

// Decoded images of a response cache, which readers take instead of the body.
extension BodyLog {
    /// The variant of the image that all readers want; `nil` if someone wants the body itself.
    var wantedImage: String? {
        state.withLock { state in
            guard state.end == nil, state.received == 0, state.bodyWaiters.isEmpty,
                let variant = state.readers.values.first?.variant
            else { return nil }
            return state.readers.values.allSatisfy { $0.variant == variant } ? variant : nil
        }
    }

    /// Sets the stored response that the body is of, and offers an image to the readers that want it.
    ///
    /// Returns whether the body must not be delivered until the transfer is resumed, because nobody wants it.
    func offer(_ image: StoredImage?, of source: StoredImageSource?) -> Bool {
        let (isHeld, waiting) = state.withLock { state in
            state.imageSource = source
            guard let image, state.received == 0, state.end == nil else {
                return (false, [CheckedContinuation<Void, Never>]())
            }
            state.image = image
            state.isPaused = state.isPaused || state.isHeld
            return (state.isHeld, state.takeWaiting())
        }
        for continuation in waiting { continuation.resume() }
        return isHeld
    }

    /// Notes that a reader has taken an image that was offered to it; returns `false` if the body is another one by
    /// now, or the image has turned out to be damaged.
    func takeImage(_ image: StoredImage, _ id: UInt64) -> Bool {
        let (isTaken, resumed) = state.withLock { state -> (Bool, (any Transfer)?) in
            guard state.image?.isSame(as: image) == true else { return (false, nil) }
            state.takenImage = state.image
            // Another one that joins later is offered it as well.
            state.readers[id] = nil
            state.dropRead()
            return (true, state.resumed())
        }
        resumed?.resume()
        return isTaken
    }

    /// Lets a reader read the body, because the offered image cannot be used.
    func declineImage(_ id: UInt64) {
        let resumed = state.withLock { state in
            state.readers[id]?.variant = nil
            state.image = nil
            return state.resumed()
        }
        resumed?.resume()
    }

    /// The stored response that the body is of, for an image of `variant` that was decoded from the body; `nil` if the
    /// image need not, or cannot, be stored.
    func imageSource(for variant: String) -> StoredImageSource? {
        state.withLock { $0.takenImage?.variant == variant ? nil : $0.imageSource }
    }

    /// The decoded image that was delivered instead of the body; `nil` if the body was delivered.
    var takenImage: StoredImage? { state.withLock { $0.received == 0 ? $0.takenImage : nil } }
}

extension BodyLog.State {
    /// A Boolean value that indicates whether nobody wants the body as long as the offered image can be used.
    var isHeld: Bool {
        guard let image, received == 0, bodyWaiters.isEmpty else { return false }
        return readers.values.allSatisfy { $0.variant == image.variant }
    }

    /// The offered image, if a reader wants it; `nil` for others.
    func image(for reader: BodyLog.Reader) -> StoredImage? {
        guard let image, reader.variant == image.variant, reader.read == 0 else { return nil }
        return image
    }
}
